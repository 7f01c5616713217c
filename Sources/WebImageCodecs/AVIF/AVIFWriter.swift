// SPDX-License-Identifier: MIT

#if AVIF
    import CAVIF
    import Foundation
    import WebImageCore

    /// Encodes pixels through libavif.
    enum AVIFWriter {
        static let maxSide = 32_768

        /// - Parameter depth: bits per sample, 8 or 10.
        static func encode(_ pixels: PixelBuffer, as encoding: ImageEncoding, depth: Int, context: CodingContext)
            throws(ImageError) -> Data
        {
            try requireEncodable(pixels, as: .avif, maxSide: maxSide)
            let options = try options(encoding, depth: depth)
            try context.checkpoint()
            var bytes: UnsafeMutablePointer<UInt8>?
            var count = 0
            var message: UnsafePointer<CChar>?
            let status = wi_avif_encode(
                StraightAlpha.rows(of: pixels, from: 0, count: pixels.height), pixels.width * 4, UInt32(pixels.width),
                UInt32(pixels.height), pixels.isOpaque ? 1 : 0, options, &bytes, &count, &message)
            guard status == WI_AVIF_OK, let bytes else {
                let reason = message.map { String(cString: $0) } ?? "libavif refused"
                throw .transform(.encodingFailed(format: .avif, reason: reason))
            }
            defer { wi_avif_free(bytes) }
            try context.checkpoint()
            return Data(bytes: bytes, count: count)
        }

        static func options(_ encoding: ImageEncoding, depth: Int) throws(ImageError) -> wi_avif_options {
            let effort = try encoding.checkedEffort()
            let quality = encoding.quality ?? 70
            return wi_avif_options(
                depth: Int32(encoding.isLossless ? 8 : depth), is_lossless: encoding.isLossless ? 1 : 0,
                quality: Int32(quality), speed: Int32(effort.map { 10 - $0 } ?? 6),
                subsamples_chroma: quality < 90 ? 1 : 0)
        }
    }
#endif
