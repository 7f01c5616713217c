// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@testable import WebImageStore

private let photo = PixelSize(width: 1_200, height: 800)

/// Returns the facts of an image of size `original` that a coder decoded exactly as `decoding` specifies.
private func facts(_ decoding: DecodeOptions, original: PixelSize = photo) throws -> PictureFacts {
    let plan = try decoding.size?.plan(for: original, scale: decoding.scale)
    return PictureFacts(size: plan?.output ?? original, original: original)
}

private func rendition(_ decoding: DecodeOptions, _ transformers: [String] = []) -> Rendition {
    Rendition(data: key(1), decoding: decoding, transformers: transformers)
}

@Suite("Cached images that serve other sizes")
struct RenditionTests {
    struct Line: Sendable, CustomTestStringConvertible {
        let held: TargetSize?
        let wanted: TargetSize?
        let answers: Bool
        let standsIn: Bool
        var testDescription: String { "\(held?.identity ?? "original") for \(wanted?.identity ?? "original")" }
    }

    private static let lines: [Line] = [
        // A larger image serves a smaller size, but never the other way around.
        Line(held: nil, wanted: .fit(width: 300), answers: true, standsIn: true),
        Line(held: .fit(width: 600), wanted: .fit(width: 300), answers: true, standsIn: true),
        Line(held: .fit(width: 300), wanted: .fit(width: 600), answers: false, standsIn: true),
        Line(held: .fit(width: 300), wanted: nil, answers: false, standsIn: true),
        Line(held: .fit(width: 300), wanted: .fit(height: 200), answers: true, standsIn: true),
        // The tolerance is one pixel, not two.
        Line(held: .fit(width: 299), wanted: .fit(width: 300), answers: true, standsIn: true),
        Line(held: .fit(width: 298), wanted: .fit(width: 300), answers: false, standsIn: true),
        // Every size that exceeds the image's own size yields the original.
        Line(held: nil, wanted: .fit(width: 5_000), answers: true, standsIn: true),
        Line(held: .fit(width: 4_000), wanted: .fit(width: 5_000), answers: true, standsIn: true),
        // The images show different parts of the original.
        Line(held: nil, wanted: .fill(width: 100, height: 100), answers: false, standsIn: false),
        Line(
            held: .fill(width: 200, height: 200), wanted: .fill(width: 100, height: 100), answers: true, standsIn: true),
        Line(held: .fill(width: 200, height: 200), wanted: .fit(width: 100), answers: false, standsIn: false),
        Line(held: nil, wanted: .fill(width: 300, height: 200), answers: true, standsIn: true),
        // The images have different proportions.
        Line(held: nil, wanted: .stretch(width: 300, height: 300), answers: false, standsIn: false),
        Line(
            held: .stretch(width: 600, height: 600), wanted: .stretch(width: 300, height: 300), answers: true,
            standsIn: true),
        Line(held: .stretch(width: 600, height: 600), wanted: .fit(width: 300), answers: false, standsIn: false),
        // Enlarged pixels serve only their own size.
        Line(held: .exactly(width: 2_400, height: 1_600), wanted: nil, answers: false, standsIn: false),
        Line(held: .exactly(width: 600, height: 400), wanted: .fit(width: 300), answers: true, standsIn: true),
        // A limit in bytes is a limit.
        Line(held: nil, wanted: .fitting(bytes: 240_000), answers: false, standsIn: true),
        Line(held: .fit(width: 300), wanted: .fitting(bytes: 240_000), answers: true, standsIn: true),
        Line(held: .fit(width: 100), wanted: .fitting(bytes: 240_000), answers: false, standsIn: true),
    ]

    @Test("Each combination of cached and requested size gives the listed result", arguments: lines)
    func sizes(_ line: Line) throws {
        let held = DecodeOptions(size: line.held)
        let wanted = rendition(DecodeOptions(size: line.wanted))
        #expect(rendition(held).satisfies(wanted, try facts(held)) == line.answers)
        #expect(rendition(held).standsIn(for: wanted, try facts(held)) == line.standsIn)
    }

    @Test("All other options must match, but a placeholder may differ in frames, depth, and scale")
    func others() throws {
        let held = DecodeOptions(size: .fit(width: 600))
        let small = DecodeOptions(size: .fit(width: 300))
        func check(_ answers: Bool, standsIn: Bool = true, _ change: (inout DecodeOptions) -> Void) throws {
            var options = small
            change(&options)
            let (own, wanted) = (rendition(held), rendition(options))
            #expect(own.satisfies(wanted, try facts(held)) == answers)
            #expect(own.standsIn(for: wanted, try facts(held)) == standsIn)
        }
        try check(true) { _ in }
        try check(false) { $0.scale = 2 }
        try check(false) { $0.depth = .source }
        try check(false) { $0.reduction = .box }
        try check(false) { $0.allowsPartial = true }
        try check(false) { $0.extras = ["a": "b"] }
        try check(true) { $0.frames = .first }
        try check(false) { $0.frames = .single(2) }
        let other = Rendition(data: key(2), decoding: small)
        #expect(!rendition(held).satisfies(other, try facts(held)))
        #expect(!rendition(held).standsIn(for: other, try facts(held)))
        // An image that wasn't reduced matches any reduction.
        var box = small
        box.reduction = .box
        #expect(rendition(DecodeOptions()).satisfies(rendition(box), try facts(DecodeOptions())))
    }

    @Test("A transformed image serves only equal requests and is a placeholder only for equal transformers")
    func transformed() throws {
        let (large, small) = (DecodeOptions(size: .fit(width: 600)), DecodeOptions(size: .fit(width: 300)))
        let facts = try facts(large)
        #expect(!rendition(large, ["blur"]).satisfies(rendition(small, ["blur"]), facts))
        #expect(!rendition(large, ["blur"]).satisfies(rendition(small), facts))
        #expect(!rendition(large).satisfies(rendition(small, ["blur"]), facts))
        #expect(rendition(large, ["blur"]).standsIn(for: rendition(small, ["blur"]), facts))
        #expect(!rendition(large).standsIn(for: rendition(small, ["blur"]), facts))
    }

    @Test("An animation serves only requests for all frames, and partial and vector images serve no other size")
    func kinds() throws {
        let (large, small) = (DecodeOptions(), DecodeOptions(size: .fit(width: 300)))
        var still = small
        still.frames = .first
        var animated = try facts(large)
        animated.frameCount = 8
        #expect(rendition(large).satisfies(rendition(small), animated))
        #expect(!rendition(large).satisfies(rendition(still), animated))
        #expect(rendition(large).standsIn(for: rendition(still), animated))
        var partial = try facts(large)
        partial.isPartial = true
        #expect(!rendition(large).satisfies(rendition(small), partial))
        #expect(!rendition(large).standsIn(for: rendition(small), partial))
        var vector = try facts(large)
        vector.isVector = true
        #expect(!rendition(large).satisfies(rendition(small), vector))
    }

    @Test("If a coder doesn't report the original size, a small image never serves a larger size")
    func unknownOriginal() {
        let held = rendition(DecodeOptions(size: .fit(width: 300)))
        let untold = PictureFacts(
            size: PixelSize(width: 300, height: 200), original: PixelSize(width: 300, height: 200))
        #expect(!held.satisfies(rendition(DecodeOptions(size: .fit(width: 600))), untold))
        #expect(held.satisfies(rendition(DecodeOptions(size: .fit(width: 150))), untold))
        // The image is smaller than the requested size, so the original isn't larger.
        let roomy = rendition(DecodeOptions(size: .fit(width: 400)))
        #expect(roomy.satisfies(rendition(DecodeOptions(size: .fit(width: 600))), untold))
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
                .exactly(width: width, height: height), .fitting(bytes: side()),
            ]
            return targets.randomElement(using: &random) ?? nil
        }
        for _ in 0..<1_000 {
            var facts = PictureFacts(
                size: PixelSize(width: side(), height: side()), original: PixelSize(width: side(), height: side()))
            facts.frameCount = side()
            let (held, wanted) = (rendition(DecodeOptions(size: target())), rendition(DecodeOptions(size: target())))
            if held.satisfies(wanted, facts) { #expect(held.standsIn(for: wanted, facts)) }
        }
    }
}
