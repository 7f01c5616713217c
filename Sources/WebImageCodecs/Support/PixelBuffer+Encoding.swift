// SPDX-License-Identifier: MIT

import CPixelKernels
import WebImageCore

extension PixelBuffer {
    /// Returns the pixels with 8 bits per sample, rounded, for formats without deeper samples. If the buffer already
    /// has 8 bits per sample, this method returns it unchanged.
    func eightBits(context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        guard format.layout.isWide else { return self }
        let canvas = try PixelCanvas.forDecoding(size, context: context)
        for row in 0..<height {
            if row % rowsPerCheckpoint == 0 { try context.checkCancellation() }
            withUnsafeBytes { bytes in
                let wide = UnsafeRawBufferPointer(rebasing: bytes[(row * bytesPerRow)...]).bindMemory(to: UInt16.self)
                // Rounding is monotonic, so colors never exceed their alpha.
                wi_narrow(wide.baseAddress, canvas.row(row), width * 4)
            }
        }
        return canvas.finish(isOpaque: isOpaque)
    }

    func isGray() -> Bool {
        withUnsafeBytes { bytes in
            (0..<height).allSatisfy { row in
                let line = UnsafeRawBufferPointer(
                    rebasing: bytes[(row * bytesPerRow)...].prefix(width * format.bytesPerPixel))
                return format.bytesPerPixel == 4
                    ? Self.isGray(line.bindMemory(to: UInt32.self), bits: 8)
                    : Self.isGray(line.bindMemory(to: UInt64.self), bits: 16)
            }
        }
    }

    /// Red is in the lowest bits because all supported machines are little-endian.
    private static func isGray<Pixel: FixedWidthInteger>(_ pixels: UnsafeBufferPointer<Pixel>, bits: Pixel) -> Bool {
        let redAndGreen: Pixel = (1 << (2 * bits)) - 1
        return pixels.allSatisfy { ($0 ^ $0 >> bits) & redAndGreen == 0 }
    }
}
