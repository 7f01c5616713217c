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

    private init(_ bytes: HeaderBytes, format: ImageFormat) throws(HeaderParsingError) {
        guard let preview = try Self.find(bytes, format: format) else { throw Self.missing(format) }
        self = preview
    }

    private init(range: Range<Int>, image: ImageInfo) {
        self.range = range
        self.image = image
    }

    /// Returns the header of a RAW file, which has the properties of its preview.
    ///
    /// If the file has no preview but the structure of TIFF, the result has the properties of its first directory. The
    /// TIFF coder decodes some of these files, such as DNG files with an uncompressed thumbnail.
    static func header(_ bytes: HeaderBytes, format: ImageFormat) throws(HeaderParsingError) -> ImageInfo {
        if let preview = try find(bytes, format: format) { return preview.info(format) }
        guard format.isTIFFBasedRAW else { throw missing(format) }
        do throws(HeaderParsingError) {
            var info = try TIFFProbe.read(bytes)
            info.format = format
            // The JPEG coder doesn't decode this file.
            info.rowsPerUnit = info.rowsPerUnit ?? .max
            return info
        } catch {
            if case .needsMore = error, !bytes.isComplete { throw error }
            throw missing(format)
        }
    }

    /// Returns the largest preview, or `nil` if there's none.
    private static func find(_ bytes: HeaderBytes, format: ImageFormat) throws(HeaderParsingError) -> RAWPreview? {
        let found =
            switch format {
            case .cr3: try CR3Previews.read(bytes)
            case .raf: try RAFPreviews.read(bytes)
            default: try TIFFPreviews.read(bytes, format: format)
            }
        // Previews may overlap, so limit the work for all of them together.
        var work = JPEGSegments.Work(maxSegments: HeaderBounds.rawSegments)
        var best: (range: Range<Int>, image: ImageInfo)?
        for range in found.ranges {
            guard let image = try image(bytes, range, &work) else { continue }
            if image.storedSize.area ?? 0 > best?.image.storedSize.area ?? 0 { best = (range, image) }
        }
        guard var best else { return nil }
        if let orientation = found.orientation { best.image.orientation = orientation }
        return RAWPreview(range: best.range, image: best.image)
    }

    private static func missing(_ format: ImageFormat) -> HeaderParsingError {
        .unsupported(format, "a file without a JPEG preview")
    }

    private func info(_ format: ImageFormat) -> ImageInfo {
        var info = image
        info.format = format
        return info
    }

    /// Returns the header of a JPEG file, or `nil` if it isn't valid or if it's the lossless encoding of sensor data.
    private static func image(
        _ bytes: HeaderBytes, _ range: Range<Int>, _ work: inout JPEGSegments.Work
    ) throws(HeaderParsingError) -> ImageInfo? {
        do throws(HeaderParsingError) {
            return try JPEGProbe.embedded(try bytes.part(at: range.lowerBound, length: range.count), work: &work)
        } catch {
            if case .needsMore = error, !bytes.isComplete { throw error }
            if case .failed(.limitExceeded) = error { throw error }
            return nil
        }
    }
}

/// The possible previews of a RAW file and the orientation of the file.
struct RAWPreviewList {
    private(set) var ranges: [Range<Int>] = []
    /// The orientation, or `nil` if the file declares none.
    var orientation: ImageOrientation?

    /// Adds the position of a preview, which is `offset` bytes after `base` and has `count` bytes. Invalid positions
    /// are ignored.
    mutating func add(offset: Int, from base: Int = 0, count: Int) throws(HeaderParsingError) {
        let (start, isOutside) = base.addingReportingOverflow(offset)
        let (end, overflow) = start.addingReportingOverflow(count)
        guard !isOutside, !overflow, start > 0, count > 4, !ranges.contains(start..<end) else { return }
        ranges.append(start..<end)
        try HeaderParsingError.check(ranges.count, limit: HeaderBounds.rawPreviews, "previews in a RAW file")
    }
}
