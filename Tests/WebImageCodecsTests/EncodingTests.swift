// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Encoding")
struct EncodingTests {
    private func decoded(_ data: Data, _ format: ImageFormat) throws -> DecodedImage {
        try coder(for: format).decode(
            data, info: nil, options: ImageDecodingOptions(),
            context: ImageProcessingContext())
    }

    @Test("PNG and lossless WebP preserve every pixel", arguments: [ImageEncoding.png, .webp.lossless])
    func lossless(_ encoding: ImageEncoding) throws {
        let pictures = [
            try PixelPatterns.photo(width: 67, height: 45),
            try PixelPatterns.photo(width: 33, height: 21, hasAlpha: true),
            try PixelPatterns.everyPremultipliedValue(),
        ]
        for pixels in pictures {
            let image = try decoded(PixelPatterns.encode(pixels, as: encoding), encoding.formatOrAutomatic)
            // A comparison of arrays inside `#expect` would print and diff all bytes.
            #expect(image.pixels.hasSamePixels(as: pixels))
            #expect(image.isOpaque == pixels.isOpaque)
        }
    }

    @Test("The PNG effort doesn't change the pixels", arguments: [0, 1, 9])
    func effort(_ effort: Int) throws {
        let pixels = try PixelPatterns.photo(width: 60, height: 60)
        let image = try decoded(PixelPatterns.encode(pixels, as: .png(effort: effort)), .png)
        #expect(image.pixels.packedBytes() == pixels.packedBytes())
    }

    @Test(
        "Lossy formats stay similar to the original",
        arguments: [
            ImageEncoding.jpeg(quality: 80), .jpeg(quality: 95), .jpeg(quality: 85, isProgressive: true), .webp,
        ])
    func lossy(_ encoding: ImageEncoding) throws {
        let pixels = try PixelPatterns.photo(width: 121, height: 77)
        let data = try PixelPatterns.encode(pixels, as: encoding)
        #expect(similarity(try decoded(data, encoding.formatOrAutomatic).pixels, pixels) > 30)
    }

    @Test("A progressive JPEG has a progressive frame header")
    func progressive() throws {
        let data = try PixelPatterns.encode(
            PixelPatterns.photo(width: 40, height: 40), as: .jpeg(quality: 90, isProgressive: true))
        #expect(data.firstRange(of: Data([0xFF, 0xC2])) != nil)
    }

    @Test("Transparent pixels have the background color in a JPEG")
    func background() throws {
        let clear = try PixelPatterns.make(width: 16, height: 16, isOpaque: false) { _, _ in SIMD4(0, 0, 0, 0) }
        var encoding = ImageEncoding.jpeg(quality: 95)
        #expect(try decoded(PixelPatterns.encode(clear, as: encoding), .jpeg).pixels.pixel(x: 3, y: 3)?.red == 255)
        encoding.background = PixelColor(red: 255, green: 0, blue: 0)
        let red = try #require(try decoded(PixelPatterns.encode(clear, as: encoding), .jpeg).pixels.pixel(x: 3, y: 3))
        #expect(red.red > 250 && red.green < 5 && red.blue < 5)
    }

    @Test("Options out of range throw typed errors")
    func badOptions() throws {
        let pixels = try PixelPatterns.photo(width: 8, height: 8)
        #expect(throws: ImageError.request(.invalidOption(name: "effort", value: "10"))) {
            try PixelPatterns.encode(pixels, as: .png(effort: 10))
        }
        #expect(throws: ImageError.request(.invalidOption(name: "iconDimensions", value: "[0]"))) {
            try PixelPatterns.encode(pixels, as: .ico(dimensions: [0]))
        }
    }

    @Test("An image that is too wide for the format throws a typed error")
    func tooWide() throws {
        let strip = try PixelPatterns.make(width: 16_384, height: 1, isOpaque: true) { _, _ in SIMD4(1, 2, 3, 255) }
        #expect { try PixelPatterns.encode(strip, as: .webp) } throws: { ($0 as? ImageError)?.code == 5005 }
    }

    @Test("Encoders stop if the request is canceled", arguments: [ImageEncoding.jpeg, .png, .webp])
    func cancelled(_ encoding: ImageEncoding) throws {
        let flag = CancellationFlag()
        flag.cancel()
        let image = DecodedImage(pixels: try PixelPatterns.photo(width: 64, height: 64))
        #expect(throws: ImageError.cancelled) {
            try coder(for: encoding.formatOrAutomatic).encode(
                image, as: encoding, context: ImageProcessingContext(isCancelled: { flag.isCancelled }))
        }
    }

    @Test("The standard registry decodes and encodes the documented formats")
    func registry() {
        for format in [ImageFormat.jpeg, .png, .apng, .gif, .webp, .bmp, .ico, .cur] {
            #expect(ImageCoderRegistry.standard.canDecode(format))
        }
        for format in [ImageFormat.jpeg, .png, .apng, .gif, .webp, .bmp, .ico] {
            #expect(ImageCoderRegistry.standard.canEncode(format))
        }
        #expect(!ImageCoderRegistry.standard.canEncode(.svg))
    }
}
