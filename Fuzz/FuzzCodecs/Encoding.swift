// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import WebImageCore

@testable import WebImageCodecs

/// Fuzzing of encoders with arbitrary pixels, metadata, and options.
enum Encoding {
    private static let formats = [
        ImageFormat.jpeg, .png, .gif, .webp, .bmp, .qoi, .ppm, .pgm, .pam, .ico, .tiff, .avif, .jxl,
    ].filter(ImageCoderRegistry.standard.canEncode)

    /// Encodes an image with up to four frames and with the end of the input as metadata, and decodes the result.
    static func run(_ bytes: UnsafeRawBufferPointer) {
        var choices = FuzzChoices(bytes)
        let size = PixelSize(width: choices.number(in: 1...24), height: choices.number(in: 1...24))
        let frameCount = choices.number(in: 1...4)
        var encoding = ImageEncoding(format: choices.element(of: formats))
        encoding.isLossless = choices.isTrue()
        encoding.quality = choices.number(in: 1...100)
        encoding.effort = 1
        let isOpaque = choices.isTrue()
        let data = choices.rest
        let frames = (0..<frameCount).compactMap { frame($0, size, isOpaque, data) }
        guard let first = frames.first else { return }
        let image =
            frames.count == 1
            ? DecodedImage(pixels: first)
            : try? DecodedImage(
                animation: ImageAnimation(frames: frames.map { (pixels: $0, duration: Duration.milliseconds(20)) }))
        guard let image,
            let file = try? ImageCoderRegistry.standard.encode(image, as: encoding, context: Decoding.context)
        else { return }
        let result = try? ImageCoderRegistry.standard.decode(file, context: Decoding.context)
        require(result?.size == size, "An encoded \(encoding.formatOrAutomatic) can't be decoded.")
    }

    /// Converts pixels with the input as their color profile.
    static func convert(_ bytes: UnsafeRawBufferPointer) {
        guard let conversion = ColorConversion(profile: Array(bytes)) else { return }
        var row = (0..<64).map { UInt8($0 * 4) }
        row.withUnsafeMutableBufferPointer { row in
            guard let start = row.baseAddress else { return }
            conversion.convert(start, count: 16)
        }
    }

    /// Returns a frame whose pixels are the input.
    private static func frame(_ number: Int, _ size: PixelSize, _ isOpaque: Bool, _ data: Data) -> PixelBuffer? {
        var position = number * 3
        func next() -> UInt8 {
            position += 1
            return data.isEmpty ? 0 : data[data.startIndex + position % data.count]
        }
        guard let canvas = try? PixelCanvas(size: size) else { return nil }
        canvas.withUnsafeMutableBytes { bytes in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let alpha = isOpaque ? 255 : next()
                    let pixel = SIMD4(min(next(), alpha), min(next(), alpha), min(next(), alpha), alpha)
                    bytes.storeBytes(of: pixel, toByteOffset: y * canvas.bytesPerRow + x * 4, as: SIMD4<UInt8>.self)
                }
            }
        }
        return canvas.finish(isOpaque: isOpaque)
    }
}
