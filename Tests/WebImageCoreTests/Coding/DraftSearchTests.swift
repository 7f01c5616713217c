// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import WebImageCore

/// The sizes of all files and drafts of a synthetic image, which deviate from the expected sizes like those of photographs.
private struct DraftCurve {
    let ladder: EncodingLadder
    let drafts: EncodedSizeModel.Drafts
    private let format: ImageFormat
    private var sizes: [Int] = []
    private var draftSizes: [Int] = []
    /// The errors of the ratios and of the sizes that a sample of the image measures.
    private let ratioError: Double
    private let sizeError: Double

    init(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        format = seed % 2 == 0 ? .heif : .avif
        drafts = try #require(EncodedSizeModel.model(of: format)?.drafts)
        let encoding = ImageEncoding(format: format)
        // A smaller image has fewer rungs, so the test takes less time.
        ladder = EncodingLadder(for: encoding, size: PixelSize(width: 200, height: 150))
        let bytes = Double(Self.pixelCount) * exp(-2.2 + 0.8 * Self.normal(&generator))
        let (slope, ratio, ratioSlope) = (
            exp(0.25 * Self.normal(&generator)), 0.09 * Self.normal(&generator), 0.06 * Self.normal(&generator)
        )
        ratioError = 0.01 + 0.03 * Self.normal(&generator)
        sizeError = 0.1 * Self.normal(&generator)
        for index in 0..<ladder.count {
            let quality = ladder.qualityLogSize(index)
            // The dimensions change the size regularly.
            let size = slope * quality + ladder.logSize(index) - quality + 0.005 * Self.normal(&generator)
            let logRatio = drafts.logRatio + ratio + (drafts.slope + ratioSlope) * quality
            sizes.append(400 + Int(bytes * exp(size)))
            draftSizes.append(400 + Int(bytes * exp(size - logRatio + 0.005 * Self.normal(&generator))))
        }
    }

    private static let pixelCount = 1_440 * 960

    var top: Int { ladder.count - 1 }

    var smallest: Int { sizes.min() ?? 0 }

    func size(_ index: Int) -> Int { sizes[index] }

    /// Returns an approximately normal number with a standard deviation of 1.
    private static func normal(_ generator: inout SeededGenerator) -> Double {
        (0..<12).reduce(-6) { sum, _ in sum + Double.random(in: 0...1, using: &generator) }
    }

    /// The steps of a search and the best file.
    struct Outcome {
        var best: Int?
        var files = 0
        var drafts = 0
        var partialDrafts = 0
        var ratios = 0
    }

    func search(limit: Int, hasSample: Bool = true) -> Outcome {
        var search = DraftSearch(
            ladder, drafts: drafts, limit: limit, headers: EncodedSizeModel.headerByteCount(of: format), metadata: 0,
            pixelCount: Self.pixelCount)
        var outcome = Outcome()
        while let step = search.next() {
            switch step {
            case .partialDraft(let index):
                outcome.partialDrafts += 1
                let size = 400 + Int(Double(draftSizes[index] - 400) * exp(sizeError))
                search.addPartialDraft(index: index, byteCount: hasSample ? size : nil)
            case .draft(let index):
                outcome.drafts += 1
                search.addDraft(index: index, byteCount: draftSizes[index])
            case .ratio(let index):
                outcome.ratios += 1
                let ratio = log(Double(sizes[index] - 400) / Double(draftSizes[index] - 400))
                search.addRatio(index: index, logRatio: hasSample ? ratio + ratioError : nil)
            case .file(let index):
                outcome.files += 1
                if search.addFile(index: index, byteCount: sizes[index]) { outcome.best = index }
            }
        }
        return outcome
    }
}

@Suite("The search for a file with a maximum size and an encoder with fast drafts")
struct DraftSearchTests {
    private func share(_ seed: UInt64) -> Double {
        var generator = SeededGenerator(seed: seed + 1_000_000)
        return exp(Double.random(in: log(0.03)...log(0.85), using: &generator))
    }

    @Test("Most searches need one file, which uses most of the limit")
    func files() throws {
        let count = 200
        var files = 0
        var drafts = 0
        var shares: [Double] = []
        for seed in 0..<UInt64(count) {
            let curve = try DraftCurve(seed: seed)
            let limit = Int(Double(curve.size(curve.top)) * share(seed))
            let outcome = curve.search(limit: limit)
            #expect(outcome.files <= DraftSearch.maxFiles && outcome.drafts <= DraftSearch.maxDrafts)
            #expect(outcome.partialDrafts <= DraftSearch.maxPartialDrafts && outcome.ratios <= DraftSearch.maxRatios)
            files += outcome.files
            drafts += outcome.drafts
            // Every limit that the smallest file meets is met.
            if curve.size(0) <= limit { #expect(outcome.best != nil) }
            guard let best = outcome.best else { continue }
            #expect(curve.size(best) <= limit)
            shares.append(Double(curve.size(best)) / Double(limit))
        }
        shares.sort()
        #expect(files * 10 < count * 14 && drafts * 10 < count * 16, "\(files) files and \(drafts) drafts")
        #expect(shares.count * 10 > count * 9 && shares[shares.count / 20] > 0.8 && shares[shares.count / 2] > 0.9)
    }

    @Test("An image without a sample needs few files, too")
    func withoutSample() throws {
        for seed in 0..<60 as Range<UInt64> {
            let curve = try DraftCurve(seed: seed)
            let limit = Int(Double(curve.size(curve.top)) * share(seed))
            let outcome = curve.search(limit: limit, hasSample: false)
            #expect(outcome.files <= DraftSearch.maxFiles && outcome.partialDrafts == 1)
            if curve.size(0) <= limit { #expect(outcome.best.map { curve.size($0) <= limit } == true) }
        }
    }

    @Test("A search near the size of the requested encoding needs few files, which use most of the limit")
    func nearRequested() throws {
        var files = 0
        var searches = 0
        for seed in 0..<100 as Range<UInt64> {
            let curve = try DraftCurve(seed: seed)
            for percent in [92, 96, 98, 100, 104, 110] {
                let limit = curve.size(curve.top) * percent / 100
                let outcome = curve.search(limit: limit)
                files += outcome.files
                searches += 1
                let best = try #require(outcome.best)
                #expect(best == curve.top || curve.size(best) * 100 >= limit * 75)
            }
        }
        #expect(files * 10 < searches * 12, "\(files) files")
    }

    @Test("The requested encoding is the result if it certainly fits")
    func requested() throws {
        var expensive = 0
        for seed in 0..<100 as Range<UInt64> {
            let curve = try DraftCurve(seed: seed)
            let size = curve.size(curve.top)
            // If the size hardly meets the limit, a lower quality is the result.
            #expect(curve.search(limit: size * 13 / 10).best == curve.top)
            let outcome = curve.search(limit: size * 2)
            #expect(outcome.best == curve.top && outcome.files == 1 && outcome.partialDrafts == 1)
            expensive += outcome.drafts + outcome.ratios
        }
        #expect(expensive < 10, "the draft of a sample is usually sufficient")
    }

    @Test("A limit that no file meets ends the search")
    func impossible() throws {
        for seed in 0..<60 as Range<UInt64> {
            let curve = try DraftCurve(seed: seed)
            for limit in [1, 300, curve.smallest - 1] {
                let outcome = curve.search(limit: limit)
                #expect(outcome.best == nil && outcome.files <= DraftSearch.maxFiles)
            }
        }
    }
}
