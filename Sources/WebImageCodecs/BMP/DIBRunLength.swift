// SPDX-License-Identifier: MIT

import WebImageCore

/// A decoder for RLE4, RLE8, and the RLE24 of OS/2 (Windows GDI, "Bitmap Compression"). Pixels that the data skips
/// keep their value. Runs that extend past the end of a row are truncated.
struct DIBRunLength {
    private let header: DIBHeader
    private var reader: ByteReader
    private var x = 0
    private var y = 0

    private enum Escape {
        static let endOfLine: UInt8 = 0
        static let endOfBitmap: UInt8 = 1
        static let delta: UInt8 = 2
    }

    init(_ header: DIBHeader, _ reader: ByteReader) {
        self.header = header
        self.reader = reader
    }

    /// Returns `false` if the data ends before the bitmap is complete.
    mutating func decode(
        into canvas: borrowing PixelCanvas, context: ImageProcessingContext
    ) throws(ImageError) -> Bool {
        var commands = 0
        while y < header.size.height {
            commands += 1
            if commands % 4096 == 1 { try context.checkCancellation() }
            guard let count = reader.byte() else { return isAtLastPixel }
            if count > 0 {
                guard drawRun(Int(count), on: canvas) else { return false }
                continue
            }
            guard let escape = reader.byte() else { return isAtLastPixel }
            switch escape {
            case Escape.endOfLine:
                x = 0
                y += 1
            case Escape.endOfBitmap:
                return true
            case Escape.delta:
                guard let right = reader.byte(), let up = reader.byte() else { return false }
                x += Int(right)
                y += Int(up)
            default:
                guard drawLiteral(Int(escape), on: canvas) else { return false }
            }
        }
        return true
    }

    /// Whether the last pixel was written. Some encoders omit the end marker, which loses no pixels.
    private var isAtLastPixel: Bool { y == header.size.height - 1 && x >= header.size.width }

    private mutating func drawRun(_ count: Int, on canvas: borrowing PixelCanvas) -> Bool {
        if header.compression == .runLength24 {
            guard let colour = readColor() else { return false }
            for _ in 0..<count { put(colour, on: canvas) }
            return true
        }
        guard let value = reader.byte() else { return false }
        for place in 0..<count { put(color(of: value, place), on: canvas) }
        return true
    }

    private mutating func drawLiteral(_ count: Int, on canvas: borrowing PixelCanvas) -> Bool {
        if header.compression == .runLength24 {
            for _ in 0..<count {
                guard let colour = readColor() else { return false }
                put(colour, on: canvas)
            }
            return count % 2 == 0 || reader.skip(1)
        }
        let bytes = header.compression == .runLength4 ? (count + 1) / 2 : count
        var value: UInt8 = 0
        for place in 0..<count {
            if header.compression == .runLength8 || place % 2 == 0 {
                guard let next = reader.byte() else { return false }
                value = next
            }
            put(color(of: value, place), on: canvas)
        }
        // Literals are padded to 16 bits.
        return bytes % 2 == 0 || reader.skip(1)
    }

    private func color(of value: UInt8, _ place: Int) -> UInt32 {
        let index =
            header.compression == .runLength8 ? Int(value) : Int(place % 2 == 0 ? value >> 4 : value & 15)
        return index < header.palette.count ? header.palette[index] : DIBHeader.opaque(0, 0, 0)
    }

    private mutating func readColor() -> UInt32? {
        guard let blue = reader.byte(), let green = reader.byte(), let red = reader.byte() else { return nil }
        return DIBHeader.opaque(red, green, blue)
    }

    private mutating func put(_ colour: UInt32, on canvas: borrowing PixelCanvas) {
        guard x < header.size.width, y < header.size.height else { return }
        let row = header.isTopDown ? y : header.size.height - 1 - y
        canvas.baseAddress.storeBytes(of: colour, toByteOffset: row * canvas.bytesPerRow + x * 4, as: UInt32.self)
        x += 1
    }
}
