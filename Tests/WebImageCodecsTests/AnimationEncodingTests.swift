// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Encoding animations")
struct AnimationEncodingTests {
    static let exact: [ImageEncoding] = [.gif, .apng, .webp.lossless]

    private func encode(_ image: DecodedImage, _ encoding: ImageEncoding) throws -> Data {
        try coder(for: encoding.formatOrAutomatic).encode(image, as: encoding, context: ImageProcessingContext())
    }

    private func decode(_ data: Data, _ format: ImageFormat) throws -> DecodedImage {
        try coder(for: format).decode(
            data, info: nil, options: ImageDecodingOptions(),
            context: ImageProcessingContext())
    }

    private func frames(_ image: DecodedImage) throws -> [[UInt8]] {
        try (0..<image.frameCount).map {
            try image.animation?.frame(at: $0).packedBytes() ?? image.pixels.packedBytes()
        }
    }

    /// Returns an animation of blocks with few colors and of holes that appear, disappear, and persist.
    static func blocks(
        seed: UInt64, count: Int, width: Int = 37, height: Int = 23, alphas: [UInt8] = [0, 255], loops: Int = 0
    ) throws -> DecodedImage {
        var generator = SeededGenerator(seed)
        var canvas = [SIMD4<UInt8>](repeating: SIMD4(0, 0, 0, 0), count: width * height)
        var frames: [(pixels: PixelBuffer, duration: Duration)] = []
        for place in 0..<count {
            for _ in 0..<3 {
                let alpha = alphas.randomElement(using: &generator) ?? 255
                let colour = SIMD4<UInt8>(
                    .random(in: 0...alpha, using: &generator), .random(in: 0...alpha, using: &generator),
                    .random(in: 0...alpha, using: &generator), alpha)
                let left = Int.random(in: 0..<width, using: &generator)
                let right = Int.random(in: left..<width, using: &generator)
                let top = Int.random(in: 0..<height, using: &generator)
                for y in top...Int.random(in: top..<height, using: &generator) {
                    for x in left...right { canvas[y * width + x] = colour }
                }
            }
            // Each frame differs from the previous one, because some encoders merge identical frames.
            canvas[0] = SIMD4(UInt8(place), 7, 9, 255)
            let isOpaque = canvas.allSatisfy { $0.w == 255 }
            let pixels = try PixelPatterns.make(width: width, height: height, isOpaque: isOpaque) { x, y in
                canvas[y * width + x]
            }
            frames.append((pixels: pixels, duration: Duration.milliseconds(20 + place % 5 * 10)))
        }
        return try DecodedImage(animation: ImageAnimation(frames: frames, loopCount: loops))
    }

    @Test("GIF, animated PNG, and lossless WebP preserve every frame", arguments: exact, [1, 2, 3, 4, 5, 6])
    func roundTrip(_ encoding: ImageEncoding, _ seed: UInt64) throws {
        let image = try Self.blocks(seed: seed, count: 12, loops: Int(seed) - 1)
        let back = try decode(encode(image, encoding), encoding.formatOrAutomatic)
        #expect(back.animation?.timeline == image.animation?.timeline)
        let isSame = areEqual(try frames(back), try frames(image))
        #expect(isSame)
    }

    @Test("Animated PNG and lossless WebP preserve translucent pixels", arguments: exact.dropFirst(), [1, 2, 3])
    func halfTransparent(_ encoding: ImageEncoding, _ seed: UInt64) throws {
        let image = try Self.blocks(seed: seed, count: 12, alphas: [0, 1, 100, 200, 255])
        let back = try decode(encode(image, encoding), encoding.formatOrAutomatic)
        let isSame = areEqual(try frames(back), try frames(image))
        #expect(isSame)
    }

    @Test("Transcoding an animation between two formats preserves its frames and its timeline", arguments: exact, exact)
    func transcoding(_ first: ImageEncoding, _ second: ImageEncoding) throws {
        for file in ["mixed.gif", "apng-rgba-cover.png", "apng-palette.png", "animated-background.webp"] {
            let image = try Fixture.named(file).decode()
            let once = try decode(encode(image, first), first.formatOrAutomatic)
            let twice = try decode(encode(once, second), second.formatOrAutomatic)
            #expect(twice.animation?.timeline == image.animation?.timeline, "\(file)")
            // These files have more than 255 colors per frame.
            if file.hasPrefix("apng-rgba"), first.format == .gif || second.format == .gif { continue }
            let isSame = areEqual(try frames(twice), try frames(image))
            #expect(isSame, "\(file)")
        }
    }

    @Test("Repeated frames keep their total duration", arguments: exact)
    func repeated(_ encoding: ImageEncoding) throws {
        let still = try PixelPatterns.photo(width: 9, height: 7)
        let other = try PixelPatterns.make(width: 9, height: 7, isOpaque: true) { x, y in
            SIMD4(UInt8(x), UInt8(y), 3, 255)
        }
        let timed = [(still, 50), (still, 70), (other, 30), (other, 90), (still, 20)].map {
            (pixels: $0.0, duration: Duration.milliseconds($0.1))
        }
        let image = try DecodedImage(animation: ImageAnimation(frames: timed))
        let back = try decode(encode(image, encoding), encoding.formatOrAutomatic)
        let total = try #require(back.animation).timeline.durations.reduce(0, +)
        #expect(total == 260)
        let isSame = try frames(back).last == frames(image).last
        #expect(isSame)
        if encoding.format != .webp { #expect(back.frameCount == 5) }
    }

    @Test(
        "A GIF of a photo is similar to it, and dithering increases the similarity at a reduced size",
        arguments: [true, false])
    func photograph(_ dithers: Bool) throws {
        let pixels = try PixelPatterns.photo(width: 160, height: 120)
        var encoding = ImageEncoding.gif
        encoding.usesDithering = dithers
        let back = try decode(encode(DecodedImage(pixels: pixels), encoding), .gif)
        #expect(!back.isAnimated)
        #expect(back.isOpaque)
        // Diffused errors are noise at full size and disappear at smaller sizes.
        #expect(similarity(back.pixels, pixels) > (dithers ? 29 : 32))
        let half = TargetSize.fit(width: 20, height: 15, unit: .pixels)
        // Dithering diffuses the errors of the stored values, so their average is that of the original.
        let reduction = ResizeTransformer(to: half, filter: .lanczos3(light: .encoded))
        let small = try reduction.transform(back.pixels, context: ImageProcessingContext())
        let wanted = try reduction.transform(pixels, context: ImageProcessingContext())
        #expect(similarity(small, wanted) > (dithers ? 44 : 36))
    }

    @Test("A still GIF preserves 256 colors")
    func allColours() throws {
        let pixels = try PixelPatterns.make(width: 16, height: 16, isOpaque: true) { x, y in
            SIMD4(UInt8(x * 16), UInt8(y * 16), UInt8(x ^ y), 255)
        }
        let back = try decode(encode(DecodedImage(pixels: pixels), .gif), .gif)
        #expect(back.pixels.hasSamePixels(as: pixels))
    }

    @Test("GIF compression preserves runs of any length", arguments: 1...40)
    func codes(_ seed: Int) throws {
        var generator = SeededGenerator(UInt64(seed))
        let colours = [2, 3, 4, 16, 17, 200, 255][seed % 7]
        let run = [1, 3, 50, 2_000][seed % 4]
        var left = 0
        var colour: UInt8 = 0
        let width = Int.random(in: 1...300, using: &generator)
        let pixels = try PixelPatterns.make(
            width: width, height: Int.random(in: 1...200, using: &generator), isOpaque: true
        ) { _, _ in
            if left == 0 {
                left = Int.random(in: 1...run, using: &generator)
                colour = UInt8(Int.random(in: 0..<colours, using: &generator))
            }
            left -= 1
            return SIMD4(colour, 255 - colour, 0, 255)
        }
        let back = try decode(encode(DecodedImage(pixels: pixels), .gif), .gif)
        #expect(back.pixels.hasSamePixels(as: pixels))
    }

    @Test("Only changed pixels are written", arguments: exact)
    func deltas(_ encoding: ImageEncoding) throws {
        var generator = SeededGenerator(3)
        let noise = (0..<200 * 150).map { _ in UInt8.random(in: 0..<64, using: &generator) }
        let frames = try (0..<10).map { place in
            try PixelPatterns.make(width: 200, height: 150, isOpaque: true) { x, y in
                x == place && y == 20 ? SIMD4(255, 255, 255, 255) : SIMD4(noise[y * 200 + x], 0, 0, 255)
            }
        }
        // Compare with two identical frames, because a still image may use fewer bits per pixel.
        func size(_ places: [Int]) throws -> Int {
            let timed = places.map { (pixels: frames[$0], duration: Duration.milliseconds(40)) }
            return try encode(DecodedImage(animation: ImageAnimation(frames: timed)), encoding).count
        }
        let still = try size([0, 0])
        let all = try size(Array(frames.indices))
        #expect(all < still + still / 4, "\(still) and \(all)")
    }

    @Test("The loop count and the frames can be selected", arguments: exact)
    func choices(_ encoding: ImageEncoding) throws {
        let image = try Self.blocks(seed: 8, count: 6)
        let expected = try frames(image)
        var chosen = encoding
        chosen.loopCount = 4
        chosen.frames = .range(2..<5)
        let part = try decode(encode(image, chosen), encoding.formatOrAutomatic)
        #expect(part.animation?.timeline == AnimationTimeline(loopCount: 4, durations: [40, 50, 60]))
        #expect(try frames(part) == Array(expected[2..<5]))
        for (frames, place) in [(.first, 0), (.range(3..<4), 3)] as [(FrameSelection, Int)] {
            chosen.frames = frames
            let still = try decode(encode(image, chosen), encoding.formatOrAutomatic)
            #expect(!still.isAnimated)
            #expect(still.pixels.packedBytes() == expected[place])
        }
        chosen.frames = .range(4..<7)
        #expect(throws: ImageError.request(.frameNotFound(index: 6, frameCount: 6))) { try encode(image, chosen) }
        chosen = encoding
        chosen.loopCount = -1
        #expect(throws: ImageError.request(.invalidOption(name: "loopCount", value: "-1"))) {
            try encode(image, chosen)
        }
    }

    @Test("For formats without animation, the registry encodes the first selected frame")
    func stills() throws {
        let image = try Self.blocks(seed: 2, count: 4)
        var encoding = ImageEncoding.png
        encoding.frames = .range(2..<4)
        let data = try ImageCoderRegistry.standard.encode(image, as: encoding, context: ImageProcessingContext())
        #expect(try decode(data, .png).pixels.packedBytes() == frames(image)[2])
        let poster = try ImageCoderRegistry.standard.encode(image, as: .png, context: ImageProcessingContext())
        #expect(try decode(poster, .png).frameCount == 1)
    }

    @Test("Encoders obey cancellation and the limits", arguments: exact)
    func limits(_ encoding: ImageEncoding) throws {
        let image = try Self.blocks(seed: 1, count: 5)
        let flag = CancellationFlag()
        flag.cancel()
        #expect(throws: ImageError.cancelled) {
            try coder(for: encoding.formatOrAutomatic).encode(
                image, as: encoding, context: ImageProcessingContext(isCancelled: { flag.isCancelled }))
        }
        var limits = ImageLimits.desktop
        limits.maxFrames = 4
        #expect(throws: ImageError.limitExceeded(ImageError.LimitFailure(.frameCount, limit: 4, actual: 5))) {
            try coder(for: encoding.formatOrAutomatic).encode(
                image, as: encoding, context: ImageProcessingContext(limits: limits))
        }
    }

    @Test("Lossy WebP animations are similar to the original and keep their durations")
    func lossy() throws {
        let pictures = try (0..<4).map { place in
            try PixelPatterns.make(width: 64, height: 48, isOpaque: true) { x, y in
                SIMD4(UInt8(x * 3), UInt8(y * 4), UInt8(place * 60), 255)
            }
        }
        let timed = pictures.map { (pixels: $0, duration: Duration.milliseconds(60)) }
        let image = try DecodedImage(animation: ImageAnimation(frames: timed, loopCount: 2))
        let back = try decode(encode(image, .webp(quality: 85)), .webp)
        #expect(back.animation?.timeline == image.animation?.timeline)
        for place in 0..<4 { #expect(similarity(try #require(back.animation).frame(at: place), pictures[place]) > 30) }
    }
}
