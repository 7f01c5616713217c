// SPDX-License-Identifier: MIT

#if AVIF
    import CAVIF
    import Foundation
    import WebImageCore

    /// An encoder for AVIF images, based on libavif.
    enum AVIFWriter {
        static let maxDimension = 32_768

        /// Encodes a still image with 8, 10, or 12 bits per sample. Pixels with 16 bits per sample, PQ, HLG, and color spaces
        /// that exceed Display P3 are encoded with at least 10.
        static func encode(
            _ image: DecodedImage, as encoding: ImageEncoding, depth: Int, context: ImageProcessingContext
        )
            throws(ImageError) -> Data
        {
            let pixels = image.pixels
            try requireEncodable(pixels, as: .avif, maxDimension: maxDimension)
            let isWide = pixels.format.layout.isWide
            guard !isWide || !encoding.isLossless else {
                let reason = "AVIF has at most 12 bits per sample, so 16 bits can't be encoded losslessly"
                throw .processing(.encodingFailed(format: .avif, reason: reason))
            }
            var options = try options(encoding, depth: isWide ? max(10, depth) : depth, image.metadata)
            options.is_wide = isWide ? 1 : 0
            try context.checkCancellation()
            try CodecLibraries.load(.avif, toEncode: true, with: wi_avif_load)
            var bytes: UnsafeMutablePointer<UInt8>?
            var count = 0
            var message: UnsafePointer<CChar>?
            let status = withBlocks(EmbeddedMetadata(checked: image, as: encoding)) { blocks in
                let write = { (samples: UnsafeRawPointer) in
                    wi_avif_encode(
                        samples, pixels.width * pixels.format.bytesPerPixel, UInt32(pixels.width),
                        UInt32(pixels.height), pixels.isOpaque ? 1 : 0, options, blocks, &bytes, &count, &message)
                }
                return write(AlphaUnpremultiplier.rows(of: pixels, from: 0, count: pixels.height))
            }
            guard status == WI_AVIF_OK, let bytes else {
                let reason = message.map { String(cString: $0) } ?? "libavif failed without a message"
                throw .processing(.encodingFailed(format: .avif, reason: reason))
            }
            defer { wi_avif_free(bytes) }
            try context.checkCancellation()
            return Data(bytes: bytes, count: count)
        }

        static func options(_ encoding: ImageEncoding, depth: Int, _ metadata: ImageMetadata) throws(ImageError)
            -> wi_avif_options
        {
            let effort = try encoding.checkedEffort()
            let quality = encoding.quality ?? 70
            let subsampling =
                switch encoding.chosenSubsampling(quality: quality, metadata) {
                case .yuv444: WI_AVIF_444
                case .yuv422: WI_AVIF_422
                case .yuv420: WI_AVIF_420
                }
            let colours: ColorCodePoints
            switch metadata.color {
            case .sRGB: colours = .sRGB
            case .displayP3: colours = .displayP3
            // If only a profile describes the pixels, the code points are unspecified.
            case .source: colours = metadata.codePoints ?? ColorCodePoints(primaries: 2, transfer: 2)
            }
            // 8 bits aren't enough for PQ, HLG, and wide gamuts, even if the pixels have 8 bits: they would be rounded again.
            let depth = metadata.hasHDRSamples || metadata.exceedsDisplayP3 ? max(10, depth) : depth
            return wi_avif_options(
                depth: Int32(encoding.isLossless ? 8 : depth), is_lossless: encoding.isLossless ? 1 : 0,
                quality: Int32(quality), speed: Int32(effort.map { 10 - $0 } ?? 6), subsampling: subsampling,
                is_wide: 0, primaries: Int32(clamping: colours.primaries), transfer: Int32(clamping: colours.transfer))
        }

        static func withBlocks<Result>(
            _ metadata: EmbeddedMetadata, _ body: (UnsafePointer<wi_avif_blocks>) -> Result
        ) -> Result {
            var metadata = metadata
            if metadata.hasCodePoints { metadata.iccProfile = nil }
            return metadata.withBytes { icc, exif, xmp in
                var blocks = wi_avif_blocks(
                    icc: icc.baseAddress, icc_count: icc.count, exif: exif.baseAddress, exif_count: exif.count,
                    xmp: xmp.baseAddress, xmp_count: xmp.count)
                return body(&blocks)
            }
        }
    }
#endif
