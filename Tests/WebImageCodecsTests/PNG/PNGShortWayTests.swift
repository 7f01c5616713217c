// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageTestBasics

@testable import WebImageCodecs

/// libpng decodes all previews, so the previews are the reference.
@Suite("PNG decoding with libdeflate and with libpng", .timeLimit(.minutes(5)))
struct PNGShortWayTests {
    /// Decodes the complete file with libpng.
    private func byLibpng(_ data: Data) throws -> DecodedImage? {
        let start = try ImageCoderRegistry.standard.progressiveStart(
            data, options: ImageDecodingOptions(color: .source), context: ImageProcessingContext())
        guard case .decoder(let decoder, _) = start else { return nil }
        try decoder.append(data, isLast: true, context: ImageProcessingContext())
        return try decoder.makePreview(context: ImageProcessingContext())?.image
    }

    private func bothWays(_ data: Data, _ name: String) {
        let quick = try? ImageCoderRegistry.standard.decode(
            data, options: ImageDecodingOptions(color: .source), context: ImageProcessingContext())
        // Previews don't require the data after the last pixel.
        guard let quick, let slow = try? byLibpng(data) else { return }
        #expect(quick.pixels.hasSamePixels(as: slow.pixels) && quick.isOpaque == slow.isOpaque, "\(name)")
    }

    @Test(
        "Both decoders return the same pixels for gray, gray with alpha, and palette images", arguments: [1, 2, 4, 8],
        [UInt8(0), 3, 4])
    func same(_ bits: Int, _ type: UInt8) {
        guard type != 4 || bits == 8 else { return }
        var random = SeededGenerator(UInt64(bits) * 8 + UInt64(type))
        for width in Array(1...40) + [255, 256, 257, 1_000] {
            var picture = HandmadePNG(
                width: width, height: 13, channels: type == 4 ? 2 : 1, bits: bits, using: &random)
            picture.colorType = type
            if type == 3 {
                // Some palettes have fewer colors than indices. Indices beyond the palette are black.
                let colors = Int.random(in: 1...(1 << bits), using: &random)
                let bytes = (0..<colors * 4).map { _ in UInt8.random(in: 0...255, using: &random) }
                picture.extras = [("PLTE", Array(bytes.prefix(colors * 3)))]
                if width % 2 == 0 { picture.extras.append(("tRNS", Array(bytes.suffix((colors + 1) / 2)))) }
            } else if type == 0, width % 3 == 0 {
                let key = UInt8.random(in: 0...255, using: &random)
                picture.extras = [("tRNS", [UInt8.random(in: 0...255, using: &random), key])]
            }
            #expect(
                (try? ImageCoderRegistry.standard.decode(
                    picture.bytes(),
                    context: ImageProcessingContext())) != nil)
            bothWays(picture.bytes(), "\(bits) bits, type \(type), \(width) wide")
        }
    }

    @Test("Both decoders return the same pixels for every filter and extreme samples", arguments: [UInt8(0), 4])
    func extremes(_ type: UInt8) {
        var random = SeededGenerator(5 + UInt64(type))
        for filter in 0...4 {
            var picture = HandmadePNG(width: 67, height: 9, channels: type == 4 ? 2 : 1, using: &random)
            picture.colorType = type
            for index in picture.samples.indices { picture.samples[index] = Bool.random(using: &random) ? 0 : 255 }
            picture.filters = [UInt8](repeating: UInt8(filter), count: 9)
            bothWays(picture.bytes(), "filter \(filter)")
        }
    }

    @Test(
        "Both decoders return the same pixels for every conformance file",
        .enabled(if: Conformance.directory != nil, "the conformance files aren't available"))
    func conformance() throws {
        let files = try Conformance.rows([.png]).map(\.file) + Conformance.malformed([.png]).map(\.file)
        for file in files {
            let data = try Conformance.data(file)
            if data.count < 2 << 20 { bothWays(data, file) }
        }
        #expect(files.count > 100)
    }

    @Test("Corrupt files are rejected or decoded at the correct size")
    func damage() {
        var random = SeededGenerator(31)
        var picture = HandmadePNG(width: 19, height: 11, channels: 1, using: &random)
        picture.colorType = 3
        picture.extras = [("PLTE", (0..<90).map { UInt8($0) }), ("tRNS", [1, 2, 3])]
        picture.chunkSize = 40
        let whole = picture.bytes()
        for _ in 0..<1_500 {
            var damaged = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                damaged[Int.random(in: 26..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let image = try? ImageCoderRegistry.standard.decode(damaged, context: ImageProcessingContext())
            #expect(image == nil || image?.size == PixelSize(width: 19, height: 11))
        }
    }
}
