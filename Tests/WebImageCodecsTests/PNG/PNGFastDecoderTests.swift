// SPDX-License-Identifier: MIT

import CPNG
import Foundation
import Testing
import WebImageCore

@testable import WebImageCodecs

@Suite("PNG files that are decompressed in one step")
struct PNGFastDecoderTests {
    private func rows(_ image: DecodedImage) -> [UInt8] {
        image.pixels.withUnsafeBytes { bytes in
            (0..<image.pixels.size.height).flatMap { row in
                let start = row * image.pixels.bytesPerRow
                return Array(bytes[start..<(start + image.pixels.size.width * 4)])
            }
        }
    }

    private func decode(_ data: Data, partial: Bool = false) throws -> DecodedImage {
        var options = ImageDecodingOptions()
        options.allowsPartialData = partial
        return try ImageCoderRegistry.standard.decode(data, options: options, context: ImageProcessingContext())
    }

    @Test(
        "Every sequence of filters returns the samples, regardless of the width and the chunk size", arguments: [3, 4])
    func filters(_ channels: Int) throws {
        var random = SeededGenerator(UInt64(channels))
        for width in Array(1...40) + [255, 256, 257] {
            var picture = HandmadePNG(width: width, height: 13, channels: channels, using: &random)
            picture.chunkSize = [11, 50, 700, 1 << 16][width % 4]
            #expect(try rows(decode(picture.bytes())) == picture.expected, "width \(width)")
        }
    }

    @Test("Extreme samples are decoded with every filter")
    func extremes() throws {
        var random = SeededGenerator(9)
        for channels in [3, 4] {
            for filter in 0...4 {
                var picture = HandmadePNG(width: 33, height: 8, channels: channels, using: &random)
                for index in picture.samples.indices { picture.samples[index] = Bool.random(using: &random) ? 0 : 255 }
                picture.filters = [UInt8](repeating: UInt8(filter), count: 8)
                #expect(try rows(decode(picture.bytes())) == picture.expected, "filter \(filter)")
            }
        }
    }

    @Test("Errors in the data throw, and truncated data returns its rows if partial images are allowed")
    func damage() throws {
        var random = SeededGenerator(4)
        var picture = HandmadePNG(width: 20, height: 30, channels: 3, using: &random)
        let whole = picture.bytes()
        // Test truncated data, an invalid filter, and too few rows.
        let cut = Data(whole.prefix(whole.count / 2))
        #expect(throws: ImageError.self) { try decode(cut) }
        let part = try decode(cut, partial: true)
        #expect(part.metadata.isPartial == true && rows(part).prefix(20 * 4 * 8) == picture.expected.prefix(20 * 4 * 8))
        picture.filters[11] = 5
        #expect(throws: ImageError.self) { try decode(picture.bytes()) }
        picture.filters[11] = 0
        let short = Array(picture.stream().prefix(500))
        #expect(throws: ImageError.self) { try decode(picture.bytes(short)) }
    }

    @Test("Corrupt data returns an error or an image of the correct size")
    func fuzz() throws {
        var random = SeededGenerator(77)
        var picture = HandmadePNG(width: 9, height: 12, channels: 4, using: &random)
        picture.chunkSize = 50
        let whole = picture.bytes()
        for _ in 0..<3_000 {
            var damaged = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                damaged[Int.random(in: 33..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) {
                damaged = damaged.prefix(Int.random(in: 40...damaged.count, using: &random))
            }
            guard let image = try? decode(Data(damaged), partial: Bool.random(using: &random)) else { continue }
            #expect(image.pixels.size == PixelSize(width: 9, height: 12))
        }
    }
}
