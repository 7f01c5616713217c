// SPDX-License-Identifier: MIT

import CPNG
import CPixelKernels
import WebImageCore

/// A fast decoder for the most common PNG files.
///
/// libdeflate decompresses the pixels in one call, and the rows become R, G, B, A while their filters are reversed or
/// immediately afterward. The decoder needs the complete file and enough memory for all rows.
///
/// The decoder leaves unusual files to libpng, which reports the error or recovers a part of the image.
struct PNGFastDecoder {
    /// The contents of a row.
    enum Layout {
        /// 8-bit samples: R, G, B, or R, G, B, A.
        case colors(channels: Int)
        /// 8-bit samples: gray and alpha.
        case grayAlpha
        /// Samples of 1, 2, 4, or 8 bits that are indices into a table of 256 colors.
        case indices(bits: Int, table: [UInt32])
    }

    /// The maximum number of pixels. Larger images are decoded row by row, because the decompressed data would use too
    /// much additional memory.
    static let mostPixels = 16_000_000

    let size: PixelSize
    let layout: Layout
    /// The size of a row in bytes, including its filter type.
    private let rowBytes: Int

    /// Creates a decoder. The initializer returns `nil` if the image is too large.
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

    /// Decodes the image into `canvas`. If the result is `false`, libpng must decode the image, and the contents of
    /// the canvas are undefined.
    func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, into canvas: borrowing PixelCanvas, context: ImageProcessingContext
    ) throws(ImageError) -> Bool {
        // The loops read up to 4 bytes past the end.
        let raw = UnsafeMutableRawBufferPointer.allocate(byteCount: rowBytes * size.height + 4, alignment: 16)
        defer { raw.deallocate() }
        let packed = raw.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let packed, wi_png_unpack(bytes.baseAddress, bytes.count, packed, rowBytes * size.height) else {
            return false
        }
        let zeros = [UInt8](repeating: 0, count: max(size.width * 4, rowBytes))
        var row = 0
        while row < size.height {
            try context.checkCancellation()
            let count = min(rowsPerCheckpoint, size.height - row)
            let done = zeros.withUnsafeBufferPointer { unfilter(packed, row, count, zeros: $0, into: canvas) }
            guard done == count else { return false }
            row += count
        }
        return true
    }

    /// Reverses the filters of `count` rows from `first` on. Returns the number of rows that are complete.
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
