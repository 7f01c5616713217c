// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@testable import WebImageStore

private let photo = PixelSize(width: 1_200, height: 800)

/// Returns the facts of an image of size `original` that a coder decoded exactly as `decoding` specifies.
private func facts(_ decoding: ImageDecodingOptions, original: PixelSize = photo) throws -> VariantDimensions {
    let plan = try decoding.size?.plan(for: original, scale: decoding.scale)
    return VariantDimensions(size: plan?.output ?? original, original: original)
}

private func variant(_ decoding: ImageDecodingOptions, _ transformers: [String] = []) -> ImageVariant {
    ImageVariant(data: key(1), decoding: decoding, transformers: transformers)
}

@Suite("Cached images that serve other sizes")
struct ImageVariantTests {
    struct Line: Sendable, CustomTestStringConvertible {
        let cached: TargetSize?
        let requested: TargetSize?
        let isHit: Bool
        let standsIn: Bool
        var testDescription: String { "\(cached?.identity ?? "original") for \(requested?.identity ?? "original")" }
    }

    private static let lines: [Line] = [
        // A larger image serves a smaller size, but never the other way around.
        Line(cached: nil, requested: .fit(width: 300), isHit: true, standsIn: true),
        Line(cached: .fit(width: 600), requested: .fit(width: 300), isHit: true, standsIn: true),
        Line(cached: .fit(width: 300), requested: .fit(width: 600), isHit: false, standsIn: true),
        Line(cached: .fit(width: 300), requested: nil, isHit: false, standsIn: true),
        Line(cached: .fit(width: 300), requested: .fit(height: 200), isHit: true, standsIn: true),
        // The tolerance is one pixel, not two.
        Line(cached: .fit(width: 299), requested: .fit(width: 300), isHit: true, standsIn: true),
        Line(cached: .fit(width: 298), requested: .fit(width: 300), isHit: false, standsIn: true),
        // Every size that exceeds the image's own size yields the original.
        Line(cached: nil, requested: .fit(width: 5_000), isHit: true, standsIn: true),
        Line(cached: .fit(width: 4_000), requested: .fit(width: 5_000), isHit: true, standsIn: true),
        // The images show different parts of the original.
        Line(cached: nil, requested: .fill(width: 100, height: 100), isHit: false, standsIn: false),
        Line(
            cached: .fill(width: 200, height: 200), requested: .fill(width: 100, height: 100), isHit: true,
            standsIn: true),
        Line(cached: .fill(width: 200, height: 200), requested: .fit(width: 100), isHit: false, standsIn: false),
        Line(cached: nil, requested: .fill(width: 300, height: 200), isHit: true, standsIn: true),
        // The images have different proportions.
        Line(cached: nil, requested: .stretch(width: 300, height: 300), isHit: false, standsIn: false),
        Line(
            cached: .stretch(width: 600, height: 600), requested: .stretch(width: 300, height: 300), isHit: true,
            standsIn: true),
        Line(cached: .stretch(width: 600, height: 600), requested: .fit(width: 300), isHit: false, standsIn: false),
        // Enlarged pixels serve only their own size.
        Line(cached: .exact(width: 2_400, height: 1_600), requested: nil, isHit: false, standsIn: false),
        Line(cached: .exact(width: 600, height: 400), requested: .fit(width: 300), isHit: true, standsIn: true),
        // A limit in bytes is a limit.
        Line(cached: nil, requested: .fitting(byteCount: 240_000), isHit: false, standsIn: true),
        Line(cached: .fit(width: 300), requested: .fitting(byteCount: 240_000), isHit: true, standsIn: true),
        Line(cached: .fit(width: 100), requested: .fitting(byteCount: 240_000), isHit: false, standsIn: true),
    ]

    @Test("Each combination of cached and requested size gives the listed result", arguments: lines)
    func sizes(_ line: Line) throws {
        let held = ImageDecodingOptions(size: line.cached)
        let wanted = variant(ImageDecodingOptions(size: line.requested))
        #expect(variant(held).satisfies(wanted, try facts(held)) == line.isHit)
        #expect(variant(held).canReplace(wanted, try facts(held)) == line.standsIn)
    }

    @Test("All other options must match, but a placeholder may differ in frames, depth, and scale")
    func others() throws {
        let held = ImageDecodingOptions(size: .fit(width: 600))
        let small = ImageDecodingOptions(size: .fit(width: 300))
        func check(_ answers: Bool, standsIn: Bool = true, _ change: (inout ImageDecodingOptions) -> Void) throws {
            var options = small
            change(&options)
            let (own, wanted) = (variant(held), variant(options))
            #expect(own.satisfies(wanted, try facts(held)) == answers)
            #expect(own.canReplace(wanted, try facts(held)) == standsIn)
        }
        try check(true) { _ in }
        try check(false) { $0.scale = 2 }
        try check(false) { $0.preservesBitDepth = true }
        try check(false) { $0.resampling = .box }
        try check(false) { $0.allowsPartialData = true }
        try check(false) { $0.coderOptions = ["a": "b"] }
        try check(true) { $0.frames = .first }
        try check(false) { $0.frames = .index(2) }
        let other = ImageVariant(data: key(2), decoding: small)
        #expect(!variant(held).satisfies(other, try facts(held)))
        #expect(!variant(held).canReplace(other, try facts(held)))
        // An image that wasn't reduced matches any reduction.
        var box = small
        box.resampling = .box
        #expect(variant(ImageDecodingOptions()).satisfies(variant(box), try facts(ImageDecodingOptions())))
    }

    @Test("A transformed image serves only equal requests and is a placeholder only for equal transformers")
    func transformed() throws {
        let (large, small) = (
            ImageDecodingOptions(size: .fit(width: 600)), ImageDecodingOptions(size: .fit(width: 300))
        )
        let facts = try facts(large)
        #expect(!variant(large, ["blur"]).satisfies(variant(small, ["blur"]), facts))
        #expect(!variant(large, ["blur"]).satisfies(variant(small), facts))
        #expect(!variant(large).satisfies(variant(small, ["blur"]), facts))
        #expect(variant(large, ["blur"]).canReplace(variant(small, ["blur"]), facts))
        #expect(!variant(large).canReplace(variant(small, ["blur"]), facts))
    }

    @Test("An animation serves only requests for all frames, and partial and vector images serve no other size")
    func kinds() throws {
        let (large, small) = (ImageDecodingOptions(), ImageDecodingOptions(size: .fit(width: 300)))
        var still = small
        still.frames = .first
        var animated = try facts(large)
        animated.frameCount = 8
        #expect(variant(large).satisfies(variant(small), animated))
        #expect(!variant(large).satisfies(variant(still), animated))
        #expect(variant(large).canReplace(variant(still), animated))
        var partial = try facts(large)
        partial.isPartial = true
        #expect(!variant(large).satisfies(variant(small), partial))
        #expect(!variant(large).canReplace(variant(small), partial))
        var vector = try facts(large)
        vector.isVector = true
        #expect(!variant(large).satisfies(variant(small), vector))
    }

    @Test("If a coder doesn't report the original size, a small image never serves a larger size")
    func unknownOriginal() {
        let held = variant(ImageDecodingOptions(size: .fit(width: 300)))
        let untold = VariantDimensions(
            size: PixelSize(width: 300, height: 200), original: PixelSize(width: 300, height: 200))
        #expect(!held.satisfies(variant(ImageDecodingOptions(size: .fit(width: 600))), untold))
        #expect(held.satisfies(variant(ImageDecodingOptions(size: .fit(width: 150))), untold))
        // The image is smaller than the requested size, so the original isn't larger.
        let roomy = variant(ImageDecodingOptions(size: .fit(width: 400)))
        #expect(roomy.satisfies(variant(ImageDecodingOptions(size: .fit(width: 600))), untold))
    }

    @Test("No combination of sizes causes an overflow", arguments: 0..<4)
    func extremes(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let lengths = [0, 1, 2, 299, 300, 65_535, 1 << 30, .max]
        func side() -> Int { lengths.randomElement(using: &random) ?? 1 }
        func target() -> TargetSize? {
            let (width, height) = (Double(side()), Double(side()))
            let targets: [TargetSize?] = [
                nil, .fit(width: width), .fill(width: width, height: height), .stretch(width: width, height: height),
                .exact(width: width, height: height), .fitting(byteCount: side()),
            ]
            return targets.randomElement(using: &random) ?? nil
        }
        for _ in 0..<1_000 {
            var facts = VariantDimensions(
                size: PixelSize(width: side(), height: side()), original: PixelSize(width: side(), height: side()))
            facts.frameCount = side()
            let (held, wanted) = (
                variant(ImageDecodingOptions(size: target())), variant(ImageDecodingOptions(size: target()))
            )
            if held.satisfies(wanted, facts) { #expect(held.canReplace(wanted, facts)) }
        }
    }
}
