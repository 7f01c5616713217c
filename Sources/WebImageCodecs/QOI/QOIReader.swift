// SPDX-License-Identifier: MIT

import WebImageCore

/// A decoder for the pixels of a QOI file (qoiformat.org, version 1.0).
struct QOIReader {
    let size: PixelSize
    let hasAlpha: Bool
    /// Whether the samples are linear light instead of sRGB.
    let isLinear: Bool
    private var reader: ByteReader
    private var seen = [QOIPixel](repeating: .none, count: 64)
    private var pixel = QOIPixel.first
    /// The remaining number of repetitions of the current pixel.
    private var run: UInt8 = 0

    /// Throws ``ImageError/DecodingFailure/Reason/truncated(receivedBytes:expectedBytes:)`` or
    /// ``ImageError/DecodingFailure/Reason/corrupted(_:)``.
    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageError) {
        reader = ByteReader(bytes, at: 4)
        guard let width = reader.uint32(), let height = reader.uint32(), let channels = reader.byte(),
            let space = reader.byte()
        else {
            throw .decoding(.truncated(format: .qoi, receivedBytes: bytes.count, expectedBytes: nil))
        }
        size = PixelSize(width: Int(width.byteSwapped), height: Int(height.byteSwapped))
        guard bytes.starts(with: [0x71, 0x6F, 0x69, 0x66]), !size.isEmpty, channels == 3 || channels == 4 else {
            throw .decoding(.corrupted(format: .qoi, reason: "invalid header: \(size) with \(channels) channels"))
        }
        hasAlpha = channels == 4
        isLinear = space == 1
    }

    /// Decodes pixels with straight alpha into a canvas of the same size. Returns the number of pixels in the data.
    mutating func decode(
        into canvas: borrowing PixelCanvas, context: ImageProcessingContext
    ) throws(ImageError) -> Int {
        for y in 0..<size.height {
            if y % rowsPerCheckpoint == 0 { try context.checkCancellation() }
            let row = canvas.row(y)
            for x in 0..<size.width {
                guard step() else { return y * size.width + x }
                row[x * 4] = pixel.red
                row[x * 4 + 1] = pixel.green
                row[x * 4 + 2] = pixel.blue
                row[x * 4 + 3] = hasAlpha ? pixel.alpha : 255
            }
        }
        return size.width * size.height
    }

    /// Advances to the next pixel. Returns `false` at the end of the data.
    private mutating func step() -> Bool {
        if run > 0 {
            run -= 1
            return true
        }
        guard let tag = reader.byte() else { return false }
        switch tag {
        case QOIPixel.rgb, QOIPixel.rgba:
            guard let red = reader.byte(), let green = reader.byte(), let blue = reader.byte() else { return false }
            if tag == QOIPixel.rgba {
                guard let alpha = reader.byte() else { return false }
                pixel.alpha = alpha
            }
            (pixel.red, pixel.green, pixel.blue) = (red, green, blue)
        default:
            guard short(tag) else { return false }
        }
        seen[pixel.tableIndex] = pixel
        return true
    }

    private mutating func short(_ tag: UInt8) -> Bool {
        switch tag & 0xC0 {
        case QOIPixel.index: pixel = seen[Int(tag)]
        case QOIPixel.difference:
            pixel.red &+= (tag >> 4 & 3) &- 2
            pixel.green &+= (tag >> 2 & 3) &- 2
            pixel.blue &+= (tag & 3) &- 2
        case QOIPixel.luma:
            guard let rest = reader.byte() else { return false }
            let green = (tag & 0x3F) &- 32
            pixel.red &+= green &- 8 &+ (rest >> 4)
            pixel.green &+= green
            pixel.blue &+= green &- 8 &+ (rest & 15)
        default: run = tag & 0x3F
        }
        return true
    }
}
