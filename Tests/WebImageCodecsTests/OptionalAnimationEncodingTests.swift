// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Encoding animations in optional formats")
struct OptionalAnimationEncodingTests {
    private static let formats = [ImageFormat.avif, .jxl].filter(ImageCoderRegistry.standard.canEncode)

    private func roundTrip(_ image: DecodedImage, _ encoding: ImageEncoding) throws -> DecodedImage {
        let registry = ImageCoderRegistry.standard
        return try registry.decode(
            registry.encode(image, as: encoding, context: ImageProcessingContext()), context: ImageProcessingContext())
    }

    private func frames(_ image: DecodedImage) throws -> [[UInt8]] {
        try (0..<image.frameCount).map {
            try image.animation?.frame(at: $0).packedBytes() ?? image.pixels.packedBytes()
        }
    }

    @Test("Lossless animations preserve every frame", arguments: formats, [1, 2, 3, 4] as [UInt64])
    func lossless(_ format: ImageFormat, _ seed: UInt64) throws {
        let alphas: [UInt8] = [[255], [0, 255], [0, 1, 100, 200, 255], [255]][Int(seed) - 1]
        let image = try AnimationEncodingTests.blocks(seed: seed, count: 10, alphas: alphas, loops: Int(seed) - 1)
        let back = try roundTrip(image, ImageEncoding(format: format, isLossless: true))
        #expect(back.animation?.timeline.durations == image.animation?.timeline.durations)
        #expect(back.animation?.timeline.loopCount == Int(seed) - 1)
        let isSame = areEqual(try frames(back), try frames(image))
        #expect(isSame)
        let backwards = try (0..<10).reversed().map { try back.animation?.frame(at: $0).packedBytes() }
        let isSameBackwards = try backwards.reversed() == frames(image)
        #expect(isSameBackwards)
    }

    @Test("Transparency that starts in a later frame is preserved", arguments: formats)
    func laterAlpha(_ format: ImageFormat) throws {
        let opaque = try PixelPatterns.photo(width: 30, height: 20)
        let clear = try PixelPatterns.photo(width: 30, height: 20, hasAlpha: true)
        let timed = [opaque, clear, opaque].map { (pixels: $0, duration: Duration.milliseconds(40)) }
        let image = try DecodedImage(animation: ImageAnimation(frames: timed))
        let back = try roundTrip(image, ImageEncoding(format: format, isLossless: true))
        let isSame = areEqual(try frames(back), try frames(image))
        #expect(isSame)
    }

    @Test("Lossy animations stay similar to the original", arguments: formats)
    func lossy(_ format: ImageFormat) throws {
        let pictures = try (0..<4).map { place in
            try PixelPatterns.make(width: 64, height: 48, isOpaque: true) { x, y in
                SIMD4(UInt8(x * 3), UInt8(y * 4), UInt8(place * 60), 255)
            }
        }
        let image = try DecodedImage(
            animation: ImageAnimation(frames: pictures.map { (pixels: $0, duration: Duration.milliseconds(60)) }))
        let back = try roundTrip(image, ImageEncoding(format: format, quality: 85))
        #expect(back.frameCount == 4)
        for place in 0..<4 { #expect(similarity(try #require(back.animation).frame(at: place), pictures[place]) > 30) }
    }

    @Test("Repeated frames keep their durations, and invalid options throw", arguments: formats)
    func repeated(_ format: ImageFormat) throws {
        let still = try PixelPatterns.photo(width: 9, height: 7)
        let timed = [50, 70, 20].map { (pixels: still, duration: Duration.milliseconds($0)) }
        let image = try DecodedImage(animation: ImageAnimation(frames: timed))
        let back = try roundTrip(image, ImageEncoding(format: format, isLossless: true))
        #expect(back.animation?.timeline.durations == [50, 70, 20])
        #expect(throws: ImageError.request(.invalidOption(name: "effort", value: "10"))) {
            try roundTrip(image, ImageEncoding(format: format, effort: 10))
        }
    }
}
