// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestBasics

/// Small generated images, whose colors depend on a number.
package enum TestImages {
    /// Returns a PNG file of `width` × `height` pixels. Equal arguments result in equal data.
    package static func png(_ number: Int, width: Int = 64, height: Int = 48) throws -> Data {
        try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: pixels(number, width: width, height: height)), as: .png,
            context: ImageProcessingContext())
    }

    /// Returns the file of ``png(_:width:height:)`` with pixels that can't be decompressed. Only a wrong checksum isn't enough,
    /// because such an image is decoded.
    package static func corruptPNG(_ number: Int) throws -> Data {
        var file = try png(number)
        let name = try #require(file.firstRange(of: Data("IDAT".utf8)))
        // The first byte of the compressed data is the compression method.
        file[name.upperBound] = 0xFF
        return file
    }

    /// Returns the pixels of ``png(_:width:height:)``, a gradient over a color that depends on the number.
    package static func pixels(_ number: Int, width: Int = 64, height: Int = 48) throws -> PixelBuffer {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
        let stride = canvas.bytesPerRow
        canvas.withUnsafeMutableBytes { bytes in
            guard let first = bytes.baseAddress else { return }
            for x in 0..<width {
                bytes[x * 4] = UInt8(truncatingIfNeeded: number * 37)
                bytes[x * 4 + 1] = UInt8(truncatingIfNeeded: number >> 3 &* 53)
                bytes[x * 4 + 2] = UInt8(x * 255 / max(1, width - 1))
                bytes[x * 4 + 3] = 255
            }
            // All rows are equal.
            for y in 1..<max(1, height) { memcpy(first + y * stride, first, width * 4) }
        }
        return canvas.finish(isOpaque: true)
    }

    /// Returns a new temporary directory, which is removed when the object is deallocated.
    package static func temporaryDirectory() throws -> TemporaryDirectory { try TemporaryDirectory() }
}
