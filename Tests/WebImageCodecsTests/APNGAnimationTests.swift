// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Animated PNG")
struct APNGAnimationTests {
    private func decode(_ data: Data, _ options: ImageDecodingOptions = ImageDecodingOptions()) throws -> DecodedImage {
        try PNGCoder().decode(data, info: nil, options: options, context: ImageProcessingContext())
    }

    private func parts(_ file: String) throws -> PNGParts { PNGParts(try Fixture.named(file).data()) }

    /// Returns the pixels of the still image of a file whose first frame is a different image.
    private func still(_ parts: PNGParts) throws -> [UInt8] {
        try decode(parts.without("acTL").file).pixels.packedBytes()
    }

    @Test("Delays are fractions of a second, a zero denominator means hundredths, and short delays become 100 ms")
    func delays() throws {
        var parts = try parts("apng-rgba.png")
        let fractions: [(UInt8, UInt8)] = [(1, 0), (5, 0), (1, 60), (0, 1), (2, 1), (1, 100), (11, 0)]
        for (place, fraction) in zip(parts.offsets(of: "fcTL"), fractions) {
            parts.chunks[place].body.replaceSubrange(20..<24, with: [0, fraction.0, 0, fraction.1])
        }
        let durations = try #require(decode(parts.file).animation).timeline.durations
        #expect(durations.prefix(7) == [100, 50, 17, 100, 2_000, 100, 110])
    }

    @Test(
        "An animation that breaks a rule of the format is decoded as its still image",
        arguments: 0..<9)
    func broken(_ rule: Int) throws {
        var parts = try parts("apng-rgba-cover.png")
        let expected = try still(parts)
        let controls = parts.offsets(of: "fcTL")
        let data = parts.offsets(of: "fdAT")
        switch rule {
        case 0: parts.chunks.swapAt(controls[2], controls[3])
        case 1: parts.chunks[data[1]].body[3] ^= 1
        case 2: parts.chunks.remove(at: data[0])
        case 3: parts.chunks[controls[4]].body[7] = 200
        case 4: parts.chunks[controls[4]].body[24] = 3
        case 5: parts.chunks[controls[4]].body[25] = 2
        case 6: parts.chunks[controls[4]].body.replaceSubrange(4..<8, with: [0, 0, 0, 0])
        case 7: parts.chunks[controls[4]].body.removeLast()
        default: parts.chunks[controls[4]].body.replaceSubrange(12..<16, with: [0xFF, 0xFF, 0xFF, 0xFF])
        }
        let image = try decode(parts.file)
        #expect(!image.isAnimated)
        #expect(image.pixels.packedBytes() == expected)
    }

    private func frames(_ image: DecodedImage) throws -> [[UInt8]] {
        try (0..<image.frameCount).map {
            try image.animation?.frame(at: $0).packedBytes() ?? image.pixels.packedBytes()
        }
    }

    @Test(
        "An animation has the frames in the file, even if it claims another number",
        arguments: ["apng-rgba.png", "apng-palette-cover.png"], [1, 2, 13, 15, 255, 0x7FFF_FFFF] as [UInt32])
    func claims(_ file: String, _ claim: UInt32) throws {
        let fixture = try Fixture.named(file)
        var parts = PNGParts(try fixture.data())
        let control = try #require(parts.offsets(of: "acTL").first)
        parts.chunks[control].body.replaceSubrange(0..<4, with: PNGParts.big(claim))
        let data = parts.file
        let info = try ImageInfo(data: data)
        #expect(info.frameCount == fixture.frames && info.format == .apng)
        // The registry checks the limits for the number of frames.
        let image = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
        #expect(image.frameCount == fixture.frames && !image.metadata.isPartial)
        let isSame = areEqual(try frames(image), try fixture.expectedFrames())
        #expect(isSame)
        let third = try decode(data, ImageDecodingOptions(frames: .index(2)))
        #expect(areEqual(third.pixels.packedBytes(), try fixture.expectedFrames()[2]))
    }

    @Test("An animation of which one frame remains is a still image")
    func oneFrame() throws {
        let fixture = try Fixture.named("apng-rgba-cover.png")
        var parts = PNGParts(try fixture.data())
        let second = parts.offsets(of: "fcTL")[1]
        parts.chunks.removeSubrange(second..<parts.chunks.count - 1)
        let image = try decode(parts.file)
        #expect(!image.isAnimated && !image.metadata.isPartial)
        #expect(areEqual(image.pixels.packedBytes(), try fixture.expectedFrames()[0]))
        #expect(try ImageInfo(data: parts.file).frameCount == 1)
    }

    @Test("The frames that the file has count toward the limit, and not the claimed ones")
    func frameLimit() throws {
        let fixture = try Fixture.named("apng-rgb.png")
        var parts = PNGParts(try fixture.data())
        let control = try #require(parts.offsets(of: "acTL").first)
        parts.chunks[control].body.replaceSubrange(0..<4, with: PNGParts.big(2))
        var limits = ImageLimits.desktop
        limits.maxFrames = fixture.frames - 1
        #expect(
            throws: ImageError.limitExceeded(
                ImageError.LimitFailure(.frameCount, limit: fixture.frames - 1, actual: fixture.frames))
        ) {
            try ImageCoderRegistry.standard.decode(parts.file, context: ImageProcessingContext(limits: limits))
        }
    }

    @Test(
        "The animation of a bug report has its three frames",
        .enabled(if: SharedCases.directory != nil, "the shared cases aren't available"))
    func report() throws {
        let data = try SharedCases.data("apng-3-claims-5.png")
        let image = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
        #expect(image.frameCount == 3 && !image.metadata.isPartial)
        #expect(try ImageInfo(data: data).frameCount == 3)
    }

    @Test("The first frame is decoded without reading the other frames")
    func firstFrame() throws {
        let fixture = try Fixture.named("apng-palette-cover.png")
        var parts = PNGParts(try fixture.data())
        // Remove all data of the later frames.
        parts.chunks.removeSubrange((parts.offsets(of: "fcTL")[1] + 1)...)
        let image = try decode(parts.file, ImageDecodingOptions(frames: .first))
        #expect(image.pixels.packedBytes() == (try fixture.expectedFrames()[0]))
        #expect(!image.isAnimated)
    }

    @Test("A truncated animation returns its complete frames", arguments: [false, true])
    func cut(_ allowsPartial: Bool) throws {
        let fixture = try Fixture.named("apng-rgba.png")
        let data = try fixture.data()
        let expected = try fixture.expectedFrames()
        let options = ImageDecodingOptions(allowsPartialData: allowsPartial)
        var counts: Set<Int> = []
        for part in 3..<20 {
            let cut = data.prefix(data.count * part / 20)
            guard allowsPartial || (try? decode(cut, options)) != nil else {
                // Even the first frame is incomplete.
                #expect { try decode(cut, options) } throws: { ($0 as? ImageError)?.code == 4005 }
                continue
            }
            let image = try decode(cut, options)
            #expect(image.metadata.isPartial)
            counts.insert(image.frameCount)
            for place in 0..<image.frameCount {
                guard let animation = image.animation else { continue }
                #expect(try animation.frame(at: place).packedBytes() == expected[place], "\(part)/20, \(place)")
            }
        }
        #expect(counts.count > 5)
        // Only the end chunk is missing.
        let whole = try decode(data.dropLast(12), options)
        #expect(whole.frameCount == fixture.frames && !whole.metadata.isPartial)
    }

    @Test("A truncated animation has the frame before an incomplete control or end chunk")
    func cutInControl() throws {
        let fixture = try Fixture.named("apng-rgba-cover.png")
        let data = try fixture.data()
        let parts = PNGParts(data)
        // The offset of each chunk.
        let starts = parts.chunks.reduce(into: [8]) { $0.append(($0.last ?? 8) + 12 + $1.body.count) }
        for (index, control) in parts.offsets(of: "fcTL").enumerated().dropFirst(3).prefix(3) {
            for extra in [8, 20, 37] {
                let image = try decode(data.prefix(starts[control] + extra))
                #expect(image.frameCount == index && image.metadata.isPartial, "frame \(index), \(extra) bytes")
            }
            // At the end of the data chunk, more data of the frame could follow.
            #expect(try decode(data.prefix(starts[control])).frameCount == index - 1)
        }
        for missing in 1...4 {
            let image = try decode(data.dropLast(missing))
            #expect(image.frameCount == fixture.frames && image.metadata.isPartial)
        }
    }

    @Test("Translucent pixels are blended over the existing pixels")
    func blending() throws {
        var parts = PNGParts(
            try PixelPatterns.encode(
                PixelPatterns.make(width: 2, height: 1, isOpaque: false) { x, _ in
                    x == 0 ? SIMD4(200, 0, 0, 255) : SIMD4(0, 0, 0, 0)
                }, as: .png))
        let above = PNGParts(
            try PixelPatterns.encode(
                PixelPatterns.make(width: 2, height: 1, isOpaque: false) { _, _ in
                    SIMD4(0, 64, 0, 128)
                }, as: .png))
        let data = try #require(above.chunks.first { $0.name == "IDAT" }).body
        let control: [UInt8] = [0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 20, 0]
        parts.chunks.insert(.init(name: "acTL", body: [0, 0, 0, 2, 0, 0, 0, 0]), at: 1)
        parts.chunks.insert(.init(name: "fcTL", body: [0, 0, 0, 0] + control + [0]), at: 2)
        parts.chunks.insert(.init(name: "fcTL", body: [0, 0, 0, 1] + control + [1]), at: parts.chunks.count - 1)
        parts.chunks.insert(.init(name: "fdAT", body: [0, 0, 0, 2] + data), at: parts.chunks.count - 1)
        let frame = try #require(decode(parts.file).animation).frame(at: 1)
        #expect(frame.packedBytes() == [100, 64, 0, 255, 0, 64, 0, 128])
    }

    @Test("Frames have the requested size")
    func smaller() throws {
        let image = try decode(
            Fixture.named("apng-rgb.png").data(), ImageDecodingOptions(size: .fit(width: 16, height: 16, unit: .pixels))
        )
        #expect(image.size == PixelSize(width: 16, height: 10))
        #expect(try image.animation?.frame(at: 7).size == image.size)
    }

    @Test("Chunks in random order result in an image or a typed error")
    func disorder() throws {
        var generator = SeededGenerator(41)
        let originals = try ["apng-rgba.png", "apng-rgb-cover.png", "apng-palette.png"].map { try parts($0) }
        for round in 0..<600 {
            var parts = originals[round % originals.count]
            for _ in 0...Int.random(in: 0..<3, using: &generator) {
                let place = Int.random(in: 1..<parts.chunks.count, using: &generator)
                switch Int.random(in: 0..<5, using: &generator) {
                case 0: parts.chunks.remove(at: place)
                case 1: parts.chunks.insert(parts.chunks[place], at: place)
                case 2: parts.chunks.swapAt(place, Int.random(in: 1..<parts.chunks.count, using: &generator))
                case 3: parts.chunks[place].body = Array(parts.chunks[place].body.dropLast())
                default:
                    guard let at = parts.chunks[place].body.indices.randomElement(using: &generator) else { continue }
                    parts.chunks[place].body[at] = .random(in: 0...255, using: &generator)
                }
            }
            do {
                let image = try PNGCoder().decode(
                    parts.file, info: nil, options: ImageDecodingOptions(allowsPartialData: round % 2 == 0),
                    context: ImageProcessingContext(limits: .icon))
                for place in 0..<image.frameCount { _ = try image.animation?.frame(at: place) }
            } catch {
                #expect(error.code >= 1_000)
            }
        }
    }
}
