// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import WebImageCore

/// The sizes of all files of a synthetic image, which deviate from the expected sizes like those of photographs.
private struct SizeCurve {
    let ladder: EncodingLadder
    let encoding: ImageEncoding
    private(set) var sizes: [Int] = []
    /// The size of the metadata, as the search knows it.
    private(set) var metadata = 0

    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let formats: [ImageFormat] = [.jpeg, .jpeg, .webp, .avif, .heif, .jxl, .png]
        let format = formats[Int.random(in: 0..<formats.count, using: &generator)]
        let quality = Bool.random(using: &generator) ? nil : Int.random(in: 30...100, using: &generator)
        let side = Int(exp(Double.random(in: log(48.0)...log(600.0), using: &generator)))
        encoding = ImageEncoding(format: format, quality: quality)
        ladder = EncodingLadder(for: encoding, size: PixelSize(width: side, height: side))
        let logSizes = Self.logSizes(ladder, encoding, side, &generator)
        let bitsPerPixel = exp(-2.2 + 0.8 * Self.normal(&generator))
        let area = Double(side * side) * Double.random(in: 0.3...1, using: &generator)
        var fixed = Self.headers(of: format, &generator)
        if Double.random(in: 0...1, using: &generator) > 0.6 {
            // The metadata can be much larger than the pixels. Some coders compress or omit it.
            let largest = exp(logSizes[ladder.count - 1]) * bitsPerPixel * area
            let count = 500 + largest * Double.random(in: 0.05...8, using: &generator)
            fixed += count
            let known =
                Double.random(in: 0...1, using: &generator) > 0.25 ? 1 : [0, 0.3, 1.6].randomElement(using: &generator)
            metadata = Int(count * (known ?? 1))
        }
        sizes = logSizes.map { Int((exp($0) * bitsPerPixel * area + fixed).rounded()) }
    }

    /// Returns the natural logarithms of the sizes without headers and metadata.
    private static func logSizes(
        _ ladder: EncodingLadder, _ encoding: ImageEncoding, _ side: Int, _ generator: inout SeededGenerator
    ) -> [Double] {
        let slope = min(max(exp(0.375 * normal(&generator)), 0.45), 2)
        let bend = 0.375 * normal(&generator) * 2
        let gap = Double.random(in: 0.3...1.5, using: &generator)
        let waves = (1...3).map { number in
            (
                amplitude: 0.09 / Double(number) * normal(&generator),
                phase: Double.random(in: 0...6.28, using: &generator)
            )
        }
        let exponent = Double.random(in: 1.2...2.05, using: &generator)
        let step = encoding.format == .heif ? Double.random(in: 1.2...2.2, using: &generator) : 1e-3
        let model = EncodedSizeModel.model(of: encoding.formatOrAutomatic)
        let lowest = model?.logSize(quality: 10, hasFullChroma: false) ?? 0
        let top = model?.logSize(quality: encoding.quality ?? model?.defaultQuality ?? 90, hasFullChroma: false) ?? 0
        return (0..<ladder.count).map { index in
            let rung = ladder.rung(index)
            var quality = Double(rung.encoding.quality ?? model?.defaultQuality ?? 0)
            let isFull =
                model?.changesSubsampling == true && quality >= 90 && rung.encoding.chromaSubsampling == nil
            // HEVC has coarse quantizer steps.
            quality = max(10, (quality / step).rounded(.down) * step)
            let reduced = model?.logSize(quality: Int(quality), hasFullChroma: false) ?? 0
            let share = max(0, reduced - lowest) / max(1e-6, top - lowest)
            var value = slope * reduced + bend * share * (1 - share)
            for (place, wave) in waves.enumerated() {
                value += wave.amplitude * sin(Double.pi * Double(place + 1) * share + wave.phase)
            }
            if isFull { value += gap * ((model?.logSize(quality: Int(quality), hasFullChroma: true) ?? 0) - reduced) }
            if let reducedSide = rung.side { value += exponent * log(Double(reducedSide) / Double(side)) }
            return value + 0.01 * normal(&generator)
        }
    }

    private static func headers(of format: ImageFormat, _ generator: inout SeededGenerator) -> Double {
        switch format {
        case .jpeg: Double.random(in: 300...650, using: &generator)
        case .avif: Double.random(in: 250...450, using: &generator)
        case .heif: Double.random(in: 400...700, using: &generator)
        default: 40
        }
    }

    /// Returns an approximately normal number with a standard deviation of 1.
    private static func normal(_ generator: inout SeededGenerator) -> Double {
        (0..<12).reduce(-6) { sum, _ in sum + Double.random(in: 0...1, using: &generator) }
    }

    /// Searches for the best file within a limit.
    func search(limit: Int) -> (best: Int?, bestIndex: Int?, encodes: Int) {
        var search = LadderSearch(
            ladder, limit: limit, headers: EncodedSizeModel.headerByteCount(of: encoding.formatOrAutomatic),
            metadata: metadata)
        var encodes = 0
        while let index = search.next() {
            encodes += 1
            _ = search.add(index: index, byteCount: sizes[index])
        }
        return (search.low?.byteCount, search.low?.index, encodes)
    }
}

@Suite("The search for a file with a maximum size")
struct LadderSearchTests {
    @Test("Five encodes miss 90% of the limit in fewer than 1 in 200 cases in which a file reaches it")
    func missRate() {
        var reachable = 0
        var misses = 0
        for seed in 0..<2_000 as Range<UInt64> {
            let curve = SizeCurve(seed: seed)
            var generator = SeededGenerator(seed: seed + 1_000_000)
            let share = exp(Double.random(in: log(0.02)...log(0.98), using: &generator))
            let least = seed % 2 == 0 ? 0 : Double(curve.sizes[0])
            let limit = max(1, Int(least + (Double(curve.sizes[curve.ladder.count - 1]) - least) * share))
            let (best, _, encodes) = curve.search(limit: limit)
            #expect(encodes <= 5)
            // Every limit that the smallest file meets is met.
            if curve.sizes[0] <= limit { #expect(best != nil) }
            #expect(best ?? 0 <= limit)
            guard curve.sizes.contains(where: { $0 <= limit && $0 * 10 >= limit * 9 }) else { continue }
            reachable += 1
            if (best ?? 0) * 10 < limit * 9 { misses += 1 }
        }
        #expect(reachable > 1_000)
        #expect(misses * 200 < reachable, "\(misses) of \(reachable)")
    }

    @Test("Metadata that takes most of the limit doesn't reduce the image to 16 pixels")
    func metadata() {
        for (metadata, known) in [(200_000, 200_000), (0, 200_000), (9_000, 0)] {
            let ladder = EncodingLadder(for: .jpeg(quality: 90), size: PixelSize(width: 800, height: 600))
            func size(_ index: Int) -> Int { metadata + 350 + Int(90_000 * exp(ladder.logSize(index))) }
            for limit in [size(ladder.count - 30), size(ladder.count - 60), size(ladder.count - 120)] {
                var search = LadderSearch(ladder, limit: limit, headers: 350, metadata: known)
                while let index = search.next() { _ = search.add(index: index, byteCount: size(index)) }
                let side = search.low.flatMap { ladder.rung($0.index).side } ?? 800
                #expect(side > 600, "\(metadata) bytes, \(known) known: \(side) pixels")
                #expect((search.low?.byteCount ?? 0) * 10 >= limit * 9)
            }
        }
    }

    @Test("No encoding has a higher quality than the requested one", arguments: [5, 50, 90, 91, 93, 96, 100])
    func qualities(_ quality: Int) {
        for format in [ImageFormat.jpeg, .avif, .webp] {
            let encoding = ImageEncoding(format: format, quality: quality)
            let ladder = EncodingLadder(for: encoding, size: PixelSize(width: 20, height: 20))
            let rungs = (0..<ladder.count).map(ladder.rung)
            #expect(rungs.allSatisfy { ($0.encoding.quality ?? 0) <= quality })
            #expect(rungs[ladder.count - 1].encoding == encoding)
            let sizes = (0..<ladder.count).map(ladder.logSize)
            #expect(sizes == sizes.sorted())
        }
    }
}
