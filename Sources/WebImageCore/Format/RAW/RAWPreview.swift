// SPDX-License-Identifier: MIT

import Foundation

/// The largest JPEG image in a camera RAW file that libjpeg can decode.
package struct RAWPreview: Sendable, Hashable {
    /// The position of the JPEG file, which may end after the available data.
    package let range: Range<Int>
    /// The header of the JPEG file, with the orientation of the RAW file.
    package let image: ImageInfo

    /// Finds the preview in a whole file.
    ///
    /// - Throws: An ``ImageError/DecodingFailure``, or an ``ImageError/LimitFailure`` of kind `metadataSize`.
    package init(_ data: Data, format: ImageFormat) throws(ImageError) {
        let result: Result<RAWPreview, ImageError> = data.withUnsafeBytes { raw in
            do throws(HeaderParsingError) {
                return .success(try RAWPreview(HeaderBytes(raw, isComplete: true), format: format))
            } catch {
                return .failure(error.imageError(format, received: raw.count))
            }
        }
        self = try result.get()
    }

    init(_ bytes: HeaderBytes, format: ImageFormat) throws(HeaderParsingError) {
        let found =
            format == .cr3 ? try CR3Previews.read(bytes) : try TIFFPreviews.read(bytes, format: format)
        var best: (range: Range<Int>, image: ImageInfo)?
        for range in found.ranges {
            guard let image = try Self.image(bytes, range) else { continue }
            if image.storedSize.area ?? 0 > best?.image.storedSize.area ?? 0 { best = (range, image) }
        }
        guard var best else { throw .unsupported(format, "a file without a JPEG preview") }
        if let orientation = found.orientation { best.image.orientation = orientation }
        range = best.range
        image = best.image
    }

    /// Returns the header of a RAW file, which has the properties of its preview.
    func info(_ format: ImageFormat) -> ImageInfo {
        var info = image
        info.format = format
        return info
    }

    /// Returns the header of a JPEG file, or `nil` if it isn't valid or if it's the lossless encoding of sensor data.
    private static func image(_ bytes: HeaderBytes, _ range: Range<Int>) throws(HeaderParsingError) -> ImageInfo? {
        do throws(HeaderParsingError) {
            return try JPEGProbe.embedded(try bytes.part(at: range.lowerBound, length: range.count))
        } catch {
            if case .needsMore = error, !bytes.isComplete { throw error }
            return nil
        }
    }
}

/// The possible previews of a RAW file and the orientation of the file.
struct RAWPreviewList {
    private(set) var ranges: [Range<Int>] = []
    /// The orientation, or `nil` if the file declares none.
    var orientation: ImageOrientation?

    /// Adds the position of a preview. Invalid positions are ignored.
    mutating func add(offset: Int, count: Int) throws(HeaderParsingError) {
        let (end, overflow) = offset.addingReportingOverflow(count)
        guard !overflow, offset > 0, count > 4, !ranges.contains(offset..<end) else { return }
        ranges.append(offset..<end)
        try HeaderParsingError.check(ranges.count, limit: HeaderBounds.rawPreviews, "previews in a RAW file")
    }
}
