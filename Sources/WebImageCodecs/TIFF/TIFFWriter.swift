// SPDX-License-Identifier: MIT

#if TIFF
    import CTIFF
    import Foundation
    import WebImageCore

    /// An encoder for TIFF images, based on libtiff.
    enum TIFFWriter {
        static let maxDimension = 1 << 30

        static func encode(
            _ image: DecodedImage, as encoding: ImageEncoding, compression: TIFFCoder.Compression,
            context: ImageProcessingContext
        ) throws(ImageError) -> Data {
            let pixels = image.pixels
            try requireEncodable(pixels, as: .tiff, maxDimension: maxDimension)
            let effort = try encoding.checkedEffort() ?? -1
            try context.checkCancellation()
            let kind: Int32 =
                switch compression {
                case .none: 0
                case .lzw: 1
                case .deflate: 2
                }
            let channels = pixels.isOpaque ? 3 : 4
            var layout = wi_tiff_picture(
                width: UInt32(pixels.width), height: UInt32(pixels.height), channels: UInt32(channels),
                bits: UInt32(pixels.format.layout.bitsPerSample), compression: kind, level: Int32(effort))
            try CodecLibraries.load(.tiff, toEncode: true, with: wi_tiff_load)
            var bytes: UnsafeMutablePointer<UInt8>?
            var count = 0
            let status = EmbeddedMetadata(checked: image, as: encoding).withBytes { icc, _, xmp in
                let write = { (samples: UnsafeRawPointer) in
                    wi_tiff_encode(
                        samples, &layout, icc.baseAddress, icc.count, xmp.baseAddress, xmp.count, &bytes, &count)
                }
                return write(AlphaUnpremultiplier.packed(pixels, channels: channels))
            }
            guard status == WI_TIFF_OK, let bytes else {
                throw .processing(.encodingFailed(format: .tiff, reason: "libtiff failed (status \(status.rawValue))"))
            }
            defer { free(bytes) }
            return Data(bytes: bytes, count: count)
        }
    }
#endif
