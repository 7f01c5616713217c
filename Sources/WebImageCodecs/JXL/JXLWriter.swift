// SPDX-License-Identifier: MIT

#if JXL
    import CJXL
    import Foundation
    import WebImageCore

    /// Encodes pixels through libjxl.
    enum JXLWriter {
        static let maxSide = 1 << 30

        static func encode(_ pixels: PixelBuffer, as encoding: ImageEncoding, context: CodingContext)
            throws(ImageError) -> Data
        {
            try requireEncodable(pixels, as: .jxl, maxSide: maxSide)
            let options = try options(encoding)
            try context.checkpoint()
            let channels = pixels.isOpaque ? 3 : 4
            var bytes: UnsafeMutablePointer<UInt8>?
            var count = 0
            let status = wi_jxl_encode(
                StraightAlpha.packed(pixels, channels: channels), UInt32(pixels.width), UInt32(pixels.height),
                UInt32(channels),
                options.distance, options.effort, &bytes, &count)
            guard status == WI_JXL_OK, let bytes else {
                throw .transform(.encodingFailed(format: .jxl, reason: "libjxl refused (\(status.rawValue))"))
            }
            defer { free(bytes) }
            try context.checkpoint()
            return Data(bytes: bytes, count: count)
        }

        /// Distance 0 is lossless, effort 0 the library's default.
        static func options(_ encoding: ImageEncoding) throws(ImageError) -> (distance: Float, effort: Int32) {
            let effort = try encoding.checkedEffort().map { max(1, $0) } ?? 0
            return (encoding.isLossless ? 0 : distance(quality: encoding.quality ?? 90), Int32(effort))
        }

        /// The mapping of libjxl's command line tool.
        private static func distance(quality: Int) -> Float {
            let quality = Float(quality)
            if quality >= 100 { return 0 }
            if quality >= 30 { return 0.1 + (100 - quality) * 0.09 }
            return 53 / 3_000 * quality * quality - 23 / 20 * quality + 25
        }
    }
#endif
