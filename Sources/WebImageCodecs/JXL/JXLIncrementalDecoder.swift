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
        private var received = 0

        /// The number of bytes to decode between two checks of the deadline and the cancellation flag.
        private static let step = 128 << 10

        init(probe: ImageInfo, context: ImageProcessingContext) throws(ImageError) {
            let size = probe.storedSize
            let canvas = try IncrementalCanvas(size, context: context)
            let memory = JXLSource.memory(context.limits)
            let handle = wi_jxl_stream_open(
                canvas.row(0), canvas.bytesPerRow, PixelFormat.rowAlignment, UInt32(clamping: size.width),
                UInt32(clamping: size.height), memory)
            guard let handle else { throw .decoding(.outOfMemory(byteCount: canvas.byteCount)) }
            self.handle = handle
            self.canvas = canvas
            self.memory = memory
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
                    throw JXLSource.failure(status, received: received, memory: memory)
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
            let profile = info.icc.map { [UInt8](UnsafeBufferPointer(start: $0, count: info.icc_count)) }
            return IncrementalImage(
                pixels: try canvas.snapshot(
                    isOpaque: !hasAlpha && isWhole, isStraight: hasAlpha && info.is_premultiplied == 0),
                rows: expected.height, passes: Int(wi_jxl_stream_steps(handle)), passCount: nil,
                fraction: isWhole ? 1 : min(0.9, 1 / Double(reduction)), isComplete: isWhole, depth: Int(info.depth),
                hasAlpha: hasAlpha,
                iccProfile: profile, codePoints: JXLSource.codePoints(info),
                color: JXLSource.conversion(info, profile: profile))
        }
    }
#endif
