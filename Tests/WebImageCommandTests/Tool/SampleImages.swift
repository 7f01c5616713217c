// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// Images for tests of the tool, encoded by the library's own encoders.
enum SampleImages {
    /// Returns an image with a gradient.
    static func image(width: Int, height: Int) throws -> DecodedImage {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
        let stride = canvas.bytesPerRow
        canvas.withUnsafeMutableBytes { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    let offset = y * stride + x * 4
                    bytes[offset] = UInt8(x * 255 / width)
                    bytes[offset + 1] = UInt8(y * 255 / height)
                    bytes[offset + 2] = 128
                    bytes[offset + 3] = 255
                }
            }
        }
        return DecodedImage(pixels: canvas.finish(isOpaque: true))
    }

    static func png(width: Int = 64, height: Int = 48) throws -> Data {
        try ImageCoderRegistry.standard.encode(
            image(width: width, height: height), as: .png, context: ImageProcessingContext())
    }

    static func jpeg(width: Int = 64, height: Int = 48) throws -> Data {
        try ImageCoderRegistry.standard.encode(
            image(width: width, height: height), as: .jpeg, context: ImageProcessingContext())
    }

    /// Returns a JPEG file of 64 × 64 pixels with a gain map.
    static func gainMapJPEG() throws -> Data {
        let size = 64
        func pixels(_ value: (Int) -> UInt8) throws -> PixelBuffer {
            let canvas = try PixelCanvas(size: PixelSize(width: size, height: size))
            canvas.withUnsafeMutableBytes { bytes in
                for row in 0..<size {
                    for index in 0..<size * 4 {
                        bytes[row * canvas.bytesPerRow + index] = index % 4 == 3 ? 255 : value(row)
                    }
                }
            }
            return canvas.finish(isOpaque: true)
        }
        let image = DecodedImage(pixels: try pixels { _ in 200 }).with(
            gainMap: GainMap(
                pixels: try pixels { UInt8($0 * 4) }, metadata: GainMapMetadata(gainMax: 2, alternateHeadroom: 2)))
        return try ImageCoderRegistry.standard.encode(image, as: ImageEncoding(format: .jpeg, quality: 95))
    }

    /// Returns a PNG file of 16 × 16 pixels, with red in the upper half and blue in the lower half.
    static func flag() throws -> Data {
        let canvas = try PixelCanvas(size: PixelSize(width: 16, height: 16))
        let stride = canvas.bytesPerRow
        canvas.withUnsafeMutableBytes { bytes in
            for y in 0..<16 {
                for x in 0..<16 {
                    bytes[y * stride + x * 4 + (y < 8 ? 0 : 2)] = 255
                    bytes[y * stride + x * 4 + 3] = 255
                }
            }
        }
        let image = DecodedImage(pixels: canvas.finish(isOpaque: true))
        return try ImageCoderRegistry.standard.encode(image, as: .png, context: ImageProcessingContext())
    }

    /// An endless animation of two frames of one pixel, red and blue, with 20 ms each.
    static let blinker: Data = {
        var bytes: [UInt8] = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]
        bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
        for color in [0x44, 0x4C] as [UInt8] {
            bytes += [0x21, 0xF9, 4, 0, 2, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, color, 1, 0]
        }
        return Data(bytes + [0x3B])
    }()
}
