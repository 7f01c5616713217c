// SPDX-License-Identifier: MIT

import CJPEG
import Glibc
import WebImageCore

/// A decoder for a JPEG file that arrives incrementally. Files with one scan are decoded row by row, and other files
/// scan by scan. libjpeg can't suspend arithmetic decoding, so such files have no previews.
struct JPEGIncrementalDecoder: IncrementalDecoder, ~Copyable {
    private enum Phase {
        case header
        /// Rows are decoded as their data arrives.
        case rows
        /// Coefficients are collected. Rows are created from them on demand.
        case scans
    }

    private let handle: OpaquePointer
    private let expected: PixelSize
    private let denominator: Int
    private let limits: ImageLimits
    private var phase = Phase.header
    private var canvas: IncrementalCanvas?
    private var decodedSize = PixelSize(width: 0, height: 0)
    private var depth = 8
    private var iccProfile: [UInt8]?
    private var color: ColorConversion?
    private var received = 0
    private var rowsDone = 0
    private var displayedScans = 0
    private var isFinished = false

    init(probe: ImageInfo, layout: DecodeLayout, context: ImageProcessingContext) throws(ImageError) {
        limits = context.limits
        expected = probe.storedSize
        denominator = layout.denominator
        guard let handle = wi_jpeg_stream_open(JPEGReader.memory(limits), Int32(JPEGReader.maxScans)) else {
            throw .decoding(.outOfMemory(byteCount: 0))
        }
        self.handle = handle
    }

    deinit { wi_jpeg_decoder_close(handle) }

    mutating func append(
        _ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool, context: ImageProcessingContext
    ) throws(ImageError) {
        received += bytes.count
        isFinished = isLast
        try check(wi_jpeg_stream_feed(handle, bytes.baseAddress, bytes.count, isLast ? 1 : 0))
        if phase == .header { try readHeader(context) }
        switch phase {
        case .header: break
        case .rows: try readRows(context)
        case .scans: try readScans(context)
        }
        guard isLast else { return }
        let isShort = phase == .header || phase == .rows && rowsDone < decodedSize.height
        if isShort || wi_jpeg_decoder_is_truncated(handle) != 0 {
            throw .decoding(.truncated(format: .jpeg, receivedBytes: received, expectedBytes: nil))
        }
    }

    mutating func image(context: ImageProcessingContext) throws(ImageError) -> IncrementalImage? {
        switch phase {
        case .header: return nil
        case .rows: return try rowImage()
        case .scans: return try scanImage(context)
        }
    }

    private mutating func readHeader(_ context: ImageProcessingContext) throws(ImageError) {
        var info = wi_jpeg_info()
        let status = wi_jpeg_decoder_header(handle, &info)
        guard status != WI_JPEG_MORE else { return }
        try check(status)
        let size = PixelSize(width: Int(info.width), height: Int(info.height))
        guard size == expected else {
            throw .decoding(.contradictsHeader(format: .jpeg, reason: "the size is \(size) instead of \(expected)"))
        }
        if info.has_scans != 0 { try limits.check(coefficientBytes: Int(clamping: info.coefficient_bytes)) }
        depth = Int(info.bits)
        iccProfile = JPEGReader.iccProfile(of: handle)
        // libjpeg has already converted CMYK to RGB with the simple formula, so the profile doesn't apply.
        if info.is_cmyk == 0 { color = .from(profile: iccProfile, model: info.components == 1 ? .gray : .rgb) }
        var width: UInt32 = 0
        var height: UInt32 = 0
        try check(wi_jpeg_decoder_start(handle, UInt32(denominator), &width, &height))
        decodedSize = PixelSize(width: Int(width), height: Int(height))
        if wi_jpeg_stream_has_scans(handle) != 0 {
            phase = .scans
        } else {
            canvas = try IncrementalCanvas(decodedSize, context: context)
            phase = .rows
        }
    }

    private mutating func readRows(_ context: ImageProcessingContext) throws(ImageError) {
        guard let canvas else { return }
        while rowsDone < decodedSize.height {
            try context.checkCancellation()
            let wanted = UInt32(min(rowsPerCheckpoint, decodedSize.height - rowsDone))
            var done: UInt32 = 0
            let status = wi_jpeg_decoder_rows(handle, canvas.row(rowsDone), canvas.bytesPerRow, wanted, &done)
            rowsDone += Int(done)
            if status == WI_JPEG_MORE { return }
            try check(status)
        }
    }

    private mutating func readScans(_ context: ImageProcessingContext) throws(ImageError) {
        while true {
            try context.checkCancellation()
            var left: Int32 = 0
            let status = wi_jpeg_stream_absorb(handle, Int32(rowsPerCheckpoint), &left)
            if status == WI_JPEG_OK || left > 0 && status == WI_JPEG_MORE { return }
            if status != WI_JPEG_MORE { try check(status) }
        }
    }

    private func rowImage() throws(ImageError) -> IncrementalImage? {
        guard let canvas, rowsDone > 0 else { return nil }
        let isWhole = rowsDone == decodedSize.height
        let rows = isWhole ? expected.height : min(expected.height, rowsDone * denominator)
        // libjpeg writes no rows after the last one.
        let pixels = isWhole ? try canvas.finish(isOpaque: true) : try canvas.snapshot(isOpaque: false)
        return image(
            pixels, rows: rows, passes: isWhole ? 1 : 0, passCount: 1,
            fraction: Double(rows) / Double(expected.height))
    }

    /// Creates an image from all received scans. A new image is created only after a complete scan, because in between
    /// only its upper part would change.
    private mutating func scanImage(_ context: ImageProcessingContext) throws(ImageError) -> IncrementalImage? {
        let scans = Int(wi_jpeg_stream_scans(handle))
        guard scans > displayedScans || isFinished && scans > 0 else { return nil }
        try check(wi_jpeg_stream_begin_output(handle))
        let canvas = try PixelCanvas.forDecoding(decodedSize, context: context)
        var row = 0
        while row < canvas.size.height {
            try context.checkCancellation()
            var done: UInt32 = 0
            let wanted = UInt32(min(rowsPerCheckpoint, canvas.size.height - row))
            try check(wi_jpeg_decoder_rows(handle, canvas.row(row), canvas.bytesPerRow, wanted, &done))
            guard done == wanted else { throw .decoding(.corrupted(format: .jpeg, reason: "a row is missing")) }
            row += Int(done)
        }
        try check(wi_jpeg_stream_end_output(handle))
        displayedScans = scans
        var image = image(
            canvas.finish(isOpaque: true), rows: expected.height, passes: scans, passCount: isFinished ? scans : nil,
            fraction: isFinished ? 1 : wi_jpeg_stream_refinement(handle))
        image.detail = wi_jpeg_stream_detail(handle)
        return image
    }

    private func image(
        _ pixels: PixelBuffer, rows: Int, passes: Int, passCount: Int?, fraction: Double
    ) -> IncrementalImage {
        // libjpeg rounds the reduced size up, but the image itself ends at the exact quotient.
        let extent = (
            width: Double(expected.width) / Double(denominator), height: Double(expected.height) / Double(denominator)
        )
        return IncrementalImage(
            pixels: pixels, extent: extent, rows: rows, passes: passes, passCount: passCount, fraction: fraction,
            isComplete: isFinished, depth: depth, iccProfile: iccProfile, color: color)
    }

    private func check(_ status: wi_jpeg_status) throws(ImageError) {
        guard status != WI_JPEG_OK else { return }
        throw JPEGReader.failure(status, handle, received, limits)
    }
}
