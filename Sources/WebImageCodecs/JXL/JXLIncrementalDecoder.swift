// SPDX-License-Identifier: MIT

#if JXL
    import CJXL
    import WebImageCore

    /// A decoder for a JPEG XL file that arrives incrementally.
    struct JXLIncrementalDecoder: IncrementalDecoder, ~Copyable {
        private let handle: OpaquePointer
        private let canvas: IncrementalCanvas
        private let expected: PixelSize
        private let memory: Int
        private let layers: wi_jxl_layer_limits
        private var received = 0

        /// The number of bytes to decode between two checks of the deadline and the cancellation flag.
        private static let step = 128 << 10
        /// The side of the smallest groups, in pixels (ISO/IEC 18181-1, C.2). The sides of other groups are multiples.
        private static let minGroupSide = 128

        init(probe: ImageInfo, context: ImageProcessingContext) throws(ImageError) {
            let size = probe.storedSize
            let canvas = try IncrementalCanvas(size, context: context)
            let memory = JXLSource.memory(context.limits)
            let layers = JXLSource.layerLimits(
                isAnimated: probe.frameCount > 1 || !probe.frameCountIsExact, context.limits)
            try CodecLibraries.load(.jxl, with: wi_jxl_load)
            let handle = wi_jxl_stream_open(
                canvas.row(0), canvas.bytesPerRow, PixelFormat.rowAlignment, UInt32(clamping: size.width),
                UInt32(clamping: size.height), memory, layers)
            guard let handle else { throw .decoding(.outOfMemory(byteCount: canvas.byteCount)) }
            self.handle = handle
            self.canvas = canvas
            self.memory = memory
            self.layers = layers
            expected = size
        }

        deinit { wi_jxl_stream_close(handle) }

        mutating func append(
            _ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool, context: ImageProcessingContext
        ) throws(ImageError) {
            for piece in InputPieces(bytes, maxCount: Self.step, includesEmpty: true) {
                try context.checkCancellation()
                let isEnd = isLast && piece.isLast
                let status = wi_jxl_stream_feed(handle, piece.start, piece.count, isEnd ? 1 : 0)
                received += piece.count
                guard status == WI_JXL_OK || status == WI_JXL_TRUNCATED && !isEnd else {
                    var layer: [UInt32] = [0, 0]
                    wi_jxl_stream_layer(handle, &layer)
                    throw JXLSource.layerFailure(status, layer, layers)
                        ?? JXLSource.failure(status, received: received, memory: memory)
                }
            }
        }

        mutating func image(context: ImageProcessingContext) throws(ImageError) -> IncrementalImage? {
            try context.checkCancellation()
            guard wi_jxl_stream_draw(handle) != 0 else { return nil }
            var info = wi_jxl_info()
            wi_jxl_stream_info(handle, &info)
            let isWhole = wi_jxl_stream_is_whole(handle) != 0
            let hasAlpha = info.has_alpha != 0
            let reduction = max(1, wi_jxl_stream_reduction(handle))
            let space = info.describedSpace(.sRGB)
            let steps = Int(wi_jxl_stream_steps(handle))
            guard let (pixels, rows) = try snapshot(info, hasGaps: !isWhole && steps == 0) else {
                return nil
            }
            return IncrementalImage(
                pixels: pixels, rows: rows, passes: steps, passCount: nil,
                fraction: isWhole ? 1 : min(0.9, 1 / Double(reduction)), isComplete: isWhole, depth: Int(info.depth),
                hasAlpha: hasAlpha,
                iccProfile: space.profile, codePoints: space.codePoints, color: info.conversion)
        }

        /// Returns a copy of the pixels and the number of rows above the first missing group, or `nil` if no group is
        /// visible. If `hasGaps` is `true`, black groups may be missing.
        private func snapshot(
            _ info: wi_jxl_info, hasGaps: Bool
        ) throws(ImageError) -> (pixels: PixelBuffer, rows: Int)? {
            let isWhole = wi_jxl_stream_is_whole(handle) != 0
            let hasAlpha = info.has_alpha != 0
            let isStraight = hasAlpha && info.is_premultiplied == 0
            if hasGaps {
                return try canvas.snapshot(
                    withoutBlackTiles: Self.minGroupSide, hasAlpha: hasAlpha, isStraight: isStraight)
            }
            let pixels = try canvas.snapshot(isOpaque: !hasAlpha && isWhole, isStraight: isStraight)
            return (pixels, expected.height)
        }
    }
#endif
