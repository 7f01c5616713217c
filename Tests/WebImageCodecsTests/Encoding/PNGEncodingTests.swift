// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Encoding PNG")
struct PNGEncodingTests {
    /// The color type and the bit depth from IHDR (PNG Third Edition, section 11.2.1).
    private struct Kind: Equatable {
        var type: Int
        var bits: Int

        init(_ type: Int, _ bits: Int) { (self.type, self.bits) = (type, bits) }

        init(_ data: Data) { self.init(Int(data[25]), Int(data[24])) }
    }

    private func roundTrip(_ pixels: PixelBuffer) throws -> Kind {
        let data = try PixelPatterns.encode(pixels, as: .png)
        let image = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
        if pixels.format == .rgba8 {
            #expect(image.pixels.hasSamePixels(as: pixels))
            if Tools.hasPillow {
                let agrees = areEqual(premultiplied(try Tools.pillow(data)), pixels.packedBytes())
                #expect(agrees, "Pillow")
            }
        }
        if Tools.hasPngcheck { try Tools.run(["/usr/bin/pngcheck", "-q", "picture.png"], data, as: "picture.png") }
        return Kind(data)
    }

    /// Returns an image with `count` colors that use the values of `alphas` in turn.
    private func palette(_ count: Int, alphas: [Int] = [255], width: Int = 61) throws -> PixelBuffer {
        try PixelPatterns.make(width: width, height: 47, isOpaque: alphas == [255]) { x, y in
            let number = (y * 61 + x) % count
            let alpha = alphas[number % alphas.count]
            let colour = SIMD3(number * 251 % 256, number / 256 * 90 + number * 7 % 150, 255 - number % 256)
            let parts = (colour &* alpha &+ 127) / 255
            return SIMD4(UInt8(parts.x), UInt8(parts.y), UInt8(parts.z), UInt8(alpha))
        }
    }

    @Test("Few colors become a palette with the smallest sufficient bit depth")
    func palettes() throws {
        for (count, bits) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 4), (16, 4), (17, 8), (256, 8)] {
            #expect(try roundTrip(palette(count)) == Kind(3, bits), "\(count)")
        }
        #expect(try roundTrip(palette(257)) == Kind(2, 8))
        // In this case, the palette would be larger than the bytes that it saves.
        #expect(try roundTrip(palette(200, width: 3)) == Kind(2, 8))
    }

    @Test("A palette can contain transparency")
    func transparentPalettes() throws {
        #expect(try roundTrip(palette(30, alphas: [255, 0, 128, 7])) == Kind(3, 8))
        #expect(try roundTrip(palette(4, alphas: [0, 255])) == Kind(3, 2))
        #expect(try roundTrip(palette(300, alphas: [255, 90])) == Kind(6, 8))
    }

    @Test("Gray images are written as grayscale with the smallest sufficient bit depth")
    func gray() throws {
        func gray(_ values: [Int], alphas: [Int] = [255]) throws -> PixelBuffer {
            try PixelPatterns.make(width: 61, height: 47, isOpaque: alphas == [255]) { x, y in
                let alpha = alphas[(x + y) % alphas.count]
                let value = UInt8((values[(x + y * 3) % values.count] * alpha + 127) / 255)
                return SIMD4(value, value, value, UInt8(alpha))
            }
        }
        #expect(try roundTrip(gray([0, 255])) == Kind(0, 1))
        #expect(try roundTrip(gray([0, 85, 170, 255])) == Kind(0, 2))
        #expect(try roundTrip(gray((0..<16).map { $0 * 17 })) == Kind(0, 4))
        #expect(try roundTrip(gray(Array(0..<256))) == Kind(0, 8))
        // Three shades that fit into two bits only with a palette.
        #expect(try roundTrip(gray([1, 2, 3])) == Kind(3, 2))
        #expect(try roundTrip(gray(Array(0..<256), alphas: [255, 128, 3])) == Kind(4, 8))
        #expect(try roundTrip(PixelPatterns.everyPremultipliedValue()) == Kind(4, 8))
    }

    @Test("16-bit pixels keep their depth", arguments: [false, true])
    func wide(_ hasAlpha: Bool) throws {
        let pixels = try PixelPatterns.wideGradient(hasAlpha: hasAlpha)
        #expect(try roundTrip(pixels) == Kind(hasAlpha ? 6 : 2, 16))
        let gray = try PixelPatterns.wide(width: 20, height: 9, isOpaque: true) { x, y in
            let value = UInt16(x * 3_000 + y)
            return SIMD4(value, value, value, 65_535)
        }
        #expect(try roundTrip(gray) == Kind(0, 16))
        guard Tools.hasPillow, !hasAlpha else { return }
        let script = "import PIL.Image; open('out','wb').write(PIL.Image.open('picture').tobytes())"
        let data = try Tools.output(
            "out", ["/usr/bin/python3", "-c", script], PixelPatterns.encode(gray, as: .png), as: "picture")
        // Mode `I` has 32 bits in little-endian order.
        let values = stride(from: 0, to: data.count, by: 4).map { Int(data[$0]) | Int(data[$0 + 1]) << 8 }
        #expect(values == (0..<180).map { $0 % 20 * 3_000 + $0 / 20 })
    }

    @Test("ImageMagick reads the 16-bit color samples that were written")
    func wideColour() throws {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/convert") else { return }
        let pixels = try PixelPatterns.wideGradient()
        let data = try PixelPatterns.encode(pixels, as: .png)
        let words = ["/usr/bin/convert", "picture.png", "-depth", "16", "-endian", "LSB", "rgba:out"]
        let read = try Tools.output("out", words, data, as: "picture.png")
        #expect([UInt8](read) == pixels.packedBytes())
    }

    @Test("Random images with few colors survive a round trip", arguments: 1...12 as ClosedRange<UInt64>)
    func random(_ seed: UInt64) throws {
        var numbers = SeededGenerator(seed)
        let count = Int.random(in: 1...300, using: &numbers)
        let colours = (0..<count).map { _ in
            let alpha = [0, 255, 255, Int.random(in: 0...255, using: &numbers)].randomElement(using: &numbers) ?? 255
            let parts = (0..<3).map { _ in UInt8(alpha == 0 ? 0 : Int.random(in: 0...alpha, using: &numbers)) }
            return SIMD4<UInt8>(parts[0], parts[1], parts[2], UInt8(alpha))
        }
        let side = Int.random(in: 1...70, using: &numbers)
        let pixels = try PixelPatterns.make(width: side, height: 33, isOpaque: false) { _, _ in
            colours.randomElement(using: &numbers) ?? SIMD4(0, 0, 0, 0)
        }
        let image = try ImageCoderRegistry.standard.decode(
            PixelPatterns.encode(pixels, as: .png), context: ImageProcessingContext())
        #expect(image.pixels.packedBytes() == pixels.packedBytes())
    }
}
