// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageTestBasics

@Suite("Hash placeholders and colors")
struct HashTests {
    private func smooth(_ width: Int, _ height: Int, alpha: Bool = false) throws -> PixelBuffer {
        try PixelMaking.buffer(width, height, isOpaque: !alpha) { x, y in
            let a = alpha ? x * 255 / width : 255
            return [x * 200 / width, y * 220 / height, 90].map { UInt8($0 * a / 255) } + [UInt8(a)]
        }
    }

    /// The expected values come from the formulas of the format description and were computed independently of this
    /// code.
    @Test("BlurHash draws the pixels that its specification defines")
    func blurHash() throws {
        let hash = try BlurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj")
        #expect(hash.componentsX == 4 && hash.componentsY == 3)
        #expect(hash.averageColor == PixelColor(red: 151, green: 150, blue: 149))
        let pixels = try hash.pixels(size: PixelSize(width: 4, height: 3))
        #expect(pixels.isOpaque)
        let expected: [UInt8] = [
            135, 164, 177, 161, 173, 177, 181, 180, 171, 160, 172, 174, 124, 154, 169, 148, 148, 154, 164, 145, 134,
            146, 152, 155, 124, 144, 154, 144, 134, 132, 163, 130, 104, 148, 140, 134,
        ]
        let drawn = pixels.packedBytes().enumerated().filter { $0.offset % 4 < 3 }.map(\.element)
        #expect(zip(drawn, expected).allSatisfy { abs(Int($0) - Int($1)) <= 1 }, "\(drawn)")
    }

    @Test("A BlurHash approximates its image, and parsing its text returns the same hash")
    func blurHashRound() throws {
        let picture = try smooth(40, 30)
        for (x, y) in [(1, 1), (4, 3), (9, 9)] {
            let hash = try BlurHash(encoding: picture, componentsX: x, componentsY: y)
            #expect(hash.string.count == 4 + 2 * x * y)
            #expect(try BlurHash(hash.string) == hash)
        }
        let drawn = try BlurHash(encoding: picture, componentsX: 6, componentsY: 6).pixels(size: picture.size)
        #expect(PixelMaking.psnr(drawn.packedBytes(), picture.packedBytes()) > 20)
        let flat = try PixelMaking.buffer(8, 8, isOpaque: true) { _, _ in [10, 200, 30, 255] }
        let color = try BlurHash(encoding: flat).averageColor
        #expect(color == PixelColor(red: 10, green: 200, blue: 30))
        #expect(throws: ImageError.self) { try BlurHash(encoding: flat, componentsX: 10) }
        #expect(throws: ImageError.self) { try BlurHash(encoding: flat, componentsY: 0) }
    }

    @Test(
        "ThumbHash draws the pixels that its specification defines",
        arguments: [
            (
                "3OcRJYB4d3h/iIeHeEh3eIhw+j2w", PixelSize(width: 32, height: 23), false,
                [[124.8, 137, 159.2, 255], [112.7, 124.9, 139.2, 255]]
            ),
            (
                "1QcSHQRnh493V4dIh4eXh1h4kJUI", PixelSize(width: 23, height: 32), false,
                [[64.4, 77.8, 113.4, 255], [140.4, 109.7, 88.9, 255]]
            ),
            (
                "YJqGPQw7sFlslqhFafSE+Q6oJ1h2iHB2Rw", PixelSize(width: 32, height: 32), true,
                [[0, 0, 0, 0], [107.2, 102.8, 109.4, 255]]
            ),
        ])
    func thumbHash(_ text: String, _ size: PixelSize, _ hasAlpha: Bool, _ expected: [[Double]]) throws {
        let padded = text + String(repeating: "=", count: (4 - text.count % 4) % 4)
        let hash = try ThumbHash(Array(try #require(Data(base64Encoded: padded))))
        #expect(hash.hasAlpha == hasAlpha && hash.naturalSize == size)
        let pixels = try hash.pixels()
        #expect(pixels.size == size && pixels.isOpaque == !hasAlpha)
        let bytes = pixels.packedBytes()
        for (place, color) in zip([0, size.height / 2 * size.width + size.width / 2], expected) {
            let drawn = bytes[place * 4..<place * 4 + 4]
            #expect(zip(drawn, color).allSatisfy { abs(Double($0) - $1) <= 1 }, "\(Array(drawn))")
        }
    }

    @Test("A ThumbHash approximates the shape, the color, and the alpha of its image")
    func thumbHashRound() throws {
        for (width, height) in [(40, 30), (30, 40), (200, 10), (1, 1), (300, 200)] {
            for alpha in [false, true] {
                let picture = try smooth(width, height, alpha: alpha)
                let hash = try ThumbHash(encoding: picture)
                #expect(hash.hasAlpha == alpha)
                #expect(try ThumbHash(hash.bytes) == hash)
                #expect(hash.bytes.count <= 25)
                if width == 40 || height == 40 {
                    #expect(abs(hash.aspectRatio - Double(width) / Double(height)) < 0.2)
                    let drawn = try hash.pixels(size: picture.size)
                    #expect(PixelMaking.psnr(drawn.packedBytes(), picture.packedBytes()) > 20)
                }
            }
        }
    }

    @Test("Invalid hashes throw a decode error, and valid hashes are drawn", arguments: 0..<4)
    func fuzz(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let good = try BlurHash(encoding: smooth(9, 7)).string
        let size = PixelSize(width: 5, height: 4)
        for _ in 0..<400 {
            var characters = Array(good)
            characters[Int.random(in: 0..<characters.count, using: &random)] = Character(
                Unicode.Scalar(UInt8.random(in: 32..<127, using: &random)))
            if Int.random(in: 0..<4, using: &random) == 0 { characters.removeLast() }
            do {
                _ = try BlurHash(String(characters)).pixels(size: size)
            } catch {
                #expect(error.code / 1_000 == 4, "\(error)")
            }
            let bytes = (0..<Int.random(in: 0..<30, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            do {
                _ = try ThumbHash(bytes).pixels(size: size)
            } catch {
                #expect(error.code / 1_000 == 4, "\(error)")
            }
        }
        for text in ["", "L", "LEHV6", "LEHV6nWB2yk8pyo0adR*.7kCMdn", "LEHV6nWB2yk8pyo0adR*.7kCMdnjj", "٣EHV6n", "🦜"] {
            #expect(throws: ImageError.self) { try BlurHash(text) }
        }
    }

    @Test("A BlurHash is described by its characters, and a ThumbHash is read from any sequence of bytes")
    func forms() throws {
        let text = "LEHV6nWB2yk8pyo0adR*.7kCMdnj"
        let hash = try BlurHash(text)
        #expect("\(hash)" == text)
        let thumb = try ThumbHash(encoding: smooth(8, 8))
        #expect(try ThumbHash(Data(thumb.bytes)) == thumb)
        #expect(try ThumbHash(AnySequence(thumb.bytes)) == thumb)
    }

    @Test("A BlurHash with an invalid first character reports the size digit")
    func sizeDigit() {
        // The last of the 83 digits is “~”, and the size digit is at most 80.
        #expect {
            try BlurHash("~EHV6nWB2yk8pyo0adR*.7kCMdnj")
        } throws: {
            ($0 as? ImageError)?.message.contains("82 isn't a valid size digit") ?? false
        }
    }

    @Test("Invalid sizes and contrasts and huge sizes throw typed errors")
    func hostile() throws {
        let hash = try BlurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj")
        let thumb = try ThumbHash(encoding: smooth(8, 8))
        for size in [PixelSize(width: 0, height: 4), PixelSize(width: 4, height: -1)] {
            #expect { try hash.pixels(size: size) } throws: { ($0 as? ImageError)?.code == 5001 }
            #expect { try thumb.pixels(size: size) } throws: { ($0 as? ImageError)?.code == 5001 }
        }
        let giant = PixelSize(width: 1 << 40, height: 1 << 40)
        #expect { try hash.pixels(size: giant) } throws: { (($0 as? ImageError)?.code ?? 0) / 1_000 == 6 }
        #expect { try thumb.pixels(size: giant) } throws: { (($0 as? ImageError)?.code ?? 0) / 1_000 == 6 }
        for punch in [Double.nan, .infinity, -1, 101] {
            #expect(throws: ImageError.self) { try hash.pixels(size: PixelSize(width: 4, height: 4), punch: punch) }
        }
    }

    @Test("The average color weights pixels by alpha, and the dominant color is the most frequent one")
    func colors() throws {
        let half = try PixelMaking.buffer(4, 1, isOpaque: false) { x, _ in x < 2 ? [200, 0, 0, 255] : [0, 0, 0, 0] }
        #expect(try half.averageColor() == PixelColor(red: 200, green: 0, blue: 0, alpha: 128))
        #expect(try PixelMaking.deep(half).averageColor() == PixelColor(red: 200, green: 0, blue: 0, alpha: 128))
        let mostly = try PixelMaking.buffer(90, 60, isOpaque: true) { x, _ in
            x < 60 ? [250, 120, 10, 255] : [0, 0, UInt8(x * 2), 255]
        }
        let color = try #require(try mostly.dominantColor())
        #expect(abs(Int(color.red) - 250) < 6 && abs(Int(color.green) - 120) < 6 && abs(Int(color.blue) - 10) < 6)
        let clear = try PixelMaking.buffer(4, 4, isOpaque: false) { _, _ in [0, 0, 0, 0] }
        #expect(try clear.dominantColor() == nil)
        #expect(try clear.averageColor() == .clear)
    }

    @Test("Colors are read without premultiplication, and points outside the image have no color")
    func reading() throws {
        let picture = try PixelMaking.buffer(3, 2, isOpaque: false) { x, y in [UInt8(x * 10), UInt8(y * 20), 0, 100] }
        #expect(
            picture.color(x: 2, y: 1) == PixelColor(red: 51, green: 51, blue: 0, alpha: 100))
        for (x, y) in [(3, 0), (0, -1), (Int.max, Int.min)] {
            #expect(picture.color(x: x, y: y) == nil)
        }
        #expect(picture.colors(in: PixelRect(x: -1, y: -1, width: 3, height: 2)).count == 2)
        #expect(picture.colors(in: PixelRect(x: .max, y: 0, width: .max, height: 5)).isEmpty)
    }
}
