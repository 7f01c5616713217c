// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("GIF animations")
struct GIFAnimationTests {
    /// Returns a GIF of 2 × 2 pixels with two colors. Each frame is a list of blocks.
    private func gif(_ blocks: [[UInt8]], trailer: Bool = true) -> Data {
        var bytes: [UInt8] = Array("GIF89a".utf8) + [2, 0, 2, 0, 0x80, 0, 0]
        bytes += [255, 0, 0, 0, 0, 255]
        for block in blocks { bytes += block }
        return Data(bytes + (trailer ? [0x3B] : []))
    }

    private func control(disposal: UInt8 = 0, transparent: UInt8? = nil, delay: UInt8 = 10) -> [UInt8] {
        [0x21, 0xF9, 4, disposal << 2 | (transparent == nil ? 0 : 1), delay, 0, transparent ?? 0, 0]
    }

    /// Returns an image block with 3-bit indices and without a dictionary, so that the data stays readable: clear
    /// codes, pixels, and an end code.
    private func frame(
        _ indices: [UInt8], x: UInt8 = 0, y: UInt8 = 0, width: UInt8 = 2, height: UInt8 = 2
    ) -> [UInt8] {
        var bits: [Bool] = []
        let codes: [UInt8] = indices.flatMap { [4, $0] as [UInt8] } + [5]
        for code in codes {
            for bit in 0..<3 { bits.append(code >> UInt8(bit) & 1 == 1) }
        }
        var body = [UInt8](repeating: 0, count: (bits.count + 7) / 8)
        for (place, bit) in bits.enumerated() where bit { body[place / 8] |= 1 << UInt8(place % 8) }
        return [0x2C, x, 0, y, 0, width, 0, height, 0, 0, 2, UInt8(body.count)] + body + [0]
    }

    private func decode(_ data: Data, partial: Bool = false) throws -> DecodedImage {
        try GIFCoder().decode(
            data, info: nil, options: ImageDecodingOptions(allowsPartialData: partial),
            context: ImageProcessingContext())
    }

    /// Returns `R`, `B`, or `-` for each pixel.
    private func text(_ pixels: PixelBuffer) -> String {
        var text = ""
        for y in 0..<pixels.height {
            for x in 0..<pixels.width {
                let pixel = pixels.pixel(x: x, y: y)
                text += pixel?.alpha == 0 ? "-" : pixel?.red == 255 ? "R" : "B"
            }
        }
        return text
    }

    @Test("An extension whose first sub-block is empty has no further ones", arguments: [0xF9, 0xFF, 0xFE, 0x01])
    func emptyExtension(label: UInt8) throws {
        let data = gif([[0x21, label, 0], frame([0, 1, 1, 0]), [0x21, label, 0], frame([1, 1, 1, 1])])
        let image = try decode(data)
        #expect(image.animation?.frameCount == 2 && text(image.pixels) == "RBBR")
        #expect(try ImageInfo(data: data).frameCount == 2)
        let decoder = try ImageCoderRegistry.standard.makeProgressiveDecoder(for: data, options: ImageDecodingOptions())
        try decoder?.append(data, isLast: true, context: ImageProcessingContext())
        let preview = try decoder?.makePreview(context: ImageProcessingContext())
        #expect(try text(#require(preview).image.pixels) == "RBBR")
    }

    @Test("Delays follow the rule of browsers, and an animation without a loop block plays once")
    func delays() throws {
        let frames = [control(delay: 0), control(delay: 1), control(delay: 2), []]
        let image = try decode(gif(frames.map { $0 + frame([0, 0, 0, 0]) }))
        #expect(image.animation?.timeline.durations == [100, 100, 20, 100])
        #expect(image.animation?.timeline.loopCount == 1)
    }

    @Test("A frame with holes that claims to cover the canvas isn't used as a key frame")
    func falseKeyFrame() throws {
        // The second frame ends after one pixel. The pixels below it must stay visible, regardless of the decoding
        // order.
        let data = gif([
            frame([0, 1, 0, 1]), control() + frame([1]), control(transparent: 0) + frame([1, 0, 0, 0]),
        ])
        let forward = try #require(decode(data).animation)
        let expected = try (0..<3).map { text(try forward.frame(at: $0)) }
        #expect(expected == ["RBRB", "BBRB", "BBRB"])
        for start in [2, 1] {
            let animation = try #require(decode(data).animation)
            #expect(text(try animation.frame(at: start)) == expected[start])
            #expect(text(try animation.frame(at: 0)) == expected[0])
        }
    }

    @Test("A disposal that restores the previous canvas can reach back several frames")
    func restoreChain() throws {
        let data = gif([
            frame([0, 0, 0, 0]), control(disposal: 3) + frame([1], width: 1, height: 1),
            control(disposal: 3) + frame([1], x: 1, width: 1, height: 1),
            control(disposal: 2) + frame([1], y: 1, width: 1, height: 1),
            control() + frame([1], x: 1, y: 1, width: 1, height: 1),
        ])
        let animation = try #require(decode(data).animation)
        let expected = ["RRRR", "BRRR", "RBRR", "RRBR", "RR-B"]
        for place in [0, 1, 2, 3, 4, 2, 4, 1, 3] { #expect(text(try animation.frame(at: place)) == expected[place]) }
    }

    @Test("A truncated last frame is dropped or, if partial images are allowed, drawn partially")
    func cutFrame() throws {
        let whole = frame([0, 0, 0, 0])
        let cut = Array(frame([1, 1, 1, 1]).dropLast(3))
        let data = gif([whole, whole, cut], trailer: false)
        #expect(try decode(data).frameCount == 2)
        let partial = try decode(data, partial: true)
        #expect(partial.frameCount == 3)
        #expect(partial.metadata.isPartial)
        #expect(text(try #require(partial.animation).frame(at: 2)).hasPrefix("B"))
        #expect(try !decode(gif([whole, whole], trailer: false)).metadata.isPartial)
    }

    @Test("The canvas grows to contain the first frame, and later frames are cropped")
    func beyondTheScreen() throws {
        let data = gif([frame([1, 0, 0, 1], x: 1, y: 2), frame([0, 0, 0, 0], x: 2, y: 1)])
        let image = try decode(data)
        #expect(image.size == PixelSize(width: 3, height: 4))
        #expect(try ImageInfo(data: data).storedSize == image.size)
        let frames = try (0..<2).map { text(try #require(image.animation).frame(at: $0)) }
        #expect(frames == ["-------BR-RB", "-----R-BR-RB"])
    }

    @Test("Threads can request any frames at the same time")
    func threads() async throws {
        let fixture = try Fixture.named("mixed.gif")
        let animation = try #require(fixture.decode().animation)
        let expected = try fixture.expectedFrames()
        await withTaskGroup(of: Bool.self) { group in
            for seed in 0..<8 {
                group.addTask {
                    var generator = SeededGenerator(UInt64(seed))
                    return (0..<40).allSatisfy { _ in
                        let place = Int.random(in: 0..<expected.count, using: &generator)
                        return (try? animation.frame(at: place))?.packedBytes() == expected[place]
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
