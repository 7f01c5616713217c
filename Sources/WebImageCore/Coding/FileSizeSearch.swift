// SPDX-License-Identifier: MIT

import Foundation

/// A search for the best encoded file that doesn't exceed a size limit, with at most five encodes.
///
/// A ``LadderSearch`` selects the encodings. The result is the best file that fits.
enum FileSizeSearch {
    /// Runs the search and returns the encoded file.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` of the kind ``ImageError/LimitFailure/Kind/encodedSize``, or an error
    ///   of the encoder.
    static func run(
        _ image: DecodedImage, as encoding: ImageEncoding, coder: any ImageCoder, limit: Int,
        context: ImageProcessingContext
    ) throws(ImageError) -> Data {
        try context.checkCancellation()
        let requested = try coder.encode(image, as: encoding, context: context)
        if requested.count <= limit { return requested }
        let ladder = EncodingLadder(for: encoding, size: image.size)
        var search = LadderSearch(
            ladder, limit: limit, headers: EncodedSizeModel.headerByteCount(of: encoding.formatOrAutomatic),
            metadata: EmbeddedMetadata(for: image, as: encoding).byteCount)
        _ = search.add(index: ladder.count - 1, byteCount: requested.count)
        var best: Data?
        while let index = search.next() {
            try context.checkCancellation()
            let rung = ladder.rung(index)
            let reduced = if let side = rung.side { try image.limited(to: side, context) } else { image }
            let data = try coder.encode(reduced, as: rung.encoding, context: context)
            if search.add(index: index, byteCount: data.count) { best = data }
        }
        if let best { return best }
        let detail = "\(ImageError.LimitFailure.smallestEncoding) \(encoding.formatOrAutomatic)"
        throw .limitExceeded(
            ImageError.LimitFailure(.encodedSize, limit: limit, actual: search.smallestByteCount, detail: detail))
    }
}
