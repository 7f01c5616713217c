// SPDX-License-Identifier: MIT

import WebImageCore

/// A decoder that reads a file of Netpbm incrementally, row by row.
struct PNMIncrementalDecoder: IncrementalDecoder, ~Copyable {
    /// The received bytes before the header was complete.
    private var waiting: [UInt8] = []
    private var body: Body?
    private let format: ImageFormat
    private let canvas: PixelCanvas
    private var received = 0
    private var rowsDone = 0

    private struct Body {
        let rows: PNMRows
        var source: PNMRowSource
    }

    init(probe: ImageInfo, context: ImageProcessingContext) throws(ImageError) {
        format = probe.format
        canvas = try PixelCanvas.forDecoding(probe.storedSize, zeroed: true, context: context)
    }

    mutating func append(
        _ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool, context: ImageProcessingContext
    ) throws(ImageError) {
        guard rowsDone < canvas.size.height else { return }
        received += bytes.count
        if body != nil {
            try decode(bytes, from: 0, isLast: isLast, context: context)
        } else {
            waiting.append(contentsOf: bytes)
            let start = waiting
            try start.reading { (bytes) throws(ImageError) in
                guard let header = try PNMHeader.read(bytes, isComplete: isLast) else { return }
                guard header.size == canvas.size else {
                    throw .decoding(
                        .contradictsHeader(
                            format: format, reason: "the size is \(header.size) instead of \(canvas.size)"))
                }
                body = Body(rows: PNMRows(header), source: PNMRowSource(header))
                try decode(bytes, from: header.pixelOffset, isLast: isLast, context: context)
            }
            if body != nil { waiting = [] }
        }
        guard !isLast || rowsDone == canvas.size.height else {
            throw .decoding(.truncated(format: format, receivedBytes: received, expectedBytes: nil))
        }
    }

    mutating func image(context: ImageProcessingContext) throws(ImageError) -> IncrementalImage? {
        guard let header = body?.rows.header, rowsDone > 0 else { return nil }
        let height = canvas.size.height
        let isWhole = rowsDone == height
        let isOpaque = isWhole && (!header.hasAlpha || canvas.isEveryPixelOpaque())
        return IncrementalImage(
            pixels: try canvas.snapshot(isOpaque: isOpaque), rows: rowsDone, passes: isWhole ? 1 : 0,
            fraction: Double(rowsDone) / Double(height), isComplete: isWhole, depth: header.bitDepth,
            hasAlpha: header.hasAlpha)
    }

    private mutating func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, isLast: Bool, context: ImageProcessingContext
    ) throws(ImageError) {
        // Take the body, because a copy would share its row.
        guard var body = self.body.take() else { return }
        defer { self.body = body }
        var offset = start
        while rowsDone < canvas.size.height {
            if rowsDone % rowsPerCheckpoint == 0 { try context.checkCancellation() }
            guard try body.source.fill(from: bytes, at: &offset, isLast: isLast) else { return }
            let target = canvas.row(rowsDone)
            body.source.withRow(of: bytes) { body.rows.convert($0, into: target, as: .rgba8) }
            rowsDone += 1
        }
    }
}
