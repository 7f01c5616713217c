// SPDX-License-Identifier: MIT

#if TIFF
    import CTIFF
    import Foundation
    import WebImageCore

    /// Encodes pixels through libtiff.
    enum TIFFWriter {
        static let maxSide = 1 << 30

        static func encode(
            _ pixels: PixelBuffer, as encoding: ImageEncoding, compression: TIFFCoder.Compression,
            context: CodingContext
        ) throws(ImageError) -> Data {
            try requireEncodable(pixels, as: .tiff, maxSide: maxSide)
            let effort = try encoding.checkedEffort() ?? -1
            try context.checkpoint()
            let channels = pixels.isOpaque ? 3 : 4
            let kind: Int32 =
                switch compression {
                case .none: 0
                case .lzw: 1
                case .deflate: 2
                }
            var bytes: UnsafeMutablePointer<UInt8>?
            var count = 0
            let status = wi_tiff_encode(
                StraightAlpha.packed(pixels, channels: channels), UInt32(pixels.width), UInt32(pixels.height),
                UInt32(channels), kind, Int32(effort), &bytes, &count)
            guard status == WI_TIFF_OK, let bytes else {
                throw .transform(.encodingFailed(format: .tiff, reason: "libtiff refused (\(status.rawValue))"))
            }
            defer { free(bytes) }
            return Data(bytes: bytes, count: count)
        }
    }
#endif
