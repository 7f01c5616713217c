// SPDX-License-Identifier: MIT

import WebImageCore

/// A converter of uncompressed bitmap rows to RGBA8 with straight alpha.
struct DIBRows {
    private let header: DIBHeader
    private let palette: [UInt32]
    private let red: Channel
    private let green: Channel
    private let blue: Channel
    private let alpha: Channel

    /// One channel of a pixel with bit fields, scaled to 8 bits with rounding.
    struct Channel {
        private let mask: UInt32
        private let shift: UInt32
        private let maximum: UInt64

        init(_ mask: UInt32) {
            self.mask = mask
            self.shift = mask == 0 ? 0 : UInt32(mask.trailingZeroBitCount)
            self.maximum = mask == 0 ? 1 : UInt64(mask >> self.shift)
        }

        var isPresent: Bool { mask != 0 }

        func value(_ pixel: UInt32) -> UInt8 {
            let value = UInt64((pixel & mask) >> shift)
            return UInt8(truncatingIfNeeded: (value * 255 + maximum / 2) / maximum)
        }
    }

    init(_ header: DIBHeader) {
        self.header = header
        // Indices past the end of the color table are black, as in Windows.
        let black = DIBHeader.opaque(0, 0, 0)
        self.palette = header.palette + [UInt32](repeating: black, count: 256 - header.palette.count)
        self.red = Channel(header.masks.red)
        self.green = Channel(header.masks.green)
        self.blue = Channel(header.masks.blue)
        self.alpha = Channel(header.masks.alpha)
    }

    var hasAlpha: Bool { alpha.isPresent }

    /// The size of a row without padding, in bytes.
    var rowBytes: Int { (header.size.width * header.bitsPerPixel + 7) / 8 }
    /// The distance between two rows, in bytes. Rows are padded to 32 bits.
    var stride: Int { (header.size.width * header.bitsPerPixel + 31) / 32 * 4 }

    /// Decodes all complete rows of `bytes`, in the order of the file, beginning with the row `first`. Returns the
    /// number of complete rows, including those before `first`.
    func decode(
        _ bytes: Slice<UnsafeBufferPointer<UInt8>>, from first: Int = 0, into canvas: borrowing PixelCanvas,
        context: ImageProcessingContext
    ) throws(ImageError) -> Int {
        let height = header.size.height
        for row in first..<height {
            if row % rowsPerCheckpoint == 0 { try context.checkCancellation() }
            let start = bytes.startIndex + (row - first) * stride
            guard start <= bytes.endIndex, bytes.endIndex - start >= rowBytes else { return row }
            let source = UnsafeBufferPointer(rebasing: bytes[start..<start + rowBytes])
            convert(source, into: canvas.row(header.isTopDown ? row : height - 1 - row))
        }
        return height
    }

    private func convert(_ source: UnsafeBufferPointer<UInt8>, into target: UnsafeMutablePointer<UInt8>) {
        let width = header.size.width
        switch header.bitsPerPixel {
        case 24:
            for x in 0..<width {
                target[x * 4] = source[x * 3 + 2]
                target[x * 4 + 1] = source[x * 3 + 1]
                target[x * 4 + 2] = source[x * 3]
                target[x * 4 + 3] = 255
            }
        case 16, 32:
            let step = header.bitsPerPixel / 8
            for x in 0..<width {
                var pixel: UInt32 = 0
                for byte in 0..<step { pixel |= UInt32(source[x * step + byte]) << UInt32(byte * 8) }
                target[x * 4] = red.value(pixel)
                target[x * 4 + 1] = green.value(pixel)
                target[x * 4 + 2] = blue.value(pixel)
                target[x * 4 + 3] = alpha.isPresent ? alpha.value(pixel) : 255
            }
        default:
            convertIndices(source, into: target, width: width)
        }
    }

    private func convertIndices(
        _ source: UnsafeBufferPointer<UInt8>, into target: UnsafeMutablePointer<UInt8>, width: Int
    ) {
        let bits = header.bitsPerPixel
        let perByte = 8 / bits
        let mask = UInt8(truncatingIfNeeded: (1 << bits) - 1)
        target.withMemoryRebound(to: UInt32.self, capacity: width) { pixels in
            for x in 0..<width {
                let shift = 8 - bits * (x % perByte + 1)
                pixels[x] = palette[Int(source[x / perByte] >> UInt8(shift) & mask)]
            }
        }
    }
}
