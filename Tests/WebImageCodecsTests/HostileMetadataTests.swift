// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageTestBasics

@testable import WebImageCodecs

@Suite("Metadata of extreme size", .timeLimit(.minutes(5)))
struct HostileMetadataTests {
    /// The limits of small icons, so that decoding metadata into memory would exceed them.
    private static var limits: ImageLimits {
        var limits = ImageLimits.desktop
        limits.maxDecodedBytes = 1 << 20
        return limits
    }

    private func decode(_ data: Data, _ limits: ImageLimits = HostileMetadataTests.limits) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext(limits: limits))
    }

    private func failure(_ data: Data) -> ImageError.LimitFailure? {
        do {
            _ = try decode(data)
            return nil
        } catch {
            guard case .limitExceeded(let failure)? = error as? ImageError else { return nil }
            return failure
        }
    }

    // MARK: PNG

    private static func png(_ chunks: [PNGParts.Chunk]) throws -> Data {
        var parts = PNGParts(try PixelPatterns.encode(PixelPatterns.photo(width: 24, height: 16), as: .png))
        parts.chunks.insert(contentsOf: chunks, at: 1)
        return parts.file
    }

    /// Text chunks with 8 MiB of text or with text that expands to 64 MiB.
    private static let texts: [(name: String, make: @Sendable () -> PNGParts.Chunk)] = [
        (
            "tEXt",
            { PNGParts.Chunk(name: "tEXt", body: Array("Comment\0".utf8) + [UInt8](repeating: 65, count: 8 << 20)) }
        ),
        (
            "zTXt",
            {
                let text = CodedBody.zlib.encode(Data(count: 64 << 20))
                return PNGParts.Chunk(name: "zTXt", body: Array("Comment\0\0".utf8) + text)
            }
        ),
        (
            "iTXt",
            {
                let text = CodedBody.zlib.encode(Data(count: 64 << 20))
                return PNGParts.Chunk(name: "iTXt", body: Array("XML:com.adobe.xmp\0\u{1}\0\0\0".utf8) + text)
            }
        ),
        (
            "iTXt without an end",
            {
                PNGParts.Chunk(
                    name: "iTXt", body: Array("XML:com.adobe.xmp\0".utf8) + [UInt8](repeating: 1, count: 1 << 20))
            }
        ),
    ]

    @Test("Huge text in a PNG file is neither decompressed nor returned, and the pixels are decoded", arguments: 0..<4)
    func pngText(_ index: Int) throws {
        let chunk = Self.texts[index].make()
        let data = try Self.png([chunk])
        let image = try decode(data)
        #expect(try image.pixels.packedBytes() == decode(Self.png([])).pixels.packedBytes(), "\(chunk.name)")
        #expect(ImageMetadata.embedded(in: data).xmp == nil)
        var feeding = try #require(try Feeding(data, limits: Self.limits))
        let preview = try feeding.finish(chunks: { 70_000 })
        #expect(preview?.image.pixels.packedBytes() == image.pixels.packedBytes())
    }

    @Test("A PNG file has at most 64 text chunks of any kind", arguments: ["tEXt", "zTXt", "iTXt"])
    func pngTextCount(_ name: String) throws {
        let chunk = PNGParts.Chunk(name: name, body: Array("Comment\0\0\0\0".utf8))
        _ = try decode(Self.png(Array(repeating: chunk, count: 64)))
        let error = try #require(failure(try Self.png(Array(repeating: chunk, count: 65))))
        #expect(error.kind == .metadataSize && error.limit == 64 && error.actual == 65)
    }

    // MARK: GIF

    /// Returns a GIF of one pixel with a comment.
    private static func gif(comments: Int, blocks: Int, isEnded: Bool = true) -> Data {
        var data = Data("GIF89a".utf8) + Data([1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255])
        let block = Data([255]) + Data(repeating: 65, count: 255)
        var comment = Data([0x21, 0xFE])
        for _ in 0..<blocks { comment += block }
        if isEnded { comment.append(0) }
        for _ in 0..<comments { data += comment }
        return isEnded ? data + Data([0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]) : data
    }

    /// The numbers of comments and of their blocks. The comments with text exceed the limit, also in the short variant.
    private static let commentCounts: [(Int, Int)] =
        LongTests.areEnabled ? [(1, 32_000), (100_000, 1), (200_000, 0)] : [(1, 32_000), (20_000, 1), (50_000, 0)]

    @Test("Huge comments in a GIF file are skipped", arguments: commentCounts)
    func gifComments(_ comments: Int, _ blocks: Int) throws {
        let data = Self.gif(comments: comments, blocks: blocks)
        let image = try decode(data)
        #expect(image.pixels.packedBytes() == [255, 0, 0, 255] && image.frameCount == 1)
        if let feeding = try Feeding(data, limits: Self.limits) {
            var feeding = feeding
            let preview = try feeding.finish(chunks: { 60_000 })
            #expect(preview?.image.pixels.packedBytes() == [255, 0, 0, 255])
        }
    }

    @Test("A GIF file that consists of a comment without an end is truncated")
    func gifWithoutEnd() {
        let data = Self.gif(comments: 1, blocks: 32_000, isEnded: false)
        #expect { try decode(data) } throws: { ($0 as? ImageError)?.isTruncation ?? false }
    }

    // MARK: EXIF and XMP

    /// Returns a WebP file with an additional chunk.
    private static func webp(_ name: String, _ body: [UInt8], flag: UInt8) throws -> Data {
        let plain = [UInt8](try PixelPatterns.encode(PixelPatterns.photo(width: 24, height: 16), as: .webp.lossless))
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        let extended = Array("VP8X".utf8) + little(10, 4) + [flag, 0, 0, 0] + little(23, 3) + little(15, 3)
        let chunk = Array(name.utf8) + little(body.count, 4) + body + (body.count % 2 == 1 ? [0] : [])
        let content = Array("WEBP".utf8) + extended + plain[12...] + chunk
        return Data(Array("RIFF".utf8) + little(content.count, 4) + content)
    }

    @Test("EXIF data of more than 1 MiB is rejected, and 1 MiB is returned", arguments: ["png", "webp"])
    func exifSize(_ format: String) throws {
        func file(_ count: Int) throws -> Data {
            let exif = SampleMetadata.exif + [UInt8](repeating: 0, count: count - SampleMetadata.exif.count)
            return format == "png"
                ? try Self.png([PNGParts.Chunk(name: "eXIf", body: exif)]) : try Self.webp("EXIF", exif, flag: 8)
        }
        let largest = try file(1 << 20)
        #expect(ImageMetadata.embedded(in: largest).exif?.count == 1 << 20)
        _ = try decode(largest)
        let error = try #require(failure(try file(1 << 20 + 1)))
        #expect(error.kind == .metadataSize && error.limit == 1 << 20 && error.actual == 1 << 20 + 1)
        #expect(try ImageMetadata.embedded(in: file(1 << 20 + 1)).exif == nil)
    }

    @Test("XMP packets of more than 1 MiB are omitted")
    func xmpSize() throws {
        func file(_ count: Int) throws -> Data {
            try Self.webp(
                "XMP ", SampleMetadata.xmp() + [UInt8](repeating: 32, count: count - SampleMetadata.xmp().count),
                flag: 4)
        }
        #expect(try ImageMetadata.embedded(in: file(1 << 20)).xmp?.count == 1 << 20)
        #expect(try ImageMetadata.embedded(in: file(1 << 20 + 1)).xmp == nil)
        #expect(try decode(file(1 << 20 + 1)).size == PixelSize(width: 24, height: 16))
    }

    /// Returns EXIF data whose main directory has entries with a tag, a type, a count, and a value.
    private static func exif(_ entries: [(tag: Int, kind: Int, count: Int, value: Int)], next: Int = 0) -> [UInt8] {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        return [0x49, 0x49, 42, 0] + little(8, 4) + little(entries.count, 2)
            + entries.flatMap { little($0.tag, 2) + little($0.kind, 2) + little($0.count, 4) + little($0.value, 4) }
            + little(next, 4)
    }

    @Test("Directories of EXIF data that refer to themselves are read once")
    func exifCycles() throws {
        // The directories for the photo, the location, and interoperability are the main directory itself.
        let bytes = Self.exif([(0x0112, 3, 1, 6), (0x8769, 4, 1, 8), (0x8825, 4, 1, 8), (0xA005, 4, 1, 8)], next: 8)
        let block = try #require(ExifBlock(bytes))
        #expect(block.main.count <= 4 && block.photo.count <= 4 && block.position.count <= 4 && block.rules.count <= 4)
        #expect(block.serialized().count < 400)
        let data = try Self.png([PNGParts.Chunk(name: "eXIf", body: bytes)])
        #expect(try decode(data).size == PixelSize(width: 16, height: 24), "the orientation is valid")
    }

    @Test("Tags that share a value of EXIF data don't multiply its size")
    func exifSharing() throws {
        // Each of 2,000 tags claims the same 60,000 bytes, which would be 120 MB.
        let entries = (0..<2_000).map { (tag: 0x9000 + $0, kind: 7, count: 60_000, value: 8) }
        let bytes = Self.exif(entries) + [UInt8](repeating: 7, count: 60_000)
        let block = try #require(ExifBlock(bytes))
        #expect(!block.main.isEmpty && block.main.reduce(0) { $0 + $1.bytes.count } <= ExifBlock.maxBytes)
        #expect(block.serialized().count <= 2 * ExifBlock.maxBytes)
    }

    @Test("A directory of EXIF data has at most 2,000 tags")
    func exifTags() throws {
        let entries = (0..<65_535).map { (tag: $0, kind: 3, count: 1, value: 1) }
        let block = try #require(ExifBlock(Self.exif(entries)))
        #expect(!block.main.isEmpty && block.main.count <= 2_000)
    }

    // MARK: JPEG

    /// Returns a progressive JPEG file with `count` scans, which are valid repetitions.
    private static func jpeg(scans count: Int) throws -> Data {
        let bytes = [UInt8](try Fixture.named("420-progressive.jpg").data())
        // The tables and the data of each scan.
        var scans: [(start: Int, header: Int, end: Int)] = []
        var (place, start) = (2, 2)
        while place + 4 < bytes.count, bytes[place + 1] != 0xD9 {
            let marker = bytes[place + 1]
            let header = place
            place += 2 + Int(bytes[place + 2]) << 8 + Int(bytes[place + 3])
            guard marker == 0xDA else { continue }
            while !(bytes[place] == 0xFF && bytes[place + 1] != 0) { place += 1 }
            scans.append((start, header, place))
            start = place
        }
        // A first scan of coefficients that also contains their last bit can follow any scan of these coefficients.
        let first = try #require(
            scans.first { scan in
                let parameters = scan.header + 5 + 2 * Int(bytes[scan.header + 4])
                return bytes[parameters] > 0 && bytes[parameters + 2] >> 4 == 0
            })
        var scan = Array(bytes[first.start..<first.end])
        scan[first.header - first.start + 7 + 2 * Int(bytes[first.header + 4])] = 0
        let all = bytes[..<start] + Array(repeating: scan, count: count - scans.count).joined()
        return Data(all + [0xFF, 0xD9])
    }

    @Test("A JPEG file with more than 100 scans exceeds a limit, whole and in chunks")
    func scans() throws {
        // A file with as many scans as the limit is decoded.
        #expect(try decode(Self.jpeg(scans: 100)).size == Fixture.named("420-progressive.jpg").size)
        let many = try Self.jpeg(scans: 101)
        let error = try #require(failure(many))
        #expect(error.kind == .metadataSize && error.limit == 100 && error.actual == 101)
        #expect(error.message.contains("JPEG scans"))
        var feeding = try #require(try Feeding(many))
        var found: ImageError?
        do throws(ImageError) {
            _ = try feeding.finish(chunks: { 500 }, inspect: { _ in })
        } catch {
            found = error
        }
        guard case .limitExceeded(let failure)? = found else {
            Issue.record("\(found?.message ?? "the preview has no error")")
            return
        }
        #expect(failure.kind == .metadataSize && failure.limit == 100)
    }

    // MARK: Results

    @Test(
        "An encoder rejects images that are wider or higher than its format allows",
        arguments: [
            (ImageFormat.jpeg, 65_500), (.webp, 16_383), (.gif, 65_535), (.bmp, 32_767), (.ico, 256), (.avif, 32_768),
            (.heif, 16_384),
        ].filter { ImageCoderRegistry.standard.canEncode($0.0) })
    func encodedSizes(_ format: ImageFormat, _ maxDimension: Int) throws {
        for isWide in [true, false] {
            let size =
                isWide
                ? PixelSize(width: maxDimension + 1, height: 1) : PixelSize(width: 1, height: maxDimension + 1)
            let pixels = try PixelCanvas(size: size).finish(isOpaque: true)
            #expect {
                try ImageCoderRegistry.standard.encode(
                    DecodedImage(pixels: pixels), as: ImageEncoding(format: format),
                    context: ImageProcessingContext(limits: .unlimited))
            } throws: {
                guard case .processing(.encodingFailed(format, let reason))? = $0 as? ImageError else { return false }
                return reason.contains("\(maxDimension)") && reason.contains("\(maxDimension + 1)")
            }
        }
    }

    @Test("Transformers reject results beyond the limits before they allocate memory")
    func transformedSizes() throws {
        let pixels = try PixelPatterns.photo(width: 40, height: 30)
        let transformers: [any ImageTransformer] = [
            StandardTransformer.canvas(width: 16_385, height: 10), .canvas(width: 16_000, height: 16_000),
            .canvas(width: 1e9, height: 1e9), .resize(width: 16_000, upscales: true), .pad(100_000),
        ]
        for (index, transformer) in transformers.enumerated() {
            let start = ContinuousClock.now
            #expect {
                try transformer.transform(pixels, context: ImageProcessingContext())
            } throws: {
                guard case .limitExceeded(let failure)? = $0 as? ImageError else { return false }
                return failure.actual > failure.limit
                    && [.dimension, .pixelCount, .decodedSize].contains(failure.kind)
            }
            #expect(start.duration(to: .now) < .seconds(5), "transformer \(index)")
        }
    }
}
