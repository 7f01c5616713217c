// SPDX-License-Identifier: MIT

import CGIF
import WebImageCore

/// A decoder for the first frame of a GIF file that arrives incrementally, row by row or pass by pass (GIF89a,
/// appendix E).
struct GIFIncrementalDecoder: IncrementalDecoder, ~Copyable {
    /// All data before the pixels of the first frame, until that part is complete.
    private var header: [UInt8] = []
    private var frame: GIFIncrementalFrameDecoder?
    private let expected: PixelSize
    private var received = 0

    init(probe: ImageInfo) { expected = probe.storedSize }

    mutating func append(
        _ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool, context: ImageProcessingContext
    ) throws(ImageError) {
        received += bytes.count
        if let frame {
            if let failure = frame.feed(bytes) { throw .decoding(failure) }
        } else {
            header.append(contentsOf: bytes)
            frame = try GIFIncrementalFrameDecoder(header, isLast: isLast, expected: expected, context: context)
            if frame != nil { header = [] }
        }
        if isLast, frame?.isWhole != true {
            throw .decoding(.truncated(format: .gif, receivedBytes: received, expectedBytes: nil))
        }
    }

    mutating func image(context: ImageProcessingContext) throws(ImageError) -> IncrementalImage? { try frame?.image() }
}

/// A decoder for one frame after its header was parsed. It draws rows as they arrive.
final class GIFIncrementalFrameDecoder {
    private let frame: GIFFrame
    private let part: PixelRect?
    private let palette: [UInt32]
    private let canvas: IncrementalCanvas
    private let indices: UnsafeMutableBufferPointer<UInt8>
    private let handle: OpaquePointer?
    private var drawnRows = 0

    /// Creates a decoder. The initializer returns `nil` if the header is still incomplete.
    init?(_ header: [UInt8], isLast: Bool, expected: PixelSize, context: ImageProcessingContext) throws(ImageError) {
        guard let found = try Self.find(header, isLast: isLast), let first = found.frames.first else { return nil }
        guard found.canvasSize == expected else {
            throw .decoding(
                .contradictsHeader(format: .gif, reason: "the size is \(found.canvasSize) instead of \(expected)"))
        }
        let area = try context.limits.checkedArea(of: first.rect.size)
        let palette = header.withUnsafeBufferPointer { first.palette(in: $0) }
        let canvas = try IncrementalCanvas(expected, context: context)
        let indices = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, area))
        let handle = wi_gif_stream_open(UInt32(header[first.dataOffset]), indices.baseAddress, area)
        self.frame = first
        self.part = first.rect.clamped(to: expected)
        self.palette = palette
        self.canvas = canvas
        self.indices = indices
        self.handle = handle
        let failure = header.withUnsafeBufferPointer {
            feed(UnsafeBufferPointer(rebasing: $0.dropFirst(first.dataOffset + 1)))
        }
        if let failure { throw .decoding(failure) }
    }

    deinit {
        wi_gif_stream_close(handle)
        indices.deallocate()
    }

    private static func find(_ header: [UInt8], isLast: Bool) throws(ImageError) -> GIFIndex? {
        guard header.count >= 13 || isLast else { return nil }
        do throws(ImageError) {
            return try header.withUnsafeBufferPointer { (bytes) throws(ImageError) in
                try GIFIndex(bytes, frameLimit: 1)
            }
        } catch {
            guard error.isTruncation, !isLast else { throw error }
            return nil
        }
    }

    private var area: Int { frame.rect.width * frame.rect.height }
    private var done: Int { handle.map { wi_gif_stream_done($0) } ?? 0 }
    var isWhole: Bool { done == area }

    /// Decompresses more data, and returns the error that prevents the rest of the frame from being decoded.
    func feed(_ bytes: UnsafeBufferPointer<UInt8>) -> ImageError.DecodingFailure? {
        guard area > 0 else { return nil }
        guard let handle else { return .corrupted(format: .gif, reason: "invalid LZW code size") }
        return switch wi_gif_stream_feed(handle, bytes.baseAddress, bytes.count) {
        case WI_GIF_OK, WI_GIF_TRUNCATED: nil
        case WI_GIF_SHORT: .corrupted(format: .gif, reason: "a frame has only \(done) of \(area) pixels")
        default: .corrupted(format: .gif, reason: "invalid LZW code after \(done) of \(area) pixels")
        }
    }

    func image() throws(ImageError) -> IncrementalImage? {
        let rows = frame.rect.width > 0 ? done / frame.rect.width : 0
        for index in drawnRows..<max(drawnRows, rows) { draw(index) }
        drawnRows = rows
        guard rows > 0 || isWhole else { return nil }
        let pixels = try canvas.snapshot(isOpaque: false)
        let place = frame.isInterlaced ? GIFPass(row: rows, height: frame.rect.height) : nil
        let covered = place.map { $0.number > 0 ? frame.rect.height : min(frame.rect.height, rows * 8) } ?? rows
        return IncrementalImage(
            pixels: pixels,
            rows: covered == frame.rect.height
                ? canvas.size.height : min(canvas.size.height, frame.rect.y + covered),
            passes: place?.number ?? (isWhole ? 1 : 0), passCount: frame.isInterlaced ? 4 : 1,
            fraction: area > 0 ? Double(done) / Double(area) : 1, isComplete: isWhole,
            hasAlpha: frame.transparentIndex != nil || isWhole && !pixels.isOpaque)
    }

    /// Draws a row, which has the number `index` in the order of the data. Until later passes draw the rows below it,
    /// the row also covers them.
    private func draw(_ index: Int) {
        guard let part else { return }
        let pass = frame.isInterlaced ? GIFPass(row: index, height: frame.rect.height) : nil
        let row = pass?.row ?? index
        guard row < part.height, let start = canvas.row(part.y) else { return }
        let first = start + row * canvas.bytesPerRow + part.x * 4
        first.update(repeating: 0, count: part.width * 4)
        var place = wi_gif_place(
            x: part.x, y: part.y + row, width: frame.rect.width, height: 1, columns: part.width, rows: 1,
            is_interlaced: 0, transparent: frame.transparentIndex.map(Int32.init) ?? -1,
            colours: UInt32(frame.paletteCount))
        _ = wi_gif_draw(
            indices.baseAddress.map { $0 + index * frame.rect.width }, frame.rect.width, palette, &place,
            canvas.row(0), canvas.bytesPerRow)
        guard let pass else { return }
        for below in row + 1..<max(row + 1, min(part.height, row + pass.spread)) {
            (start + below * canvas.bytesPerRow + part.x * 4).update(from: first, count: part.width * 4)
        }
    }
}

/// The position of a row of an interlaced frame.
struct GIFPass: Equatable {
    /// The number of the pass, from 0 to 3, or 4 after the last row.
    var number: Int
    var row: Int
    /// The number of rows that this row covers until later passes draw the others.
    var spread: Int

    /// `row` is the index of the row in the order of the data.
    init(row: Int, height: Int) {
        var left = row
        for (number, (first, step, spread)) in [(0, 8, 8), (4, 8, 4), (2, 4, 2), (1, 2, 1)].enumerated() {
            let rows = height > first ? (height - first + step - 1) / step : 0
            if left < rows {
                self.number = number
                self.row = first + left * step
                self.spread = spread
                return
            }
            left -= rows
        }
        number = 4
        self.row = height
        spread = 0
    }
}
