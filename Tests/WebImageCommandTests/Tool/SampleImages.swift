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
}
