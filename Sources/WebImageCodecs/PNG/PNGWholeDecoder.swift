// SPDX-License-Identifier: MIT

import CPNG
import CPixelKernels
import WebImageCore

/// The quick way through the most usual PNGs: the pixels' data is unpacked by libdeflate in one call, and rows become
/// R, G, B, A while their filters are undone, or right after. It needs the whole file, and memory for all rows at once.
///
/// What is not as it should be is left to libpng, which knows what can be said or saved of it.
struct PNGWholeDecoder {
    /// What a row is made of.
    enum Layout {
        /// Samples of 8 bits: R, G, B, or R, G, B, A.
        case colors(channels: Int)
        /// Grey and alpha of 8 bits.
        case grayAlpha
        /// Samples of 1, 2, 4 or 8 bits that a table of 256 colours explains.
        case indices(bits: Int, table: [UInt32])
    }

    /// Larger pictures are decoded row by row: what is unpacked would need too much memory beside them.
    static let mostPixels = 16_000_000

    let size: PixelSize
    let layout: Layout
    /// Bytes of a row with its filter's number.
    private let rowBytes: Int

    /// Nil where the picture is too large.
    init?(_ size: PixelSize, _ layout: Layout) {
        guard let area = size.area, area <= Self.mostPixels, size.width > 0 else { return nil }
        self.size = size
        self.layout = layout
        rowBytes =
            1
            + {
                switch layout {
                case .colors(let channels): size.width * channels
                case .grayAlpha: size.width * 2
                case .indices(let bits, _): (size.width * bits + 7) / 8
                }
            }()
    }

    /// Decodes into `canvas`. False where the picture must be decoded in the other way; what the canvas holds then is of
    /// no use.
    func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, into canvas: borrowing PixelCanvas, context: CodingContext
    ) throws(ImageError) -> Bool {
        // The loops read up to 4 bytes more.
        let raw = UnsafeMutableRawBufferPointer.allocate(byteCount: rowBytes * size.height + 4, alignment: 16)
        defer { raw.deallocate() }
        let packed = raw.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let packed, wi_png_unpack(bytes.baseAddress, bytes.count, packed, rowBytes * size.height) else {
            return false
        }
        let zeros = [UInt8](repeating: 0, count: max(size.width * 4, rowBytes))
        var row = 0
        while row < size.height {
            try context.checkpoint()
            let count = min(rowsPerCheckpoint, size.height - row)
            let done = zeros.withUnsafeBufferPointer { unfilter(packed, row, count, zeros: $0, into: canvas) }
            guard done == count else { return false }
            row += count
        }
        return true
    }

    /// Rows `first` and on; the number of those that are done.
    private func unfilter(
        _ packed: UnsafeMutablePointer<UInt8>, _ first: Int, _ count: Int, zeros: UnsafeBufferPointer<UInt8>,
        into canvas: borrowing PixelCanvas
    ) -> Int {
        let rows = packed + first * rowBytes
        if case .colors(let channels) = layout {
            let above = first == 0 ? zeros.baseAddress : UnsafePointer(canvas.row(first - 1))
            let unfilter = channels == 3 ? wi_unfilter_rgb8 : wi_unfilter_rgba8
            return unfilter(rows, size.width, count, above, canvas.row(first), canvas.bytesPerRow)
        }
        let above = first == 0 ? zeros.baseAddress : UnsafePointer(rows - rowBytes + 1)
        let done: Int
        switch layout {
        case .colors: return 0
        case .grayAlpha:
            done = wi_unfilter_bytes(rows, rowBytes - 1, count, 2, above)
            for row in 0..<done { wi_spread_gray_alpha(rows + row * rowBytes + 1, canvas.row(first + row), size.width) }
        case .indices(let bits, let table):
            done = wi_unfilter_bytes(rows, rowBytes - 1, count, 1, above)
            for row in 0..<done {
                wi_spread_indices(rows + row * rowBytes + 1, bits, table, canvas.row(first + row), size.width)
            }
        }
        return done
    }
}
