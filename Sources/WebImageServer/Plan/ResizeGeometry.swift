// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// The sizes of the steps of a resize, by the rules of imgproxy.
///
/// The source of these rules is imgproxy's documentation of its processing options. All results are at least one pixel.
package struct ResizeGeometry: Sendable, Hashable {
    /// The size to which the whole image is scaled.
    package var scaled: PixelSize
    /// The size to which the scaled image is cropped.
    package var cropped: PixelSize
    /// The size to which the cropped image is extended.
    package var extended: PixelSize
    /// The number of pixels per unit of offsets and paddings. It's less than the requested one if the image is too small.
    package var pixelRatio: Double

    /// Computes the sizes for an image, which has already been trimmed, rotated, and cropped.
    package init(of source: PixelSize, _ options: ProcessingOptions) {
        let (width, height) = (Double(source.width), Double(source.height))
        var (shrinkX, shrinkY) = Self.shrink(width, height, options)
        pixelRatio = options.dpr
        if !options.enlarges {
            let least = min(shrinkX, shrinkY)
            if least < 1 {
                shrinkX /= least
                shrinkY /= least
            }
            pixelRatio = min(pixelRatio, min(shrinkX, shrinkY))
        }
        let minimums = [
            options.minWidth > 0 ? width / Double(options.minWidth) / shrinkX : 1,
            options.minHeight > 0 ? height / Double(options.minHeight) / shrinkY : 1,
        ]
        if let factor = minimums.min(), factor < 1 {
            shrinkX *= factor
            shrinkY *= factor
        }
        let whole = (width: width / shrinkX * pixelRatio, height: height / shrinkY * pixelRatio)
        let ratio = pixelRatio
        (scaled, cropped, extended) = Self.sizes(whole, options, ratio, 1)
        // The borders are rounded, so one step can exceed the limit by a few pixels.
        var factor = 1.0
        for _ in 0..<8 {
            let largest = max(finalSize(options).width, finalSize(options).height)
            guard options.maxResultDimension > 0, largest > options.maxResultDimension else { break }
            factor *= Double(options.maxResultDimension) / Double(largest)
            pixelRatio = ratio * factor
            (scaled, cropped, extended) = Self.sizes(whole, options, ratio, factor)
        }
    }

    private static func sizes(
        _ whole: (width: Double, height: Double), _ options: ProcessingOptions, _ ratio: Double, _ factor: Double
    ) -> (PixelSize, PixelSize, PixelSize) {
        let scaled = size(whole.width * factor, whole.height * factor)
        let cropped = cropped(scaled, options, ratio * factor)
        return (scaled, cropped, extended(cropped, options, factor))
    }

    /// The padding around the result in pixels: top, right, bottom, and left.
    package func padding(_ options: ProcessingOptions) -> [Int] {
        [options.paddingTop, options.paddingRight, options.paddingBottom, options.paddingLeft].map {
            Int((Double($0) * pixelRatio).rounded())
        }
    }

    /// The size of the result with its padding.
    private func finalSize(_ options: ProcessingOptions) -> PixelSize {
        let padding = padding(options)
        return PixelSize(
            width: extended.width + padding[1] + padding[3], height: extended.height + padding[0] + padding[2])
    }

    private static func size(_ width: Double, _ height: Double) -> PixelSize {
        PixelSize(width: side(width), height: side(height))
    }

    private static func side(_ length: Double) -> Int { Int(min(max(1, length.rounded()), 1e9)) }

    private static func shrink(
        _ width: Double, _ height: Double, _ options: ProcessingOptions
    ) -> (x: Double, y: Double) {
        let targetWidth = options.width > 0 ? Double(options.width) : width
        let targetHeight = options.height > 0 ? Double(options.height) : height
        var (x, y) = (width / targetWidth, height / targetHeight)
        var type = options.resizingType
        if type == .auto {
            // The same orientation, where squares count as landscape.
            type = (width >= height) == (targetWidth >= targetHeight) ? .fill : .fit
        }
        if type != .force {
            if options.width == 0 {
                x = y
            } else if options.height == 0 {
                y = x
            } else {
                x = type == .fit ? max(x, y) : min(x, y)
                y = x
            }
        }
        return (x / options.zoomX, y / options.zoomY)
    }

    private static func cropped(_ size: PixelSize, _ options: ProcessingOptions, _ ratio: Double) -> PixelSize {
        guard options.width > 0 || options.height > 0 else { return size }
        let wantedWidth = options.width > 0 ? Double(options.width) * options.zoomX * ratio : Double(size.width)
        let wantedHeight = options.height > 0 ? Double(options.height) * options.zoomY * ratio : Double(size.height)
        // An enlarged minimum may exceed the box.
        var (width, height) = (min(Double(size.width), wantedWidth), min(Double(size.height), wantedHeight))
        if options.resizingType == .fillDown, !options.enlarges {
            let missing = max(wantedWidth / Double(size.width), wantedHeight / Double(size.height))
            if missing > 1 {
                width = min(Double(size.width), wantedWidth / missing)
                height = min(Double(size.height), wantedHeight / missing)
            }
        }
        return self.size(width, height)
    }

    private static func extended(_ size: PixelSize, _ options: ProcessingOptions, _ factor: Double) -> PixelSize {
        var result = size
        if options.extend.isEnabled {
            let ratio = options.dpr * factor
            let wanted = self.size(
                Double(options.width) * options.zoomX * ratio, Double(options.height) * options.zoomY * ratio)
            if options.width > 0 { result.width = max(result.width, wanted.width) }
            if options.height > 0 { result.height = max(result.height, wanted.height) }
        }
        if options.extendAspectRatio.isEnabled, options.width > 0, options.height > 0 {
            let aspect = Double(options.width) / Double(options.height)
            let (width, height) = (Double(result.width), Double(result.height))
            result = width < height * aspect ? self.size(height * aspect, height) : self.size(width, width / aspect)
        }
        return result
    }
}

extension ProcessingOptions.Gravity {
    /// Returns the position of a smaller box inside a larger one, or zero for a side that is larger. A smart gravity
    /// counts as the center. `pixelRatio` is the number of pixels per unit of the offsets.
    package func origin(of inner: PixelSize, in outer: PixelSize, pixelRatio: Double) -> (x: Int, y: Int) {
        guard case .point(let x, let y) = kind else {
            return ProcessingOptions.Gravity.center.origin(of: inner, in: outer, pixelRatio: pixelRatio)
        }
        return (
            Self.position(x, offsetX * signX, inner.width, outer.width, pixelRatio, isFocus: isFocus),
            Self.position(y, offsetY * signY, inner.height, outer.height, pixelRatio, isFocus: isFocus)
        )
    }

    /// Returns the position of a watermark, which can be partly outside of the image.
    func position(of inner: PixelSize, in outer: PixelSize, pixelRatio: Double) -> (x: Int, y: Int) {
        guard case .point(let x, let y) = kind else { return (0, 0) }
        let place = { (point: Double, offset: Double, inner: Int, outer: Int) -> Int in
            let shift = abs(offset) < 1 ? offset * Double(outer) : offset * pixelRatio
            return Int((point * Double(outer - inner) + shift).rounded())
        }
        return (
            place(x, offsetX * signX, inner.width, outer.width), place(y, offsetY * signY, inner.height, outer.height)
        )
    }

    /// Returns an offset in pixels, at least zero.
    func distance(_ offset: Double, _ whole: Int, _ pixelRatio: Double) -> Int {
        Int(max(0, abs(offset) < 1 ? offset * Double(whole) : offset * pixelRatio).rounded())
    }

    private static func position(
        _ point: Double, _ offset: Double, _ inner: Int, _ outer: Int, _ pixelRatio: Double, isFocus: Bool
    ) -> Int {
        let room = Double(outer - inner)
        let shift = abs(offset) < 1 ? offset * Double(outer) : offset * pixelRatio
        let start = isFocus ? point * Double(outer) - Double(inner) / 2 : point * room
        return Int(max(0, min((start + shift).rounded(), max(0, room))))
    }
}
