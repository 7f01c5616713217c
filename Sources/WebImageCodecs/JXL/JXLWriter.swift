// SPDX-License-Identifier: MIT

#if JXL
    import CJXL
    import Foundation
    import WebImageCore

    /// An encoder for JPEG XL images, based on libjxl.
    enum JXLWriter {
        static let maxDimension = 1 << 30

        static func encode(_ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
            throws(ImageError) -> Data
        {
            let pixels = image.pixels
            try requireEncodable(pixels, as: .jxl, maxDimension: maxDimension)
            let options = try options(encoding)
            try context.checkCancellation()
            let channels = pixels.isOpaque ? 3 : 4
            var picture = wi_jxl_picture(
                width: UInt32(pixels.width), height: UInt32(pixels.height), channels: UInt32(channels),
                bits: UInt32(pixels.format.layout.bitsPerSample), keeps_space: 0)
            try CodecLibraries.load(.jxl, toEncode: true, with: wi_jxl_load)
            var bytes: UnsafeMutablePointer<UInt8>?
            var count = 0
            let embedded = EmbeddedMetadata(checked: image, as: encoding, allowsFloatTables: false)
            if !encoding.isLossless, let space = colorSpace(of: embedded), XYBRange(space)?.excludes(pixels) ?? false {
                picture.keeps_space = 1
            }
            let status = withBlocks(embedded) { blocks in
                let write = { (samples: UnsafeRawPointer) in
                    wi_jxl_encode(
                        samples, &picture, blocks, options.distance, options.effort, encoding.isProgressive ? 1 : 0,
                        &bytes, &count)
                }
                return write(AlphaUnpremultiplier.packed(pixels, channels: channels))
            }
            guard status == WI_JXL_OK, let bytes else {
                throw .processing(.encodingFailed(format: .jxl, reason: "libjxl failed (status \(status.rawValue))"))
            }
            defer { free(bytes) }
            try context.checkCancellation()
            return Data(bytes: bytes, count: count)
        }

        /// Converts a JPEG file to JPEG XL, from which it can be reconstructed bit for bit. Returns `nil` if libjxl
        /// can't convert the file.
        static func transcode(_ jpeg: Data, as encoding: ImageEncoding, context: ImageProcessingContext)
            throws(ImageError) -> Data?
        {
            let effort = try options(encoding).effort
            try context.checkCancellation()
            try CodecLibraries.load(.jxl, toEncode: true, with: wi_jxl_load)
            return try jpeg.withBytes { (jpeg) throws(ImageError) in
                var bytes: UnsafeMutablePointer<UInt8>?
                var count = 0
                guard wi_jxl_transcode(jpeg.baseAddress, jpeg.count, effort, &bytes, &count) == WI_JXL_OK, let bytes
                else { return nil }
                defer { free(bytes) }
                try context.checkCancellation()
                return Data(bytes: bytes, count: count)
            }
        }

        static func withBlocks<Result>(
            _ metadata: EmbeddedMetadata, _ body: (UnsafePointer<wi_jxl_blocks>) -> Result
        ) -> Result {
            metadata.withBytes { icc, exif, xmp in
                var blocks = wi_jxl_blocks(
                    icc: icc.baseAddress, icc_count: icc.count, exif: exif.baseAddress, exif_count: exif.count,
                    xmp: xmp.baseAddress, xmp_count: xmp.count, colors: nil)
                // libjxl restores the color space of a lossy file only from an encoding, not from a profile.
                guard var colors = colorSpace(of: metadata).map(colors) else { return body(&blocks) }
                return withUnsafePointer(to: &colors) {
                    blocks.colors = $0
                    return body(&blocks)
                }
            }
        }

        private static func colorSpace(of metadata: EmbeddedMetadata) -> StandardColorSpace? {
            StandardColorSpace(metadata.codePoints)
                ?? metadata.iccProfile.flatMap { StandardColorSpace(matching: $0) }
        }

        private static func colors(_ space: StandardColorSpace) -> wi_jxl_colors {
            let (red, green, blue, white) = (
                space.primaries.red, space.primaries.green, space.primaries.blue, space.primaries.white
            )
            let (transfer, gamma) = space.transfer.codePointOrGamma
            return wi_jxl_colors(
                chromaticities: (red.x, red.y, green.x, green.y, blue.x, blue.y, white.x, white.y),
                transfer: Int32(transfer), gamma: gamma)
        }

        /// Returns the distance and the effort for an encoding. Distance 0 is lossless, and effort 0 is the default of
        /// libjxl.
        static func options(_ encoding: ImageEncoding) throws(ImageError) -> (distance: Float, effort: Int32) {
            let effort = try encoding.checkedEffort().map { max(1, $0) } ?? 0
            return (encoding.isLossless ? 0 : distance(quality: encoding.quality ?? 90), Int32(effort))
        }

        /// Returns the distance for a quality, with the formula of libjxl's command-line tool.
        private static func distance(quality: Int) -> Float {
            let quality = Float(quality)
            if quality >= 100 { return 0 }
            if quality >= 30 { return 0.1 + (100 - quality) * 0.09 }
            return 53 / 3_000 * quality * quality - 23 / 20 * quality + 25
        }
    }
#endif
