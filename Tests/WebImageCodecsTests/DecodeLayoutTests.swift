// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@testable import WebImageCodecs

@Suite("The size to which a decoder reduces an image")
struct DecodeLayoutTests {
    private func layout(
        _ width: Int, _ height: Int, to side: Int, _ detail: StoredDetail = .ordinary,
        _ reduction: DecoderReduction = .fractions, filter: ResamplingFilter = .lanczos3,
        limits: ImageLimits = .unlimited
    ) throws -> DecodeLayout {
        var options = ImageDecodingOptions(size: .fit(width: Double(side), height: Double(side)))
        options.resampling = filter
        return try DecodeLayout(
            rawSize: PixelSize(width: width, height: height), options: options, reduction: reduction, detail: detail,
            context: ImageProcessingContext(limits: limits))
    }

    @Test(
        "Ordinary detail keeps two pixels per pixel of the result, or 1.75 at 1/2",
        arguments: [(280, 8), (281, 4), (560, 4), (561, 2), (1_280, 2), (1_281, 1)])
    func ordinary(side: Int, denominator: Int) throws {
        #expect(try layout(4_480, 3_360, to: side).denominator == denominator)
        #expect(try layout(4_480, 3_360, to: side, filter: .nearest).denominator == 1)
    }

    @Test(
        "Fine detail is reduced only to the first scale with at most 2.5 megapixels",
        arguments: [(100, 4, 8), (300, 4, 8), (400, 2, 4), (600, 2, 4), (900, 1, 2)])
    func fine(side: Int, denominator: Int, ofHuge: Int) throws {
        #expect(try layout(4_480, 3_360, to: side, .fine).denominator == denominator)
        #expect(try layout(3_600, 2_700, to: side, .fine).denominator == min(denominator, 2))
        #expect(try layout(8_000, 6_000, to: side, .fine).denominator == ofHuge)
        // Averages of stored values don't need more pixels.
        let encoded = try layout(4_480, 3_360, to: side, .fine, filter: .lanczos3(light: .encoded))
        #expect(try encoded.denominator == layout(4_480, 3_360, to: side).denominator)
    }

    @Test("Limits reduce fine detail and noise as far as necessary, but not below the result")
    func limits() throws {
        func denominator(_ detail: StoredDetail, bytes: Int) throws -> Int {
            try layout(4_480, 3_360, to: 500, detail, limits: ImageLimits(maxDecodedBytes: bytes)).denominator
        }
        let whole = 4_480 * 3_360 * 4
        #expect(try denominator(.noise, bytes: whole) == 1)
        #expect(try denominator(.noise, bytes: whole - 1) == 2)
        #expect(try denominator(.fine, bytes: whole / 4) == 2)
        #expect(try denominator(.fine, bytes: whole / 4 - 1) == 4)
        #expect(try denominator(.ordinary, bytes: whole / 64) == 8)
    }

    @Test("A decoder for any size keeps four pixels per pixel of the result, or five of a small one")
    func anySize() throws {
        func size(_ side: Int) throws -> Int {
            try layout(4_000, 4_000, to: side, .ordinary, .anySize).decodedSize.width
        }
        #expect(try size(100) == 500)
        #expect(try size(316) == 1_580)
        #expect(try size(317) == 1_268)
        #expect(try size(900) == 3_600)
        #expect(try size(1_001) == 4_000)
        #expect(try layout(4_000, 4_000, to: 100, .noise, .anySize).decodedSize.width == 4_000)
    }
}
