// SPDX-License-Identifier: MIT

import WebImageCore

/// A check that an embedded thumbnail shows the same part of the scene as its image.
///
/// The thumbnails of many cameras have a fixed size of 160 × 120 pixels, with black bars if the image has another aspect
/// ratio. Thumbnails that editors forgot to update after a crop have another aspect ratio without bars.
enum ThumbnailFit {
    /// The minimum length of the longer side, in pixels.
    private static let minSide = 16
    /// The maximum value of a sample in a bar, which leaves room for JPEG noise.
    private static let maxBarSample = 40
    /// The maximum total width of the bars, as a fraction of the side.
    private static let maxBars = 0.6

    /// Returns the part of a thumbnail that shows the whole image, or `nil` if the thumbnail isn't plausible. The
    /// thumbnail has 8 bits per sample and the orientation of the image. The aspect ratios may differ by one pixel of
    /// the thumbnail, or by 1/64 of its side. If they differ more, the excess must consist of black bars on two
    /// opposite sides, which the result excludes.
    static func content(of thumbnail: PixelBuffer, imageSize: PixelSize) -> SampleRect? {
        let size = thumbnail.size
        guard thumbnail.format == .rgba8, max(size.width, size.height) >= minSide, size.width <= imageSize.width,
            size.height <= imageSize.height
        else { return nil }
        let aspect = Double(imageSize.width) / Double(imageSize.height)
        let excessRows = Double(size.height) - Double(size.width) / aspect
        let excessColumns = Double(size.width) - Double(size.height) * aspect
        // If one value is positive, the other is negative.
        if max(excessRows, excessColumns) <= max(1, Double(max(size.width, size.height)) / 64) {
            return SampleRect(size)
        }
        return excessRows > 0
            ? content(of: thumbnail, excess: excessRows, isVertical: true)
            : content(of: thumbnail, excess: excessColumns, isVertical: false)
    }

    private static func content(of thumbnail: PixelBuffer, excess: Double, isVertical: Bool) -> SampleRect? {
        let length = isVertical ? thumbnail.height : thumbnail.width
        guard excess <= Double(length) * maxBars else { return nil }
        let bar = excess / 2
        // The outermost pixels belong to the bars even if the camera rounded their width, and compression doesn't blur
        // them.
        let dark = max(1, Int(bar - 1.5))
        for index in 0..<dark {
            guard isDark(thumbnail, index, isVertical), isDark(thumbnail, length - 1 - index, isVertical) else {
                return nil
            }
        }
        // Exclude one more pixel, because chroma subsampling and JPEG blocks blur the edge of the bar.
        let start = min(bar + 1, Double(length) / 2 - 0.5)
        let rest = Double(length) - 2 * start
        return isVertical
            ? SampleRect(x: 0, y: start, width: Double(thumbnail.width), height: rest)
            : SampleRect(x: start, y: 0, width: rest, height: Double(thumbnail.height))
    }

    private static func isDark(_ pixels: PixelBuffer, _ index: Int, _ isVertical: Bool) -> Bool {
        pixels.withUnsafeBytes { bytes in
            let count = isVertical ? pixels.width : pixels.height
            let step = isVertical ? 4 : pixels.bytesPerRow
            let start = isVertical ? index * pixels.bytesPerRow : index * 4
            return (0..<count).allSatisfy { place in
                let pixel = start + place * step
                return Int(max(bytes[pixel], bytes[pixel + 1], bytes[pixel + 2])) <= maxBarSample
            }
        }
    }
}
