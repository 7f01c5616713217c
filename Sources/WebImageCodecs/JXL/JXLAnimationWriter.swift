// SPDX-License-Identifier: MIT

#if JXL
    import CJXL
    import Foundation
    import WebImageCore

    /// An encoder for animations, based on libjxl. Each frame contains only the region that differs from the previous
    /// frame.
    enum JXLAnimationWriter {
        static func encode(_ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
            throws(ImageError) -> Data
        {
            let frames = try EncodableFrames(
                image, as: encoding, maxDimension: JXLWriter.maxDimension, context: context)
            let channels = try frames.areOpaque() ? 3 : 4
            let options = try JXLWriter.options(encoding)
            var picture = wi_jxl_picture(
                width: UInt32(frames.size.width), height: UInt32(frames.size.height), channels: UInt32(channels),
                bits: 8, keeps_space: 0)
            try CodecLibraries.load(.jxl, toEncode: true, with: wi_jxl_load)
            let handle = JXLWriter.withBlocks(EmbeddedMetadata(checked: image, as: encoding, allowsFloatTables: false))
            { blocks in
                wi_jxl_animator_open(
                    &picture, blocks, UInt32(clamping: frames.loopCount), options.distance, options.effort)
            }
            guard let handle else {
                throw .processing(.encodingFailed(format: .jxl, reason: "libjxl can't create an encoder"))
            }
            defer { wi_jxl_animator_close(handle) }
            let whole = PixelRect(x: 0, y: 0, width: frames.size.width, height: frames.size.height)
            var before: PixelBuffer?
            for place in 0..<frames.count {
                let pixels = try frames.pixels(at: place)
                // A frame without changes must still be written to preserve its duration.
                let nothing = PixelRect(x: 0, y: 0, width: 1, height: 1)
                let rect = before.map { pixels.changes(from: $0) ?? nothing } ?? whole
                var part = wi_jxl_part(
                    x: UInt32(rect.x), y: UInt32(rect.y), width: UInt32(rect.width), height: UInt32(rect.height),
                    is_partial: rect == whole ? 0 : 1, is_last: place == frames.count - 1 ? 1 : 0,
                    milliseconds: UInt32(clamping: frames.durations[place]))
                let status = wi_jxl_animator_add(
                    handle, AlphaUnpremultiplier.packed(pixels, rect, channels: channels), &part)
                guard status == WI_JXL_OK else {
                    throw .processing(
                        .encodingFailed(format: .jxl, reason: "libjxl failed (status \(status.rawValue))"))
                }
                before = pixels
            }
            try context.checkCancellation()
            var count = 0
            guard let bytes = wi_jxl_animator_bytes(handle, &count) else { return Data() }
            return Data(bytes: bytes, count: count)
        }
    }
#endif
