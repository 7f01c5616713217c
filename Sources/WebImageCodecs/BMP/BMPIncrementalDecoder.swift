// SPDX-License-Identifier: MIT

import WebImageCore

/// A decoder that reads a bitmap incrementally, row by row in the order of the file. Run-length data is collected
/// until it's complete.
struct BMPIncrementalDecoder: IncrementalDecoder, ~Copyable {
    /// The received bytes that aren't decoded yet: the header, an incomplete row, or run-length data.
    private var waiting: [UInt8] = []
    private var body: Body?
    private let canvas: PixelCanvas
    private var received = 0
    private var rowsDone = 0

    private struct Body {
        var decoder: DIBDecoder
        var rows: DIBRows
    }

    /// The total size of the file header, the longest bitmap header, its masks, and the longest color table. Later
    /// bytes contain no color information.
    private static let mostHeaderBytes = BMPCoder.fileHeaderSize + 124 + 16 + 1_024

    init(probe: ImageInfo, context: ImageProcessingContext) throws(ImageError) {
        canvas = try PixelCanvas.forDecoding(probe.storedSize, zeroed: true, context: context)
    }

    mutating func append(
        _ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool, context: ImageProcessingContext
    ) throws(ImageError) {
        guard rowsDone < canvas.size.height else { return }
        received += bytes.count
        waiting.append(contentsOf: bytes)
        if body == nil { try readHeader(isLast: isLast) }
        if let body { try decode(body, isLast: isLast, context: context) }
        guard !isLast || rowsDone == canvas.size.height else {
            throw .decoding(.truncated(format: .bmp, receivedBytes: received, expectedBytes: nil))
        }
    }

    mutating func image(context: ImageProcessingContext) throws(ImageError) -> IncrementalImage? {
        guard let body, rowsDone > 0 else { return nil }
        let height = canvas.size.height
        let header = body.decoder.header
        let copy = try PixelCanvas.forDecoding(canvas.size, context: context)
        copy.baseAddress.copyMemory(from: canvas.baseAddress, byteCount: canvas.byteCount)
        let shown = header.isTopDown ? 0..<rowsDone : height - rowsDone..<height
        if header.compression == .none, body.rows.hasAlpha { body.decoder.settleAlpha(copy, rows: shown) }
        let isOpaque = copy.isEveryPixelOpaque()
        let isWhole = rowsDone == height
        return IncrementalImage(
            pixels: copy.finish(isOpaque: isOpaque), rows: rowsDone, passes: isWhole ? 1 : 0,
            fraction: Double(rowsDone) / Double(height), isComplete: isWhole,
            depth: header.bitsPerPixel <= 8 ? header.bitsPerPixel : 8, hasAlpha: isWhole && !isOpaque)
    }

    /// Reads the header after all bytes that may belong to it were received.
    private mutating func readHeader(isLast: Bool) throws(ImageError) {
        let stated = waiting.withUnsafeBufferPointer { BMPCoder.pixelOffset($0, afterHeader: .max) }
        guard isLast || waiting.count >= max(stated, Self.mostHeaderBytes) else { return }
        let size = canvas.size
        let (header, start) = try waiting.reading { (bytes) throws(ImageError) in
            var reader = ByteReader(bytes, at: BMPCoder.fileHeaderSize)
            let header = try DIBHeader(&reader)
            guard header.size == size else {
                throw .decoding(
                    .contradictsHeader(format: .bmp, reason: "the size is \(header.size) instead of \(size)"))
            }
            return (header, BMPCoder.pixelOffset(bytes, afterHeader: reader.offset))
        }
        waiting.removeFirst(min(start, waiting.count))
        body = Body(decoder: DIBDecoder(header: header, format: .bmp), rows: DIBRows(header))
    }

    private mutating func decode(_ body: Body, isLast: Bool, context: ImageProcessingContext) throws(ImageError) {
        let height = canvas.size.height
        guard body.decoder.header.compression == .none else {
            guard isLast else { return }
            var isWhole = false
            try waiting.reading { (bytes) throws(ImageError) in
                var runs = DIBRunLength(body.decoder.header, ByteReader(bytes))
                isWhole = try runs.decode(into: canvas, context: context)
            }
            if isWhole { rowsDone = height }
            return
        }
        let before = rowsDone
        rowsDone = try waiting.reading { (bytes) throws(ImageError) in
            try body.rows.decode(bytes[...], from: before, into: canvas, context: context)
        }
        waiting.removeFirst(min((rowsDone - before) * body.rows.stride, waiting.count))
    }
}

extension [UInt8] {
    /// Calls `body` with the address of the bytes, which is valid only during the call.
    func reading<Value>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(ImageError) -> Value
    ) throws(ImageError) -> Value {
        try withUnsafeBufferPointer { bytes -> Result<Value, ImageError> in
            do throws(ImageError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }.get()
    }
}
