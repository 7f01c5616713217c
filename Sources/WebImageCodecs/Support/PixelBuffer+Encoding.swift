// SPDX-License-Identifier: MIT

import WebImageCore

extension PixelBuffer {
    /// Returns the pixels with 8 bits per sample, rounded, for formats without deeper samples. If the buffer already
    /// has 8 bits per sample, this method returns it unchanged.
    func eightBits(context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        guard format == .rgba16 else { return self }
        let canvas = try PixelCanvas.forDecoding(size, context: context)
        for row in 0..<height {
            if row % rowsPerCheckpoint == 0 { try context.checkCancellation() }
            withUnsafeBytes { bytes in
                let wide = UnsafeRawBufferPointer(rebasing: bytes[(row * bytesPerRow)...]).bindMemory(to: UInt16.self)
                let narrow = canvas.row(row)
                // 65,535 is 255 × 257. Rounding is monotonic, so colors never exceed their alpha.
                for at in 0..<width * 4 { narrow[at] = UInt8(truncatingIfNeeded: (UInt32(wide[at]) + 128) / 257) }
            }
        }
        return canvas.finish(isOpaque: isOpaque)
    }

    /// Returns whether the red, green, and blue samples of every pixel are equal.
    func isGray() -> Bool {
        withUnsafeBytes { bytes in
            (0..<height).allSatisfy { row in
                let line = UnsafeRawBufferPointer(
                    rebasing: bytes[(row * bytesPerRow)...].prefix(width * format.bytesPerPixel))
                return switch format {
                case .rgba8: Self.isGray(line.bindMemory(to: UInt32.self), bits: 8)
                case .rgba16: Self.isGray(line.bindMemory(to: UInt64.self), bits: 16)
                }
            }
        }
    }

    /// Red is in the lowest bits because all supported machines are little-endian.
    private static func isGray<Pixel: FixedWidthInteger>(_ pixels: UnsafeBufferPointer<Pixel>, bits: Pixel) -> Bool {
        let redAndGreen: Pixel = (1 << (2 * bits)) - 1
        return pixels.allSatisfy { ($0 ^ $0 >> bits) & redAndGreen == 0 }
    }
}

extension AlphaUnpremultiplier {
    /// Returns rows like ``rows(of:from:count:)``, with 16 bits per sample.
    static func wideRows(of pixels: PixelBuffer, from first: Int, count: Int) -> [UInt16] {
        let rowSamples = pixels.width * 4
        return [UInt16](unsafeUninitializedCapacity: rowSamples * count) { target, initialized in
            pixels.withUnsafeBytes { bytes in
                for row in 0..<count {
                    let start = (first + row) * pixels.bytesPerRow
                    let line = UnsafeRawBufferPointer(rebasing: bytes[start...]).bindMemory(to: UInt16.self)
                    for pixel in 0..<pixels.width {
                        unpremultiply(line, target, from: pixel * 4, to: row * rowSamples + pixel * 4)
                    }
                }
            }
            initialized = rowSamples * count
        }
    }

    private static func unpremultiply(
        _ line: UnsafeBufferPointer<UInt16>, _ target: UnsafeMutableBufferPointer<UInt16>, from: Int, to: Int
    ) {
        let alpha = UInt32(line[from + 3])
        target[to + 3] = UInt16(truncatingIfNeeded: alpha)
        for channel in 0..<3 {
            let value = UInt32(line[from + channel])
            let straight = alpha == 0 ? 0 : alpha == 65_535 ? value : (value * 65_535 + alpha / 2) / alpha
            target[to + channel] = UInt16(truncatingIfNeeded: min(65_535, straight))
        }
    }

    /// Returns pixels like ``packed(_:channels:)``, with 16 bits per sample.
    static func widePacked(_ pixels: PixelBuffer, channels: Int) -> [UInt16] {
        let rows = wideRows(of: pixels, from: 0, count: pixels.height)
        guard channels == 3 else { return rows }
        return [UInt16](unsafeUninitializedCapacity: rows.count / 4 * 3) { target, count in
            for pixel in 0..<rows.count / 4 {
                for channel in 0..<3 { target[pixel * 3 + channel] = rows[pixel * 4 + channel] }
            }
            count = rows.count / 4 * 3
        }
    }
}
