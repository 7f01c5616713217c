// SPDX-License-Identifier: MIT

import CPNG
import CPixelKernels
import WebImageCore

/// The quick way through the most usual PNGs: the pixels' data is unpacked by libdeflate in one call, and rows become
/// R, G, B, A while their filters are undone. It needs the whole file, and memory for all rows at once.
///
/// What is not as it should be is left to libpng, which knows what can be said or saved of it.
enum PNGWholeDecoder {
    /// Larger pictures are decoded row by row: what is unpacked would need too much memory beside them.
    static let mostPixels = 16_000_000

    /// Decodes into `canvas`. False where the picture must be decoded in the other way; what the canvas holds then is of
    /// no use.
    ///
    /// - Parameter channels: 3 for R, G, B, 4 for R, G, B, A; 8 bits each.
    static func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, channels: Int, into canvas: borrowing PixelCanvas, context: CodingContext
    ) throws(ImageError) -> Bool {
        let size = canvas.size
        guard let area = size.area, area <= mostPixels, size.width > 0 else { return false }
        let rowBytes = size.width * channels + 1
        // The loops read up to 4 bytes more.
        let raw = UnsafeMutableRawBufferPointer.allocate(byteCount: rowBytes * size.height + 4, alignment: 16)
        defer { raw.deallocate() }
        let packed = raw.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let packed, wi_png_unpack(bytes.baseAddress, bytes.count, packed, rowBytes * size.height) else {
            return false
        }
        let zeros = [UInt8](repeating: 0, count: size.width * 4)
        var row = 0
        while row < size.height {
            try context.checkpoint()
            let count = min(rowsPerCheckpoint, size.height - row)
            let done = zeros.withUnsafeBufferPointer { zeros in
                let above = row == 0 ? zeros.baseAddress : UnsafePointer(canvas.row(row - 1))
                let unfilter = channels == 3 ? wi_unfilter_rgb8 : wi_unfilter_rgba8
                return unfilter(
                    packed + row * rowBytes, size.width, count, above, canvas.row(row), canvas.bytesPerRow)
            }
            guard done == count else { return false }
            row += count
        }
        return true
    }
}
