// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("Composed transformers and closures")
struct ComposeTests {
    private struct Oops: Error {}

    private let context = ImageProcessingContext()

    @Test("Composed transformers run in order")
    func order() throws {
        let source = try PixelMaking.noise(9, 6, opaque: true)
        let turnedFirst = try StandardTransformer.combined(.rotate(degrees: 90), .crop(width: 4, height: 2))
            .transform(source, context: context)
        let croppedFirst = try StandardTransformer.combined(.crop(width: 4, height: 2), .rotate(degrees: 90))
            .transform(source, context: context)
        #expect(turnedFirst.size == PixelSize(width: 4, height: 2))
        #expect(croppedFirst.size == PixelSize(width: 2, height: 4))
        #expect(try ComposedTransformer([]).transform(source, context: context) === source)
    }

    @Test("Different compositions have different identities")
    func identities() {
        let tricky: [any ImageTransformer] = [
            .custom(id: "a)2:bc") { pixels, _ in pixels }, .custom(id: "a") { pixels, _ in pixels },
            .combined(.custom(id: "a") { pixels, _ in pixels }), .custom(id: "") { pixels, _ in pixels },
            .combined(.flip(.both), .flip(.vertical)), .combined(.combined(.flip(.both)), .flip(.vertical)),
            .combined(.flip(.both), .combined(.flip(.vertical))), .combined(.flip(.vertical), .flip(.both)),
            .combined(), .combined(.combined()),
        ]
        #expect(Set(tricky.map(\.identifier)).count == tricky.count)
    }

    @Test("A failing closure throws an error with its identifier, and its result is checked against the limits")
    func failures() throws {
        let source = try PixelMaking.noise(4, 4, opaque: true)
        #expect(throws: ImageError.processing(.transformerFailed(transformer: "mine", reason: "Oops()"))) {
            try ClosureTransformer(id: "mine") { _, _ in throw Oops() }.transform(source, context: context)
        }
        #expect(throws: ImageError.cancelled) {
            try ClosureTransformer(id: "mine") { _, _ in throw ImageError.cancelled }
                .transform(source, context: context)
        }
        let large = try PixelMaking.noise(40, 40, opaque: true)
        let limited = ImageProcessingContext(limits: ImageLimits(maxDimension: 20))
        #expect { try ClosureTransformer(id: "mine") { _, _ in large }.transform(source, context: limited) } throws: {
            ($0 as? ImageError)?.code == ImageError.LimitFailure.Kind.dimension.rawValue
        }
        let seen = ImageProcessingContext(scale: 3)
        let result = try ClosureTransformer(id: "mine") { pixels, context in
            try StandardTransformer.resize(width: 1, unit: .points).transform(pixels, context: context)
        }.transform(source, context: seen)
        #expect(result.width == 3)
    }
}
