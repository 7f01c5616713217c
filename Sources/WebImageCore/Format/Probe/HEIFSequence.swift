// SPDX-License-Identifier: MIT

import Foundation

/// The samples of a HEIC image sequence that can be decoded without other samples.
///
/// The `pict` track of a sequence contains HEVC samples (ISO/IEC 14496-12, section 8.6; ISO/IEC 14496-15, section 8).
/// The sync samples in `stss` refer to no other samples. If the box is missing, every sample is a sync sample.
package struct HEIFSequence: Sendable {
    /// A sample and the time during which it's visible, until the next sync sample.
    package struct Sample: Sendable, Hashable {
        /// The position of the sample, which is within the data.
        package var range: Range<Int>
        /// The duration in milliseconds.
        package var milliseconds: Int
    }

    /// The stored width and height.
    package let size: PixelSize
    /// The sync samples. There's at least one.
    package private(set) var samples: [Sample] = []
    /// The content of the `hvcC` box, with the parameter sets of the decoder.
    package let configuration: Data
    /// The content of the `colr` box, or `nil` if there's none.
    package let color: Data?

    /// Reads the sample tables of a whole file.
    ///
    /// - Parameter maxFrames: The maximum number of sync samples.
    /// - Throws: An ``ImageError/DecodingFailure`` or an ``ImageError/LimitFailure``.
    package init(_ data: Data, maxFrames: Int) throws(ImageError) {
        let result: Result<HEIFSequence, ImageError> = data.withUnsafeBytes { raw in
            do throws(HeaderParsingError) {
                return .success(try HEIFSequence(HeaderBytes(raw, isComplete: true), maxFrames: maxFrames))
            } catch {
                return .failure(error.imageError(.heif, received: raw.count))
            }
        }
        self = try result.get()
    }

    private init(_ bytes: HeaderBytes, maxFrames: Int) throws(HeaderParsingError) {
        guard let moov = try BoxList.first("moov", in: bytes), let media = try HEIFTrack.media(moov),
            let minf = try BoxList.first("minf", in: media), let table = try BoxList.first("stbl", in: minf),
            let stsd = try BoxList.first("stsd", in: table)
        else { throw .corrupt(.heif, "the image track is missing") }
        // The entry of HEVC begins with the 78 bytes of every visual sample entry.
        let entry = try stsd.part(at: 16, length: try stsd.big32(at: 8) - 8)
        size = PixelSize(width: try stsd.big16(at: 40), height: try stsd.big16(at: 42))
        guard !size.isEmpty, HEIFTrack.hevc.contains(try FourCC(stsd, at: 12)),
            let hvcC = try BoxList.first("hvcC", in: entry, from: 78)
        else { throw .unsupported(.heif, "an image sequence with another encoding than HEVC") }
        // libheif reads the sizes of NAL units as 32-bit numbers.
        guard try hvcC.byte(at: 21) & 3 == 3 else { throw .unsupported(.heif, "NAL units with short lengths") }
        configuration = try Self.data(hvcC)
        color = try BoxList.first("colr", in: entry, from: 78).map { (box) throws(HeaderParsingError) in
            try Self.data(box)
        }
        let times = try HEIFSampleTable(table, media: media, available: bytes.available)
        samples = times.syncSamples
        guard samples.count <= maxFrames else {
            throw .failed(
                .limitExceeded(ImageError.LimitFailure(.frameCount, limit: maxFrames, actual: samples.count)))
        }
    }

    /// Returns the durations of the samples of the first `pict` track of a whole file, in milliseconds.
    ///
    /// - Parameter count: The expected number of samples.
    /// - Returns: The durations, or `nil` if the file has no valid track with this number of samples.
    package static func durations(_ file: UnsafeRawBufferPointer, count: Int) -> [Double]? {
        do throws(HeaderParsingError) {
            let bytes = HeaderBytes(file, isComplete: true)
            guard let moov = try BoxList.first("moov", in: bytes), let media = try HEIFTrack.media(moov),
                let minf = try BoxList.first("minf", in: media), let table = try BoxList.first("stbl", in: minf)
            else { return nil }
            let sizes = try BoxList.first("stsz", in: table)
            let compact = try BoxList.first("stz2", in: table)
            guard let sizes = sizes ?? compact, try sizes.big32(at: 8) == count else { return nil }
            return try HEIFSampleTable.durations(table, media: media, count: count)
        } catch {
            return nil
        }
    }

    private static func data(_ box: HeaderBytes) throws(HeaderParsingError) -> Data {
        let count = box.declaredLength ?? box.available
        try HeaderParsingError.check(count, limit: HeaderBounds.iccBytes, "bytes of a sample description")
        return try box.withBytes(count, at: 0) { Data($0) }
    }
}
