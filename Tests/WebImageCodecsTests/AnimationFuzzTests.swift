// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageConcurrency
import WebImageCore

@Suite("Random animations")
struct AnimationFuzzTests {
    private static let encodings: [ImageEncoding] =
        AnimationEncodingTests.exact
        + (ImageCoderRegistry.standard.canEncode(.jxl)
            ? [ImageEncoding(format: .jxl, isLossless: true, effort: 1)] : [])

    /// Returns frames of a random size that differ in nothing, in one pixel, in a part, or completely, with changes to
    /// and from transparency. The first element contains the size.
    private func random(_ generator: inout SeededGenerator, alphas: [UInt8]) throws -> [[SIMD4<UInt8>]] {
        let width = Self.width(&generator)
        let height = Self.width(&generator)
        let colours = (0..<Int.random(in: 1...200, using: &generator)).map { _ in
            let alpha = alphas.randomElement(using: &generator) ?? 255
            return SIMD4<UInt8>(
                .random(in: 0...alpha, using: &generator), .random(in: 0...alpha, using: &generator),
                .random(in: 0...alpha, using: &generator), alpha)
        }
        var canvas = (0..<width * height).map { _ in colours.randomElement(using: &generator) ?? SIMD4() }
        var frames = [[SIMD4(UInt8(width), UInt8(height), 0, 0)], canvas]
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: canvas[Int.random(in: 0..<canvas.count, using: &generator)] = colours[0]
            case 1: canvas = canvas.map { _ in colours.randomElement(using: &generator) ?? SIMD4() }
            case 2:
                let first = Int.random(in: 0..<canvas.count, using: &generator)
                for place in first..<Int.random(in: first...canvas.count, using: &generator) {
                    canvas[place] = colours.randomElement(using: &generator) ?? SIMD4()
                }
            default: break
            }
            frames.append(canvas)
        }
        return frames
    }

    private static func width(_ generator: inout SeededGenerator) -> Int {
        [1, 2, .random(in: 1...40, using: &generator)].randomElement(using: &generator) ?? 1
    }

    @Test(
        "A round trip preserves the animation, except that identical frames may be merged",
        arguments: encodings, 1...60)
    func comesBack(_ encoding: ImageEncoding, _ seed: Int) throws {
        var generator = SeededGenerator(UInt64(seed))
        let alphas: [UInt8] = encoding.format == .gif || seed % 3 > 0 ? [0, 255, 255] : [0, 1, 128, 254, 255]
        let random = try random(&generator, alphas: alphas)
        let (width, height) = (Int(random[0][0].x), Int(random[0][0].y))
        let pictures = try random.dropFirst().map { canvas in
            try PixelPatterns.make(width: width, height: height, isOpaque: canvas.allSatisfy { $0.w == 255 }) { x, y in
                canvas[y * width + x]
            }
        }
        let image = try DecodedImage(
            animation: ImageAnimation(frames: pictures.map { (pixels: $0, duration: Duration.milliseconds(30)) }))
        let data = try coder(for: encoding.formatOrAutomatic).encode(
            image, as: encoding, context: ImageProcessingContext())
        let back = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
        let shown = try timed(back)
        // Compare the order and the duration of the visible frames, regardless of the number of frames.
        let wanted = pictures.flatMap { Array(repeating: $0.packedBytes(), count: 3) }
        // A still image has no duration.
        let isSame = back.isAnimated ? areEqual(shown, wanted) : wanted.allSatisfy { areEqual($0, shown[0]) }
        #expect(isSame, "\(width) x \(height), \(pictures.count) frames")
    }

    /// Returns the visible frame for each period of 10 milliseconds.
    private func timed(_ image: DecodedImage) throws -> [[UInt8]] {
        guard let animation = image.animation else { return [image.pixels.packedBytes()] }
        return try (0..<image.frameCount).flatMap { place in
            let bytes = try animation.frame(at: place).packedBytes()
            return Array(repeating: bytes, count: animation.timeline.durations[place] / 10)
        }
    }
}
