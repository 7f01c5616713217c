// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestBasics

@testable import WebImageCodecs
@testable import WebImageCore

@Suite("Encoding to a visual score")
struct VisualScoreTests {
    static let formats = [ImageFormat.jpeg, .webp, .avif, .jxl].filter(ImageCoderRegistry.standard.canEncode)

    /// Returns the score of an encoded image.
    private func score(_ data: Data, _ image: DecodedImage) throws -> Double {
        let decoded = try ImageCoderRegistry.standard.decode(data)
        return try VisualScore(
            decoded.pixels, reference: image.pixels, background: .white, context: ImageProcessingContext()
        ).value
    }

    @Test("The score of an encoded image is near the target", arguments: formats)
    func reaches(_ format: ImageFormat) throws {
        let image = DecodedImage(pixels: try PixelPatterns.photo(width: 320, height: 240))
        for target in [60, 80] {
            let data = try ImageCoderRegistry.standard.encode(image, as: ImageEncoding(format: format).looks(target))
            #expect(abs(try score(data, image) - Double(target)) < 4, "\(target)")
        }
    }

    @Test("Equal images have the score 100, and coarser encodings have lower scores")
    func ordered() throws {
        let image = DecodedImage(pixels: try PixelPatterns.photo(width: 200, height: 150))
        let same = try VisualScore(
            image.pixels, reference: image.pixels, background: .white, context: ImageProcessingContext())
        #expect(same.value > 99.9)
        let scores = try [90, 60, 30, 10].map {
            try score(try ImageCoderRegistry.standard.encode(image, as: .jpeg(quality: $0)), image)
        }
        #expect(scores == scores.sorted(by: >))
    }

    /// The sizes have six scales or fewer. The scores are those of the Python package ssimulacra2 0.3.0.
    @Test(
        "The score agrees with that of SSIMULACRA2",
        arguments: [
            (PixelSize(width: 320, height: 240), [92.38, 73.16, 37.63]),
            (PixelSize(width: 200, height: 130), [91.61, 70.51, 41.68]),
            (PixelSize(width: 90, height: 60), [81.3, 23.0, -19.52]),
            (PixelSize(width: 33, height: 47), [92.54, 71.6, 45.62]),
            (PixelSize(width: 9, height: 300), [97.63, 94.46, 91.25]),
        ])
    func agrees(_ size: PixelSize, _ expected: [Double]) throws {
        func pattern(_ change: (Int) -> Int) throws -> PixelBuffer {
            try PixelPatterns.make(width: size.width, height: size.height, isOpaque: true) { x, y in
                let red = min(255, change((x * 3 + y) % 256))
                let green = min(255, change((x * x / 16 + y * 2) % 256))
                let blue = min(255, change(128 + ((x / 5 + y / 7) % 2) * 60))
                return SIMD4(UInt8(red), UInt8(green), UInt8(blue), 255)
            }
        }
        let reference = try pattern { $0 }
        for (step, score) in zip([8, 24, 48], expected) {
            let coarse = try pattern { $0 / step * step + step / 2 }
            let own = try VisualScore(
                coarse, reference: reference, background: .white, context: ImageProcessingContext())
            #expect(abs(own.value - score) < 0.1, "\(step)")
        }
    }

    @Test("Small and narrow images have a score", arguments: [(1, 1), (7, 300), (300, 8), (9, 9)])
    func small(_ width: Int, _ height: Int) throws {
        let image = DecodedImage(pixels: try PixelPatterns.noise(width: width, height: height, seed: 1))
        let data = try ImageCoderRegistry.standard.encode(image, as: .jpeg.looks(70))
        #expect(try ImageCoderRegistry.standard.decode(data).size == image.size)
        #expect(try score(data, image).isFinite)
    }

    @Test("Optimized JPEG files have their metadata and the color profile, and other decoders read them")
    func optimizedJPEG() throws {
        let patches = try GamutPatches(profile: "adobe")
        let image = try ImageCoderRegistry.standard.decode(patches.file, options: ImageDecodingOptions(color: .source))
        for progressive in [false, true] {
            var encoding = ImageEncoding(format: .jpeg, isProgressive: progressive).looks(90)
            encoding.thumbnailDimension = 32
            let data = try ImageCoderRegistry.standard.encode(image, as: encoding)
            let back = try ImageCoderRegistry.standard.decode(data, options: ImageDecodingOptions(color: .source))
            #expect(back.metadata.iccProfile != nil && ImageMetadata.embedded(in: data).exif != nil)
            guard Tools.hasDjpeg else { continue }
            try Tools.run(["/usr/bin/djpeg", "-outfile", "out.ppm", "picture"], data)
        }
        let gray = try PixelPatterns.make(width: 64, height: 48, isOpaque: true) { x, y in
            SIMD4(UInt8(x * 3), UInt8(x * 3), UInt8(x * 3), 255)
        }
        let data = try ImageCoderRegistry.standard.encode(DecodedImage(pixels: gray), as: .jpeg.looks(80))
        #expect(try ImageCoderRegistry.standard.decode(data).pixels.isGray())
    }

    @Test("An optimized JPEG file is smaller than a file of libjpeg-turbo with the same score")
    func smaller() throws {
        let image = DecodedImage(pixels: try PixelPatterns.photo(width: 512, height: 384))
        let optimized = try ImageCoderRegistry.standard.encode(image, as: .jpeg.looks(75))
        let reached = try score(optimized, image)
        // The score increases with the quality, so the lowest sufficient quality is between these two.
        var (low, high) = (30, 96)
        func file(_ quality: Int) throws -> Data {
            try ImageCoderRegistry.standard.encode(image, as: .jpeg(quality: quality))
        }
        try #require(try score(file(high), image) >= reached)
        while low < high {
            let middle = low + (high - low) / 6 * 3
            if try score(file(middle), image) >= reached { high = middle } else { low = middle + 3 }
        }
        let plain = try file(high)
        #expect(Double(optimized.count) < Double(plain.count) * 0.93)
    }

    @Test("The score is part of the identity, and scores outside the range are rejected")
    func identity() throws {
        #expect(ImageEncoding.jpeg.looks(70).identity != ImageEncoding.jpeg.identity)
        #expect(ImageEncoding.jpeg.looks(70).identity != ImageEncoding.jpeg.looks(71).identity)
        let image = DecodedImage(pixels: try PixelPatterns.photo(width: 16, height: 16))
        for score in [0, 101] {
            #expect(throws: ImageError.request(.invalidOption(name: "visualScore", value: "\(score)"))) {
                try ImageCoderRegistry.standard.encode(image, as: .webp.looks(score))
            }
        }
    }

    @Test("The size limit has precedence over the score")
    func limited() throws {
        let image = DecodedImage(pixels: try PixelPatterns.noise(width: 200, height: 200, seed: 2))
        let data = try ImageCoderRegistry.standard.encode(
            image, as: ImageEncoding(format: .jpeg).with(\.maxByteCount, 6_000).with(\.visualScore, 90))
        #expect(data.count <= 6_000)
    }
}

@Suite("Search for a visual score")
struct ScoreSearchTests {
    @Test("A wrong first estimate is corrected within four encodes", arguments: [-1.2, -0.4, 0, 0.3])
    func converges(_ offset: Double) throws {
        var search = try #require(ScoreSearch(.jpeg, score: 75, hasFullChroma: false))
        var reached = Double.infinity
        var encodes = 0
        while let quality = search.next() {
            encodes += 1
            // A model of an image whose distortion falls faster than that of an average image.
            let score = VisualScore(distortion: exp(3.2 + offset - 0.032 * Double(quality)))
            search.add(quality: quality, score)
            if abs(score.value - 75) < abs(reached - 75) { reached = score.value }
        }
        #expect(encodes <= ScoreSearch.usualEncodes && abs(reached - 75) < 2)
    }

    @Test(
        "A fifth encode follows only if the best of four differs by more than 2 points",
        arguments: [(1.0, 1), (1.9, 4), (3, 5), (8, 5)])
    func extraEncode(difference: Double, expected: Int) throws {
        var search = try #require(ScoreSearch(.jpeg, score: 60, hasFullChroma: false))
        var encodes = 0
        while let quality = search.next() {
            encodes += 1
            // An image whose score hardly depends on the quality.
            search.add(
                quality: quality, VisualScore(distortion: VisualScore.distortion(ofScore: 60 - difference)))
        }
        #expect(encodes == expected)
    }

    @Test("Scores and distortions are inverse", arguments: [1.0, 30, 60, 80, 95, 99])
    func inverse(_ score: Double) {
        #expect(abs(VisualScore(distortion: VisualScore.distortion(ofScore: score)).value - score) < 0.001)
    }

    @Test("Formats without quality have no search")
    func unsupported() { #expect([.png, .gif].allSatisfy { ScoreSearch($0, score: 70, hasFullChroma: true) == nil }) }
}
