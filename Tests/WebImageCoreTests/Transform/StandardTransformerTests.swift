// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("Standard transformers")
struct StandardTransformerTests {
    private let context = ImageProcessingContext()
    private let red = PixelColor(red: 200, green: 0, blue: 0)

    @Test("Transformers with the same parameters are equal")
    func equality() {
        let first: StandardTransformer = .blur(radius: 4)
        #expect(first == .blur(radius: 4) && first != .blur(radius: 5))
        #expect(Set<StandardTransformer>([.circle, .circle, .grayscale, .grayscale(1)]).count == 2)
        #expect(first.description == first.identifier)
    }

    @Test("Parameters without a package type have the same effect as those with one")
    func parameters() throws {
        let source = try PixelMaking.noise(24, 16, opaque: true)
        let pairs: [(StandardTransformer, any ImageTransformer)] = [
            (.roundedCorners(radius: 4), RoundedCornersTransformer(radius: 4)),
            (
                .roundedCorners(radius: 4, borderWidth: 2, borderColor: red),
                RoundedCornersTransformer(radius: 4, border: .init(width: 2, color: red))
            ),
            (
                .border(width: 2, color: red, isOutside: true),
                BorderTransformer(width: 2, color: red, placement: .outside)
            ),
            (.flipHorizontally, FlipTransformer(.horizontal)), (.flipVertically, FlipTransformer(.vertical)),
            (.rotate(degrees: 30, keepsSize: true), RotateTransformer(degrees: 30, mode: .clip)),
            (
                .pad(top: 1, leading: 2, bottom: 3, trailing: -4),
                PadTransformer(.init(top: 1, leading: 2, bottom: 3, trailing: -4))
            ),
        ]
        for (transformer, expected) in pairs {
            #expect(transformer.identifier == expected.identifier)
            let (own, other) = try (
                transformer.transform(source, context: context), expected.transform(source, context: context)
            )
            #expect(own.packedBytes() == other.packedBytes(), "\(transformer)")
        }
    }

    @Test("An overlay in a rectangle is stretched to it, and `nil` stretches it over the image")
    func overlayInRectangle() throws {
        let back = try PixelBuffer.filled(with: .white, size: PixelSize(width: 20, height: 10))
        let badge = try PixelBuffer.filled(with: red, size: PixelSize(width: 2, height: 2))
        let rect = PixelRect(x: 15, y: 4, width: 8, height: 3)
        let part = try StandardTransformer.overlay(badge, in: rect).transform(back, context: context)
        #expect(part.size == back.size && part.color(x: 14, y: 5) == .white && part.color(x: 15, y: 4) == red)
        #expect(part.color(x: 19, y: 6) == red && part.color(x: 19, y: 7) == .white)
        let whole = try StandardTransformer.overlay(badge, in: nil).transform(back, context: context)
        #expect(whole.color(x: 0, y: 0) == red && whole.color(x: 19, y: 9) == red)
        #expect(throws: ImageError.self) {
            try StandardTransformer.overlay(badge, in: PixelRect(x: 0, y: 0, width: 0, height: 1))
                .transform(back, context: context)
        }
    }

    @Test("The rows of a color matrix are red, green, blue, and alpha")
    func matrixRows() throws {
        let source = try PixelBuffer.filled(with: red, size: PixelSize(width: 2, height: 2))
        let swap = ColorMatrix(rows: [[0, 1, 0, 0, 0], [1, 0, 0, 0, 0]])
        let result = try StandardTransformer.colorMatrix(swap).transform(source, context: context)
        #expect(result.color(x: 0, y: 0) == PixelColor(red: 0, green: 200, blue: 0))
    }

    @Test("Restricted transformers leave animations or vector images unchanged")
    func restrictions() {
        #expect(!StandardTransformer.circle.excludingAnimations().appliesToAnimations)
        #expect(StandardTransformer.circle.excludingAnimations().appliesToVectors)
        #expect(!StandardTransformer.combined([StandardTransformer.grayscale.excludingVectors()]).appliesToVectors)
    }
}
