// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore

/// An encoder for icons.
enum ICOWriter {
    static let maxDimension = 256
    /// The minimum side for PNG. From this size on, PNG is smaller, and every system that supports such sizes supports
    /// PNG.
    private static let minPNGDimension = 64

    static func encode(
        _ pixels: PixelBuffer, as encoding: ImageEncoding, context: ImageProcessingContext
    ) throws(ImageError) -> Data {
        let pictures = try sizes(try pixels.eightBits(context: context), encoding.iconDimensions, context)
        var bodies: [Data] = []
        for picture in pictures {
            try requireEncodable(picture, as: .ico, maxDimension: maxDimension)
            bodies.append(try body(picture, as: encoding, context: context))
        }
        var file = Data()
        for value in [0, 1, UInt16(pictures.count)] { file.appendLittle(value) }
        var offset = 6 + pictures.count * 16
        for (picture, body) in zip(pictures, bodies) {
            // 256 doesn't fit into a byte and is stored as 0.
            file.append(contentsOf: [UInt8(picture.width & 0xFF), UInt8(picture.height & 0xFF), 0, 0])
            file.appendLittle(UInt16(1))
            file.appendLittle(UInt16(32))
            file.appendLittle(UInt32(body.count))
            file.appendLittle(UInt32(offset))
            offset += body.count
        }
        for body in bodies { file.append(body) }
        return file
    }

    private static func sizes(_ pixels: PixelBuffer, _ sides: [Int], _ context: ImageProcessingContext)
        throws(ImageError) -> [PixelBuffer]
    {
        guard !sides.isEmpty else { return [pixels] }
        guard sides.count <= 64, sides.allSatisfy({ (1...maxDimension).contains($0) }) else {
            throw .request(.invalidOption(name: "iconDimensions", value: "\(sides)"))
        }
        let longer = max(pixels.width, pixels.height)
        var pictures: [PixelBuffer] = []
        for side in sides where side <= longer {
            let plan = try TargetSize.fit(width: Double(side), height: Double(side)).plan(for: pixels.size)
            pictures.append(
                try Resampler.resample(
                    pixels, window: plan.window, to: plan.output, filter: .lanczos3, context: context))
        }
        return pictures.isEmpty ? [pixels] : pictures
    }

    private static func body(_ pixels: PixelBuffer, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        guard max(pixels.width, pixels.height) < minPNGDimension else {
            return try PNGCoder().encode(
                DecodedImage(pixels: pixels),
                as: ImageEncoding(format: .png, isLossless: true, effort: encoding.effort), context: context)
        }
        let rows = try BMPWriter.rows(of: pixels, hasAlpha: true, context: context)
        // The alpha channel is complete. The mask repeats it for decoders that don't support alpha.
        let maskRow = (pixels.width + 31) / 32 * 4
        var mask = [UInt8](repeating: 0, count: maskRow * pixels.height)
        for y in 0..<pixels.height {
            for x in 0..<pixels.width where pixels.pixel(x: x, y: y)?.alpha == 0 {
                mask[(pixels.height - 1 - y) * maskRow + x / 8] |= 0x80 >> UInt8(x % 8)
            }
        }
        var body = BMPWriter.header(
            pixels, headerSize: 40, height: pixels.height * 2, byteCount: rows.count + mask.count)
        body.append(rows)
        body.append(contentsOf: mask)
        return body
    }
}
