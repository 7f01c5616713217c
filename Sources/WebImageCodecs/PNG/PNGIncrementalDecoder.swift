// SPDX-License-Identifier: MIT

import CPNG
import WebImageCore

/// A decoder for a PNG file that arrives incrementally, row by row, or pass by pass if it's interlaced (W3C PNG,
/// section 8).
struct PNGIncrementalDecoder: IncrementalDecoder, ~Copyable {
    private let handle: OpaquePointer
    private let canvas: IncrementalCanvas
    private let expected: PixelSize
    private var received = 0
    private var isFinished = false

    /// The number of bytes to decode between two checks of the deadline and the cancellation flag. They decompress to
    /// at most 16 MiB.
    private static let step = 16 << 10

    init(probe: ImageInfo, context: ImageProcessingContext) throws(ImageError) {
        let size = probe.storedSize
        let canvas = try IncrementalCanvas(size, context: context)
        let handle = wi_png_stream_open(
            canvas.row(0), canvas.bytesPerRow, UInt32(size.width), UInt32(size.height), PNGReader.maxChunkBytes)
        guard let handle else { throw .decoding(.outOfMemory(byteCount: canvas.byteCount)) }
        self.handle = handle
        self.canvas = canvas
        expected = size
    }

    deinit { wi_png_stream_close(handle) }

    mutating func append(
        _ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool, context: ImageProcessingContext
    ) throws(ImageError) {
        for piece in InputPieces(bytes, maxCount: Self.step, includesEmpty: false) {
            try context.checkCancellation()
            received += piece.count
            try check(wi_png_stream_feed(handle, piece.start, piece.count))
        }
        isFinished = isLast
        if isLast, !progress.isWhole {
            throw .decoding(.truncated(format: .png, receivedBytes: received, expectedBytes: nil))
        }
    }

    mutating func image(context: ImageProcessingContext) throws(ImageError) -> IncrementalImage? {
        let progress = progress
        guard progress.rows > 0 else { return nil }
        var info = wi_png_info()
        wi_png_stream_info(handle, &info)
        let hasAlpha = info.has_alpha != 0
        var colors = wi_png_colors()
        wi_png_stream_colors(handle, &colors)
        let color = PNGColor(colors)
        let profile = iccProfile()
        let isOpaque = Int(progress.rows) == expected.height && !hasAlpha
        // libpng writes no rows after the last one.
        let pixels =
            progress.isWhole
            ? try canvas.finish(isOpaque: isOpaque, isStraight: hasAlpha)
            : try canvas.snapshot(isOpaque: isOpaque, isStraight: hasAlpha)
        return IncrementalImage(
            pixels: pixels, rows: Int(progress.rows), passes: Int(progress.passes), passCount: Int(progress.pass_count),
            fraction: progress.fraction, isComplete: progress.isWhole,
            isDamaged: wi_png_stream_is_damaged(handle, isFinished ? 1 : 0) != 0, depth: Int(info.bits),
            hasAlpha: hasAlpha, iccProfile: profile,
            equivalentProfile: profile == nil ? color.equivalentProfile(isGray: info.is_gray != 0) : nil,
            codePoints: color.codePoints, color: color.conversion(profile: profile, isGray: info.is_gray != 0))
    }

    private var progress: wi_png_progress {
        var progress = wi_png_progress()
        wi_png_stream_progress(handle, &progress)
        return progress
    }

    private func iccProfile() -> [UInt8]? {
        var count = 0
        guard let bytes = wi_png_stream_icc(handle, &count), count <= PNGReader.maxProfileBytes else { return nil }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }

    private func check(_ status: wi_png_status) throws(ImageError) {
        switch status {
        case WI_PNG_OK: return
        case WI_PNG_INCONSISTENT:
            throw .decoding(.contradictsHeader(format: .png, reason: "the size differs from \(expected)"))
        default: throw .decoding(.corrupted(format: .png, reason: String(cString: wi_png_stream_message(handle))))
        }
    }
}

extension wi_png_progress {
    fileprivate var isWhole: Bool { is_complete != 0 }
}
