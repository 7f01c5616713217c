// SPDX-License-Identifier: MIT

import CPNG
import Foundation
import Testing
import WebImageCodecs
import WebImageCore

/// The fixtures cover the decoder with libdeflate (8 bits and fewer, without interlacing), libpng (16 bits, interlacing, and
/// transparent colors), and the reduction row by row (16 bits).
private let files = [
    "rgb8.png", "rgba8.png", "gray1.png", "palette4-alpha.png", "rgb16.png", "rgb8-key.png", "rgba8-interlaced.png",
    "gray16-interlaced.png",
]

@Suite("PNG files with wrong checksums")
struct PNGChecksumTests {
    private func decode(_ data: Data, _ options: ImageDecodingOptions = ImageDecodingOptions()) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(data, options: options, context: ImageProcessingContext())
    }

    private static let options = [
        ImageDecodingOptions(), ImageDecodingOptions(size: .fit(width: 3)),
        ImageDecodingOptions(size: .fit(width: 3), preservesBitDepth: true),
        ImageDecodingOptions(preservesBitDepth: true),
        ImageDecodingOptions(allowsPartialData: true),
        ImageDecodingOptions(size: .fit(width: 3), allowsPartialData: true),
    ]

    /// Checks that `data` is decoded like the complete file, at every size and as a preview, and that it counts as corrupt.
    private func expectDamaged(_ data: Data, like whole: Data, _ note: String, previewMayFail: Bool = false) throws {
        for options in Self.options {
            let image = try decode(data, options)
            let expected = try decode(whole, options)
            #expect(image.metadata.isPartial && !expected.metadata.isPartial, "\(note)")
            #expect(image.pixels.hasSamePixels(as: expected.pixels), "\(note)")
            #expect(image.isOpaque == expected.isOpaque, "\(note)")
        }
        let expected = try decode(whole)
        for size in [1, 7, Int.max] {
            var feeding = try #require(try Feeding(data), "\(note)")
            do throws(ImageError) {
                let preview = try feeding.finish { size }
                #expect(preview?.isComplete == true && preview?.image.metadata.isPartial == true, "\(note), \(size)")
                #expect(preview?.image.pixels.hasSamePixels(as: expected.pixels) == true, "\(note), \(size)")
            } catch {
                #expect(previewMayFail && [4005, 4006].contains(error.code), "\(note), \(size): \(error)")
            }
        }
    }

    /// Returns the offset of each chunk of a file.
    private static func starts(_ parts: PNGParts) -> [Int] {
        parts.chunks.reduce(into: [8]) { $0.append(($0.last ?? 8) + 12 + $1.body.count) }
    }

    @Test("A file with a wrong CRC of any chunk is shown and counts as corrupt", arguments: files)
    func chunks(_ file: String) throws {
        let data = try Fixture.named(file).data()
        let parts = PNGParts(data)
        let starts = Self.starts(parts)
        // Without its transparent colors, a file would look different, so libpng’s rule for `tRNS` has a separate test.
        for (index, chunk) in parts.chunks.enumerated() where chunk.name != "tRNS" {
            var corrupt = data
            corrupt[starts[index] + 8 + chunk.body.count + index % 4] ^= 0x40
            try expectDamaged(corrupt, like: data, "\(chunk.name) \(index)")
        }
        #expect(PNGCoder.hasValidChecks(data))
    }

    @Test("A file with a wrong Adler-32 of its pixels is shown and counts as corrupt", arguments: files)
    func pixels(_ file: String) throws {
        let data = try Fixture.named(file).data()
        var parts = PNGParts(data)
        let last = try #require(parts.offsets(of: "IDAT").last)
        for place in 1...4 {
            parts.chunks[last].body[parts.chunks[last].body.count - place] ^= 0x11
            try expectDamaged(parts.file, like: data, "byte \(place)")
        }
        #expect(PNGCoder.hasValidChecks(parts.file), "the CRCs are correct")
    }

    @Test("An Adler-32 in chunks of its own, or in several chunks, is verified", arguments: ["rgb8.png", "rgb16.png"])
    func divided(_ file: String) throws {
        let data = try Fixture.named(file).data()
        for sizes in [[4], [1, 3], [3, 1], [1, 1, 1, 1], [2, 0, 2]] {
            var parts = PNGParts(data)
            let last = try #require(parts.offsets(of: "IDAT").last)
            var check = Array(parts.chunks[last].body.suffix(4))
            parts.chunks[last].body.removeLast(4)
            for isWrong in [false, true] {
                if isWrong { check[0] ^= 1 }
                var divided = parts
                var rest = check[...]
                for (index, size) in sizes.enumerated() {
                    divided.chunks.insert(.init(name: "IDAT", body: Array(rest.prefix(size))), at: last + 1 + index)
                    rest = rest.dropFirst(size)
                }
                let image = try decode(divided.file)
                #expect(image.pixels.hasSamePixels(as: try decode(data).pixels), "\(sizes)")
                // libpng doesn’t verify a checksum that it reads in several parts.
                if file == "rgb8.png" || sizes == [4] || !isWrong {
                    #expect(image.metadata.isPartial == isWrong, "\(sizes)")
                }
            }
        }
    }

    @Test("A file without the Adler-32 of its pixels is shown and counts as corrupt", arguments: files)
    func missing(_ file: String) throws {
        let data = try Fixture.named(file).data()
        for count in 1...4 {
            var parts = PNGParts(data)
            let last = try #require(parts.offsets(of: "IDAT").last)
            parts.chunks[last].body.removeLast(count)
            try expectDamaged(parts.file, like: data, "without \(count) bytes", previewMayFail: true)
        }
    }

    @Test("A file that ends in the checksums after its pixels is shown and counts as corrupt", arguments: files)
    func cut(_ file: String) throws {
        let data = try Fixture.named(file).data()
        let parts = PNGParts(data)
        let last = try #require(parts.offsets(of: "IDAT").last)
        // The Adler-32 and the CRC have four bytes each.
        let end = Self.starts(parts)[last] + 12 + parts.chunks[last].body.count
        for count in 1...8 {
            try expectDamaged(data.prefix(end - count), like: data, "without \(count) bytes", previewMayFail: true)
        }
        // The end chunk alone is missing, which other decoders don’t notice either.
        #expect(try !decode(data.prefix(end)).metadata.isPartial)
        for count in 1...11 { #expect(try decode(data.dropLast(count)).metadata.isPartial) }
    }

    @Test("A wrong CRC of text before or after the pixels counts as damage")
    func text() throws {
        let data = try Fixture.named("rgba8.png").data()
        for isFirst in [true, false] {
            var parts = PNGParts(data)
            parts.chunks.insert(
                .init(name: "tEXt", body: Array("Title\0Lighthouse".utf8)), at: isFirst ? 1 : parts.chunks.count - 1)
            #expect(try !decode(parts.file).metadata.isPartial)
            var corrupt = parts.file
            let name = try #require(corrupt.firstRange(of: Data("Lighthouse".utf8)))
            corrupt[name.lowerBound] = 0x6C
            try expectDamaged(corrupt, like: data, "first: \(isFirst)")
        }
    }

    @Test("Transparent colors with a wrong CRC are ignored, as in other decoders that use libpng")
    func transparency() throws {
        for file in ["palette4-alpha.png", "rgb8-key.png"] {
            let data = try Fixture.named(file).data()
            let parts = PNGParts(data)
            var corrupt = data
            let index = try #require(parts.offsets(of: "tRNS").first)
            corrupt[Self.starts(parts)[index + 1] - 1] ^= 1
            let image = try decode(corrupt)
            #expect(image.metadata.isPartial)
            #expect(image.pixels.hasSamePixels(as: try decode(parts.without("tRNS").file).pixels))
        }
    }

    @Test("Structural damage is an error, also with correct checksums", arguments: files)
    func structure(_ file: String) throws {
        let data = try Fixture.named(file).data()
        let parts = PNGParts(data)
        func expectError(_ data: Data, _ note: String) {
            #expect(throws: ImageError.self, "\(note)") { try decode(data) }
        }
        let first = try #require(parts.offsets(of: "IDAT").first)
        var short = parts
        let last = try #require(parts.offsets(of: "IDAT").last)
        short.chunks[last].body.removeLast(parts.chunks[last].body.count / 2)
        expectError(short.file, "half of a chunk")
        expectError(
            data.prefix(Self.starts(parts)[first] + 8 + parts.chunks[first].body.count / 2), "half of the pixels")
        expectError(parts.without("IDAT").file, "no pixels")
        var invalid = parts
        invalid.chunks[first].body[0] ^= 0x0F
        expectError(invalid.file, "an invalid compression method")
        var larger = parts
        larger.chunks[0].body[7] += 1
        expectError(larger.file, "a row more than the data contains")
        if !parts.offsets(of: "PLTE").isEmpty { expectError(parts.without("PLTE").file, "no palette") }
    }

    @Test("Wrong CRCs in an animation don’t change its frames, and it counts as corrupt")
    func animation() throws {
        for file in ["apng-rgba-cover.png", "apng-palette.png"] {
            let fixture = try Fixture.named(file)
            let data = try fixture.data()
            let expected = try fixture.expectedFrames()
            let parts = PNGParts(data)
            let starts = Self.starts(parts)
            let names = ["IHDR", "acTL", "fcTL", "IDAT", "fdAT", "PLTE", "IEND"]
            for index in names.flatMap({ [parts.offsets(of: $0).first, parts.offsets(of: $0).last] }).compactMap({ $0 })
            {
                var corrupt = data
                corrupt[starts[index + 1] - 1] ^= 0x80
                let image = try decode(corrupt)
                #expect(image.metadata.isPartial && image.frameCount == fixture.frames, "\(parts.chunks[index].name)")
                let frames = try (0..<image.frameCount).map { try image.animation?.frame(at: $0).packedBytes() ?? [] }
                #expect(areEqual(frames, expected), "\(parts.chunks[index].name)")
                #expect(try ImageInfo(data: corrupt).frameCount == fixture.frames)
                try expectGrowing(corrupt, expected, "\(parts.chunks[index].name)")
            }
        }
    }

    private func expectGrowing(_ data: Data, _ expected: [[UInt8]], _ note: String) throws {
        let context = ImageProcessingContext()
        let start = try ImageCoderRegistry.standard.progressiveStart(
            data, encodedBytes: data.count, growsAnimations: true, context: context)
        guard case .decoder(let decoder, _) = start else {
            Issue.record("there’s no decoder: \(note)")
            return
        }
        try decoder.append(data, isLast: true, context: context)
        let image = try #require(try decoder.makePreview(context: context)).image
        #expect(image.metadata.isPartial && image.frameCount == expected.count, "\(note)")
        let frames = try (0..<image.frameCount).map { try image.animation?.frame(at: $0).packedBytes() ?? [] }
        #expect(areEqual(frames, expected), "\(note)")
    }

    @Test("Frames with a wrong Adler-32 are shown")
    func frames() throws {
        let fixture = try Fixture.named("apng-rgb.png")
        var parts = PNGParts(try fixture.data())
        // The data of a frame ends before the control chunk of the next one.
        for control in parts.offsets(of: "fcTL").dropFirst() {
            parts.chunks[control - 1].body[parts.chunks[control - 1].body.count - 1] ^= 1
        }
        let image = try decode(parts.file)
        let frames = try (0..<image.frameCount).map { try image.animation?.frame(at: $0).packedBytes() ?? [] }
        #expect(areEqual(frames, try fixture.expectedFrames()))
    }

    @Test("A PNG image with a wrong CRC in an icon is shown")
    func icon() throws {
        let fixture = try Fixture.named("png.ico")
        var data = try fixture.data()
        let name = try #require(data.firstRange(of: Data("IDAT".utf8)))
        let size = data[name.lowerBound - 4..<name.lowerBound].reduce(0) { $0 << 8 | Int($1) }
        let expected = try decode(data)
        data[name.upperBound + size] ^= 1
        let image = try decode(data)
        #expect(image.metadata.isPartial && image.pixels.hasSamePixels(as: expected.pixels))
    }

    @Test("The checksums are verified in the same way regardless of how the data is divided")
    func divisions() throws {
        var generator = SeededGenerator(12)
        for file in ["rgb8.png", "palette4-alpha.png", "animated.png"] {
            let whole = [UInt8](try Fixture.named(file).data())
            for round in 0..<60 {
                var bytes = whole
                if round % 3 == 1 { bytes[Int.random(in: 8..<bytes.count, using: &generator)] ^= 4 }
                if round % 3 == 2 { bytes.removeLast(Int.random(in: 1..<bytes.count, using: &generator)) }
                var checks = wi_png_checks()
                var place = 0
                while place < bytes.count {
                    let size = min(bytes.count - place, Int.random(in: 1...90, using: &generator))
                    var done = 0
                    while done < size {
                        let part = bytes.withUnsafeBufferPointer {
                            wi_png_checks_add(&checks, $0.baseAddress.map { $0 + place + done }, size - done)
                        }
                        try #require(part > 0 && part <= size - done)
                        done += part
                    }
                    place += size
                }
                #expect(wi_png_checks_failed(&checks, true) == !wi_png_has_valid_checks(bytes, bytes.count))
                if round % 3 == 0 { #expect(!wi_png_checks_failed(&checks, true)) }
            }
        }
    }

    @Test(
        "The file of a bug report is shown and counts as corrupt",
        .enabled(if: SharedCases.directory != nil, "the shared cases aren't available"))
    func report() throws {
        let data = try SharedCases.data("png-bad-crc-idat.png")
        for options in Self.options { #expect(try decode(data, options).metadata.isPartial) }
        #expect(!PNGCoder.hasValidChecks(data))
    }
}
