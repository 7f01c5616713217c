// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport

@testable import WebImage

/// The paths of all images in the fixtures.
private let imagePaths: [String] = ["codecs", "colors", "depth", "formats"].flatMap { folder in
    let names = try? FileManager.default.contentsOfDirectory(atPath: Fixtures.directory.appending(path: folder).path)
    return (names ?? []).filter { !$0.hasSuffix(".rgba") && !$0.hasSuffix(".json") }.sorted().map { "\(folder)/\($0)" }
}

@Suite("Pixels of streamed decoding", .timeLimit(.minutes(5)))
struct IncrementalDecodeTests {
    private let budget = PreviewBudget(limit: 1 << 30)

    private func plan(_ size: TargetSize?, _ change: (inout ImageRequest) -> Void = { _ in }) throws -> RequestPlan {
        var request = ImageRequest(url: try #require(URL(string: "https://example.org/a")), size: size)
        change(&request)
        return RequestPlan(
            request, RequestDefaults(ImageManager.Configuration(), cache: ImageCache(memory: nil, tiers: [])))
    }

    /// Returns the image of a decoder that receives the data in `parts` parts, except the last one, before it
    /// finishes. Returns `nil` if streaming isn't possible.
    private func streamed(_ data: Data, _ size: TargetSize?, parts: Int) throws -> DecodedImage? {
        let decode = IncrementalDecode(try plan(size))
        let step = max(1, data.count / parts)
        var held: [Data] = []
        for start in stride(from: 0, to: data.count - step, by: step) {
            held.append(data[start..<start + step])
            if decode.append(
                held, expected: data.count, budget: budget,
                context: ImageProcessingContext())
            {
                held = []
            }
        }
        return try decode.finish(data, probe: try? ImageInfo(data: data), context: ImageProcessingContext())
    }

    private func expectSame(_ data: Data, _ sizes: [TargetSize?], _ name: String) throws -> Bool {
        var isStreamed = false
        for size in sizes {
            // The pipeline adds the descriptions to every decoded image.
            guard let image = try streamed(data, size, parts: 5)?.described(by: data) else { continue }
            isStreamed = true
            let whole = try ImageCoderRegistry.standard.decode(
                data, options: ImageDecodingOptions(size: size), context: ImageProcessingContext())
            let isSame = image.pixels.packedBytes() == whole.pixels.packedBytes()
            #expect(isSame, "\(name) at \(size.map { "\($0.mode)" } ?? "full size")")
            let isTold = image.metadata == whole.metadata && image.format == whole.format
            #expect(isTold && image.isOpaque == whole.isOpaque && !whole.isAnimated, "\(name)")
        }
        return isStreamed
    }

    @Test("Streamed pixels equal those of the complete file for every fixture")
    func fixtures() throws {
        var formats: Set<ImageFormat> = []
        for name in imagePaths {
            let data = try Data(contentsOf: Fixtures.directory.appending(path: name))
            let isStreamed = try expectSame(data, [nil, .fit(width: 24)], name)
            if isStreamed, let format = ImageFormat(sniffing: data) { formats.insert(format) }
        }
        #expect(formats.isSuperset(of: [.jpeg, .png, .webp, .bmp]))
        #expect(formats.isDisjoint(with: [.gif, .apng]))
        #expect(budget.bytesInUse == 0)
    }

    @Test("Streamed thumbnails of large images equal those of the complete file")
    func large() throws {
        let pixels = try TestImages.pixels(5, width: 700, height: 500)
        for encoding in [ImageEncoding.png, .jpeg(quality: 88), .jpeg(quality: 80, isProgressive: true), .webp] {
            let data = try ImageCoderRegistry.standard.encode(
                DecodedImage(pixels: pixels), as: encoding, context: ImageProcessingContext())
            let name = "\(encoding.formatOrAutomatic)"
            #expect(try expectSame(data, [nil, .fill(width: 64, height: 48)], name))
        }
    }

    @Test("Data that differs from the reported data is decoded as a whole")
    func others() throws {
        let (reported, given) = (try TestImages.png(1), try TestImages.png(2))
        let decode = IncrementalDecode(try plan(nil))
        #expect(
            decode.append(
                [reported.prefix(reported.count * 3 / 4)], expected: nil, budget: budget,
                context: ImageProcessingContext()))
        #expect(budget.bytesInUse > 0)
        #expect(try decode.finish(given, probe: try ImageInfo(data: given), context: ImageProcessingContext()) == nil)
        #expect(budget.bytesInUse == 0)
    }

    @Test("Corrupt, truncated, and malicious data ends streaming without an image and releases the memory")
    func damage() throws {
        let png = try TestImages.png(1)
        var damaged = png
        damaged[png.count / 2] ^= 0xFF
        damaged[png.count / 2 + 1] ^= 0xFF
        #expect(try streamed(damaged, nil, parts: 5) == nil)
        #expect(try streamed(png.prefix(png.count * 3 / 4), nil, parts: 5) == nil)
        // Set a size of 65,500 × 65,500 pixels in the header.
        let jpeg = try TestImages.jpeg(progressive: false)
        let start = try #require(jpeg.range(of: Data([0xFF, 0xC0]))?.lowerBound)
        var huge = jpeg
        for offset in [5, 7] { huge.replaceSubrange(start + offset..<start + offset + 2, with: [0xFF, 0xDC]) }
        #expect(try streamed(huge, nil, parts: 5) == nil)
        #expect(budget.bytesInUse == 0)
    }

    @Test("An image that exceeds the remaining budget is decoded as a whole")
    func room() throws {
        let small = PreviewBudget(limit: 1_000)
        let decode = IncrementalDecode(try plan(nil))
        #expect(decode.append([try TestImages.png(1)], expected: nil, budget: small, context: ImageProcessingContext()))
        #expect(decode.isFinished && small.bytesInUse == 0)
    }

    @Test("Requests whose pixels depend on more than the data aren't streamed")
    func suits() throws {
        #expect(IncrementalDecode.suits(try plan(.fit(width: 5))))
        #expect(!IncrementalDecode.suits(try plan(nil) { $0.decoding.preservesBitDepth = true }))
        #expect(!IncrementalDecode.suits(try plan(nil) { $0.decoding.color = .source }))
        #expect(!IncrementalDecode.suits(try plan(nil) { $0.decoding.allowsPartialData = true }))
        #expect(!IncrementalDecode.suits(try plan(nil) { $0.frames = .index(0) }))
    }

    @Test("Downloads that are fast, small, or nearly finished are decoded when they're complete")
    func pace() {
        let begins = DownloadSpeedGate.begins
        #expect(begins(100_000, 1_000_000, 0.1))
        #expect(begins(100_000, nil, 0.1))
        // 100 MB/s, one millisecond after the head, a small file, and the last bytes.
        #expect(!begins(10_000_000, 20_000_000, 0.1))
        #expect(!begins(1_000, 1_000_000, 0.001))
        #expect(!begins(10_000, 40_000, 1))
        #expect(!begins(999_000, 1_000_000, 1))
        #expect(!begins(1_000_000, 1_000_000, 1))
        #expect(!begins(10_000, nil, 1))
    }
}
