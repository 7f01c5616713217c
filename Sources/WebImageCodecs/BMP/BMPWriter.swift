// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// An encoder for bitmaps (Microsoft's BITMAPINFOHEADER and BITMAPV4HEADER).
enum BMPWriter {
    static let maxDimension = 32_767

    static func encode(_ picture: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> Data {
        try requireEncodable(picture, as: .bmp, maxDimension: maxDimension)
        let pixels = try picture.eightBits(context: context)
        let headerSize = pixels.isOpaque ? 40 : 108
        let body = try rows(of: pixels, hasAlpha: !pixels.isOpaque, context: context)
        let offset = BMPCoder.fileHeaderSize + headerSize
        var file = Data(capacity: offset + body.count)
        file.append(contentsOf: [0x42, 0x4D])
        file.appendLittle(UInt32(clamping: offset + body.count))
        file.appendLittle(UInt32(0))
        file.appendLittle(UInt32(offset))
        file.append(header(pixels, headerSize: headerSize, height: pixels.height, byteCount: body.count))
        file.append(body)
        return file
    }

    /// Returns the header of a bitmap. `height` is the stored height, which is twice the height of the image in icons.
    static func header(_ pixels: PixelBuffer, headerSize: Int, height: Int, byteCount: Int) -> Data {
        let hasMasks = headerSize >= 108
        var header = Data()
        header.appendLittle(UInt32(headerSize))
        header.appendLittle(UInt32(pixels.width))
        header.appendLittle(UInt32(height))
        header.appendLittle(UInt16(1))
        header.appendLittle(UInt16(pixels.isOpaque && headerSize == 40 && height == pixels.height ? 24 : 32))
        // Headers with masks use bit fields. 2,835 pixels per meter are 72 dots per inch.
        for value in [hasMasks ? 3 : 0, UInt32(clamping: byteCount), 2_835, 2_835, 0, 0] { header.appendLittle(value) }
        guard hasMasks else { return header }
        for mask: UInt32 in [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000] { header.appendLittle(mask) }
        // The color space is "sRGB", so its endpoints and gamma values are ignored.
        header.appendLittle(UInt32(0x7352_4742))
        header.append(Data(count: headerSize - header.count))
        return header
    }

    /// Returns rows from bottom to top, in the order blue, green, red, padded to 32 bits.
    static func rows(
        of pixels: PixelBuffer, hasAlpha: Bool, context: ImageProcessingContext
    ) throws(ImageError) -> Data {
        let channels = hasAlpha ? 4 : 3
        let padding = [UInt8](repeating: 0, count: -pixels.width * channels & 3)
        var body = Data(capacity: (pixels.width * channels + 3) * pixels.height)
        for row in (0..<pixels.height).reversed() {
            if row % rowsPerCheckpoint == 0 { try context.checkCancellation() }
            var line = AlphaUnpremultiplier.rows(of: pixels, from: row, count: 1)
            var end = 0
            for start in stride(from: 0, to: line.count, by: 4) {
                let (red, green, blue, alpha) = (line[start], line[start + 1], line[start + 2], line[start + 3])
                line[end] = blue
                line[end + 1] = green
                line[end + 2] = red
                if hasAlpha { line[end + 3] = alpha }
                end += channels
            }
            body.append(contentsOf: line[..<end])
            body.append(contentsOf: padding)
        }
        return body
    }
}

extension Data {
    mutating func appendLittle(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}
