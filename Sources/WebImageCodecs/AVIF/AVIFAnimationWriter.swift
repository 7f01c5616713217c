// SPDX-License-Identifier: MIT

#if AVIF
    import CAVIF
    import Foundation
    import WebImageCore

    /// An encoder for image sequences, based on libavif. The library buffers as many frames as the lookahead of its
    /// AV1 encoder requires.
    enum AVIFAnimationWriter {
        static func encode(
            _ image: DecodedImage, as encoding: ImageEncoding, depth: Int, context: ImageProcessingContext
        )
            throws(ImageError) -> Data
        {
            let frames = try EncodableFrames(
                image, as: encoding, maxDimension: AVIFWriter.maxDimension, context: context)
            let options = try AVIFWriter.options(encoding, depth: depth, image.metadata)
            let metadata = EmbeddedMetadata(checked: image, as: encoding)
            let isOpaque = try frames.areOpaque()
            try CodecLibraries.load(.avif, toEncode: true, with: wi_avif_load)
            guard let handle = wi_avif_animator_open(options) else {
                throw .decoding(.outOfMemory(byteCount: frames.size.width * frames.size.height * 4))
            }
            defer { wi_avif_animator_close(handle) }
            let storesLoopCount = wi_avif_animator_set_plays(handle, UInt32(clamping: frames.loopCount)) != 0
            for place in 0..<frames.count {
                let pixels = try frames.pixels(at: place)
                let status = AVIFWriter.withBlocks(metadata) { blocks in
                    wi_avif_animator_add(
                        handle, AlphaUnpremultiplier.rows(of: pixels, from: 0, count: pixels.height), pixels.width * 4,
                        UInt32(pixels.width), UInt32(pixels.height), isOpaque ? 1 : 0, blocks,
                        UInt64(max(1, frames.durations[place])))
                }
                try check(status, handle)
            }
            var bytes: UnsafeMutablePointer<UInt8>?
            var count = 0
            try check(wi_avif_animator_finish(handle, &bytes, &count), handle)
            try context.checkCancellation()
            guard let bytes else { return Data() }
            defer { wi_avif_free(bytes) }
            let data = Data(bytes: bytes, count: count)
            guard frames.loopCount > 0, !storesLoopCount else { return data }
            return AVIFEditList.adding(plays: frames.loopCount, to: data) ?? data
        }

        private static func check(_ status: wi_avif_status, _ handle: OpaquePointer) throws(ImageError) {
            guard status != WI_AVIF_OK else { return }
            let reason = String(cString: wi_avif_animator_message(handle))
            throw .processing(.encodingFailed(format: .avif, reason: reason))
        }
    }
#endif
