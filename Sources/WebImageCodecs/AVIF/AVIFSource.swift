// SPDX-License-Identifier: MIT

#if AVIF
    import CAVIF
    import Foundation
    import WebImageCore

    /// An AVIF file that libavif has opened.
    struct AVIFSource: LibraryFrameSource, ~Copyable {
        private let encoded: PinnedData
        private let handle: OpaquePointer
        private let info: wi_avif_info
        var color: ColorConversion?
        var preservesBitDepth = false

        /// Clamps a limit to 32 bits, because the structures of libavif use 32-bit sizes.
        static func bounded(_ limit: Int) -> UInt32 { UInt32(clamping: max(1, limit)) }

        /// Opens a whole file. If `usesTracks` is `true`, the frames are those of the image sequence instead of the
        /// primary image. Throws an ``ImageError/DecodingFailure`` or an ``ImageError/LimitFailure``.
        init(_ data: Data, usesTracks: Bool, limits: ImageLimits) throws(ImageError) {
            let encoded = PinnedData(data)
            try CodecLibraries.load(.avif, with: wi_avif_load)
            var handle: OpaquePointer?
            var info = wi_avif_info()
            // A limit of one frame means that only the poster frame is decoded, so don't reject files with more
            // frames.
            let frames = limits.maxFrames > 1 ? limits.maxFrames : ImageLimits.desktop.maxFrames
            let status = wi_avif_open(
                encoded.bytes.baseAddress, encoded.count, Self.bounded(limits.maxPixels),
                Self.bounded(limits.maxDimension),
                Self.bounded(frames), usesTracks ? 1 : 0, &info, &handle)
            guard status == WI_AVIF_OK, let handle else {
                let failure = Self.failure(status, handle, received: encoded.count)
                wi_avif_close(handle)
                throw failure
            }
            self.encoded = encoded
            self.handle = handle
            self.info = info
        }

        deinit { wi_avif_close(handle) }

        var storedSize: PixelSize { PixelSize(width: Int(info.width), height: Int(info.height)) }
        var frameCount: Int { Int(info.frames) }
        var depth: Int { Int(info.depth) }
        var hasAlpha: Bool { info.has_alpha != 0 }
        /// The visible region (clean aperture).
        var crop: PixelRect {
            PixelRect(
                x: Int(info.crop_x), y: Int(info.crop_y), width: Int(info.crop_width), height: Int(info.crop_height))
        }
        var iccProfile: [UInt8]? { info.icc.map { [UInt8](UnsafeBufferPointer(start: $0, count: info.icc_count)) } }

        func durations() -> [Int] {
            let mean = wi_avif_mean_milliseconds(handle)
            let stored = HEIFSequence.durations(UnsafeRawBufferPointer(encoded.bytes), count: frameCount)
            return (stored ?? Array(repeating: mean, count: frameCount)).map { milliseconds in
                AnimationTimeline.normalizedDelay(milliseconds: Int(min(max(milliseconds, 0), 1e9).rounded()))
            }
        }

        /// The color code points of the profile or of the file. Without a color profile, those of the file describe the
        /// samples.
        var codePoints: ColorCodePoints {
            if let points = iccProfile.flatMap({ ColorCodePoints(iccProfile: $0) }) { return points }
            return ColorCodePoints(primaries: Int(info.primaries), transfer: Int(info.transfer))
        }

        /// The conversion to sRGB. A color profile takes precedence over code points (ISO/IEC 23000-22, 7.3.6.4).
        var conversion: ColorConversion? { info.icc == nil ? .from(codePoints) : .from(profile: iccProfile) }

        mutating func decode(frame: Int, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
            try context.checkCancellation()
            let reading = PixelImporter(storedSize, depth: depth, preservesBitDepth: preservesBitDepth, color: color)
            let pixels = try reading.pixels(context: context) { (canvas) throws(ImageError) in
                let isPremultiplied = try context.countingThreads { () throws(ImageError) in
                    try read(frame, into: canvas)
                }
                return .init(hasAlpha: hasAlpha, isPremultiplied: isPremultiplied)
            }
            try context.checkCancellation()
            return try pixels.part(crop, context: context)
        }

        /// Sets the number of threads for all frames, before the first one is decoded. The threads exist as long as the
        /// source, so they're only for a source that the operation closes.
        func useThreads(_ count: Int) { wi_avif_use_threads(handle, Int32(clamping: count)) }

        /// Reads a frame and returns whether its colors are premultiplied by alpha.
        private func read(_ frame: Int, into canvas: borrowing PixelCanvas) throws(ImageError) -> Bool {
            var isPremultiplied: Int32 = 0
            let status = wi_avif_frame(
                handle, UInt32(clamping: frame), Int32(canvas.format.layout.bitsPerSample), canvas.baseAddress,
                canvas.bytesPerRow, &isPremultiplied)
            guard status == WI_AVIF_OK else { throw Self.failure(status, handle, received: encoded.count) }
            return isPremultiplied != 0
        }

        private static func failure(_ status: wi_avif_status, _ handle: OpaquePointer?, received: Int) -> ImageError {
            let words = String(cString: wi_avif_message(handle))
            return switch status {
            case WI_AVIF_TRUNCATED: .decoding(.truncated(format: .avif, receivedBytes: received, expectedBytes: nil))
            case WI_AVIF_MEMORY: .decoding(.outOfMemory(byteCount: received))
            case WI_AVIF_UNSUPPORTED: .decoding(.unsupportedFeature(format: .avif, feature: words))
            case WI_AVIF_INCONSISTENT:
                .decoding(
                    .contradictsHeader(format: .avif, reason: "the size of a frame differs from the size in the header")
                )
            default: .decoding(.corrupted(format: .avif, reason: words))
            }
        }
    }
#endif
