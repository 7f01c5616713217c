// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Animated files: scenarios of other libraries")
struct AnimationFaultTests {
    /// Returns a GIF of 2 × 2 pixels with two colors and the given blocks.
    private func gif(_ blocks: [[UInt8]]) -> Data {
        Data(Array("GIF89a".utf8) + [2, 0, 2, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255] + blocks.joined() + [0x3B])
    }

    private func control(disposal: UInt8 = 0, transparent: UInt8? = nil, delay: Int = 10) -> [UInt8] {
        [
            0x21, 0xF9, 4, disposal << 2 | (transparent == nil ? 0 : 1), UInt8(delay & 0xFF), UInt8(delay >> 8),
            transparent ?? 0, 0,
        ]
    }

    private func loop(_ count: Int) -> [UInt8] {
        [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, UInt8(count & 0xFF), UInt8(count >> 8), 0]
    }

    /// Returns an image block of uncompressed 3-bit codes.
    private func frame(_ indices: [UInt8], x: UInt8 = 0, y: UInt8 = 0, width: UInt8 = 2, height: UInt8 = 2) -> [UInt8] {
        let codes: [UInt8] = indices.flatMap { [4, $0] as [UInt8] } + [5]
        let bits: [UInt8] = codes.flatMap { code in (0..<3).map { code >> UInt8($0) & 1 } }
        var body = [UInt8](repeating: 0, count: (bits.count + 7) / 8)
        for (index, bit) in bits.enumerated() { body[index / 8] |= bit << UInt8(index % 8) }
        return [0x2C, x, 0, y, 0, width, 0, height, 0, 0, 2, UInt8(body.count)] + body + [0]
    }

    private func decode(_ data: Data) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(
            data, options: ImageDecodingOptions(), context: ImageProcessingContext())
    }

    /// Returns `R`, `B`, or `-` for each pixel.
    private func text(_ pixels: PixelBuffer) -> String {
        (0..<pixels.height).map { y in
            (0..<pixels.width).map { x in
                let pixel = pixels.pixel(x: x, y: y)
                return pixel?.alpha == 0 ? "-" : pixel?.red == 255 ? "R" : "B"
            }.joined()
        }.joined()
    }

    @Test("F-09: The last of several control blocks before a GIF frame applies")
    func severalControls() throws {
        let image = try decode(
            gif([
                frame([0, 0, 0, 0]),
                control(disposal: 2, transparent: 1, delay: 20), control(disposal: 1, transparent: 0, delay: 50),
                frame([0, 1, 1, 0]), control(delay: 30), frame([1], width: 1, height: 1),
            ]))
        let animation = try #require(image.animation)
        #expect(animation.timeline.durations == [100, 500, 300])
        #expect(try (0..<3).map { text(try animation.frame(at: $0)) } == ["RRRR", "RBBR", "BBBR"])
    }

    @Test("F-10: An empty frame of a GIF takes its time and changes nothing, or the file is rejected", arguments: 0..<3)
    func emptyFrame(position: Int) throws {
        for (width, height) in [(0, 2), (2, 0), (0, 0)] as [(UInt8, UInt8)] {
            var blocks = [
                control(delay: 20) + frame([0, 0, 0, 0]), control(delay: 20) + frame([1, 1, 1, 1]),
                control(delay: 20) + frame([0, 1, 1, 0]),
            ]
            blocks[position] = control(delay: 40) + frame([], width: width, height: height)
            let image: DecodedImage
            do {
                image = try decode(gif(blocks))
            } catch let error as ImageError {
                #expect((4_000..<7_000).contains(error.code), "\(error)")
                continue
            }
            guard let animation = image.animation else { continue }
            #expect(animation.timeline.durations.count >= 2)
            for index in animation.timeline.durations.indices {
                #expect(try animation.frame(at: index).size == image.size)
            }
            if animation.timeline.durations.count == 3 {
                #expect(animation.timeline.durations[position] == 400)
                if position > 0 {
                    #expect(text(try animation.frame(at: position)) == text(try animation.frame(at: position - 1)))
                }
            }
        }
    }

    @Test(
        "F-11: Frames that extend beyond the canvas are cropped, and no pixel outside is drawn",
        arguments: [(1, 1), (0, 1), (1, 0), (2, 0), (9, 9), (255, 255)] as [(UInt8, UInt8)])
    func beyondTheCanvas(x: UInt8, y: UInt8) throws {
        let image = try decode(
            gif([frame([0, 0, 0, 0]), control() + frame([1, 1, 1, 1], x: x, y: y)]))
        let animation = try #require(image.animation)
        #expect(image.size == PixelSize(width: 2, height: 2))
        let expected = (0..<4).map { $0 % 2 >= Int(x) && $0 / 2 >= Int(y) ? "B" : "R" }.joined()
        #expect(text(try animation.frame(at: 1)) == expected)
    }

    @Test("F-11: An animated PNG or WebP file with a frame beyond the canvas shows only its canvas or is rejected")
    func beyondOtherCanvases() throws {
        var parts = PNGParts(try Fixture.named("apng-rgba-cover.png").data())
        let frame = parts.offsets(of: "fcTL")[4]
        parts.chunks[frame].body.replaceSubrange(12..<16, with: [0, 0, 0, 200])
        let still = try decode(parts.file)
        #expect(!still.isAnimated)
        for fixture in Fixture.animations where fixture.format == .webp {
            var data = try fixture.data()
            guard let start = data.range(of: Data("ANMF".utf8)) else { continue }
            // The horizontal position of the first frame, in units of two pixels.
            data[start.upperBound + 4] = 0xFF
            do {
                let image = try decode(data)
                #expect(image.size == fixture.size)
            } catch let error as ImageError {
                #expect((4_000..<7_000).contains(error.code))
            }
        }
    }

    @Test("C-08: Delays of 1.27, 2.56, and 600 seconds are preserved by decoding and encoding")
    func longDelays() throws {
        let image = try decode(
            gif(
                [127, 256, 60_000].enumerated().map { index, delay in
                    control(delay: delay) + frame(index == 1 ? [1, 1, 1, 1] : [0, 0, 0, UInt8(index / 2)])
                }))
        let expected = [1_270, 2_560, 600_000]
        #expect(image.animation?.timeline.durations == expected)
        for encoding in [ImageEncoding.gif, .apng, .webp(quality: 80)] {
            let data = try ImageCoderRegistry.standard.encode(image, as: encoding, context: ImageProcessingContext())
            let durations = try #require(try decode(data).animation).timeline.durations
            // The denominator of a PNG delay has 16 bits, so the longest delay is rounded.
            #expect(zip(durations, expected).allSatisfy { abs($0 - $1) <= 20 } && durations.count == 3, "\(encoding)")
        }
    }

    @Test(
        "G-11: A GIF without a loop count plays once, a count of 0 means indefinitely, and others count repetitions",
        arguments: [(nil, 1), (0, 0), (1, 2), (2, 3), (65_535, 65_536)] as [(Int?, Int)])
    func loopCounts(stored: Int?, expected: Int) throws {
        let data = gif([stored.map(loop) ?? [], frame([0, 0, 0, 0]), control() + frame([1, 1, 1, 1])])
        #expect(try decode(data).animation?.timeline.loopCount == expected)
    }
}
