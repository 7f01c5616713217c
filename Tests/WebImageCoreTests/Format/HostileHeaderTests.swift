// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite struct HostileHeaderTests {
    private func failure(_ builder: ByteBuilder) -> ImageError? {
        guard case .failed(let error) = ImageInfo.probe(builder.data, isComplete: true) else { return nil }
        return error
    }

    private func refusal(_ builder: ByteBuilder, _ limits: ImageLimits = .desktop) -> ImageError.LimitFailure.Kind? {
        do {
            try limits.check(ImageInfo(data: builder.data), encodedBytes: builder.bytes.count)
            return nil
        } catch {
            guard case .limitExceeded(let limit) = error else { return nil }
            return limit.kind
        }
    }

    @Test("A PNG of 65 bytes that claims 16,384 × 16,384 pixels exceeds the pixel limit and isn't plausible")
    func pngBomb() {
        let bomb = Sample.png(16_384, 16_384, bitDepth: 8, colorType: 6)
        #expect(refusal(bomb) == .pixelCount)
        var open = ImageLimits.unlimited
        open.rejectsImplausibleFiles = true
        #expect(refusal(bomb, open) == .implausibleSize)
        #expect(refusal(Sample.png(5_000, 5_000, bitDepth: 16, colorType: 6)) == .implausibleSize)
        #expect(refusal(Sample.png(0x7FFF_FFFF, 0x7FFF_FFFF, bitDepth: 16, colorType: 6), open) == .implausibleSize)
    }

    @Test("Decompression bombs in other formats are rejected")
    func otherBombs() {
        #expect(refusal(Sample.jpeg(7_000, 7_000)) == .implausibleSize)
        #expect(refusal(Sample.jpeg(7_000, 7_000, sof: 0xC9)) == nil, "arithmetic coding has no minimum size")
        #expect(refusal(Sample.gif(7_000, 7_000, Sample.gifFrame(7_000, 7_000))) == .implausibleSize)
        #expect(refusal(Sample.gif(7_000, 7_000, Sample.gifFrame(1, 1))) == nil, "a small image on a large screen")
        #expect(refusal(Sample.bitmap(Sample.bitmapHeader(40, 6_000, 6_000, bits: 24))) == .implausibleSize)
        #expect(refusal(Sample.bitmap(Sample.bitmapHeader(40, 0x7FFF_FFFF, -0x8000_0000, bits: 32))) == .dimension)
        #expect(
            refusal(Sample.webp(Sample.canvas(2, 16_000, 16_000).riff("ANIM", ByteBuilder().zeros(6)))) == .pixelCount)
        #expect(refusal(ByteBuilder().text("<svg width='1e99' height='1e300'/>")) == .dimension)
        let frames = (0..<2_001).reduce(ByteBuilder()) { builder, _ in builder.joined(Sample.gifFrame(1, 1)) }
        #expect(refusal(Sample.gif(1, 1, frames)) == .frameCount)
    }

    @Test("Header parts that exceed their bounds throw a structure limit error with the limit")
    func structure() {
        func isStructure(_ builder: ByteBuilder, _ limit: Int) -> Bool {
            guard case .limitExceeded(let error) = failure(builder) else { return false }
            return error.kind == .metadataSize && error.limit == limit
        }
        let text = (0..<65).reduce(ByteBuilder()) { builder, _ in builder.chunk("tEXt") }
        #expect(isStructure(Sample.png(1, 1, before: text), 64))
        let chunks = ByteBuilder().joined((0..<10_001).flatMap { _ in ByteBuilder().chunk("abCd").bytes })
        #expect(isStructure(Sample.png(1, 1, after: chunks), 10_000))
        #expect(isStructure(Sample.png(1, 1, before: ByteBuilder().big(5 << 20, 4).text("iCCP")), 4 << 20))
        #expect(isStructure(Sample.png(1, 1, before: ByteBuilder().big(2 << 20, 4).text("eXIf")), 1 << 20))
        func profile(_ numbers: some Sequence<UInt8>) -> ByteBuilder {
            numbers.reduce(ByteBuilder()) { builder, number in
                builder.segment(0xE2, ByteBuilder().text("ICC_PROFILE\0").raw(number, 65).zeros(65_000))
            }
        }
        #expect(isStructure(Sample.jpeg(1, 1, before: profile(1...65)), 4 << 20))
        // A profile that is sent twice counts once.
        #expect(failure(Sample.jpeg(1, 1, before: profile(1...40).joined(profile(1...40)))) == nil)
        let webp = Sample.webp(Sample.canvas(2, 1, 1).text("ICCP").little(5 << 20, 4).zeros(4))
        #expect(
            isStructure(
                ByteBuilder().joined(webp.bytes.prefix(4)).little(6 << 20, 4).joined(webp.bytes.dropFirst(8)), 4 << 20))
    }

    @Test("A Fujifilm RAW file without a valid position of its JPEG file has no preview")
    func fujifilm() {
        func hasNoPreview(offset: Int? = nil, count: Int? = nil) -> Bool {
            guard case .decoding(let error) = failure(Sample.fujifilm(offset: offset, count: count)),
                case .unsupportedFeature(let feature) = error.reason
            else { return false }
            return error.format == .raf && feature == "a file without a JPEG preview"
        }
        #expect(!hasNoPreview())
        #expect(hasNoPreview(offset: 0xFFFF_FFFF) && hasNoPreview(offset: 100_000), "after the end of the file")
        #expect(hasNoPreview(count: 0) && hasNoPreview(count: 4), "too small for a JPEG file")
        for offset in [0, 16, 84, 91] { #expect(hasNoPreview(offset: offset), "in the header") }
        #expect(hasNoPreview(offset: 100) && hasNoPreview(offset: 149), "no JPEG file")
        #expect(hasNoPreview(offset: 0xFFFF_FFFF, count: 0xFFFF_FFFF))
        // The JPEG file may be truncated, but its beginning must be within the size.
        #expect(!hasNoPreview(count: 0xFFFF_FFFF) && hasNoPreview(count: 20))
        #expect(Sample.fujifilm().bytes[84..<88].elementsEqual([0, 0, 0, 148]))
    }

    @Test("Sizes of zero and impossible headers throw `corrupt`")
    func damage() {
        func isDamaged(_ builder: ByteBuilder) -> Bool {
            guard case .decoding(let error) = failure(builder), case .corrupted = error.reason else { return false }
            return true
        }
        #expect(isDamaged(Sample.png(0, 1)))
        #expect(isDamaged(Sample.png(1, 0)))
        #expect(isDamaged(Sample.png(1, 1, bitDepth: 3)))
        #expect(failure(Sample.png(1, 1).patched(30, 1)) == nil, "a wrong checksum alone")
        #expect(isDamaged(Sample.jpeg(0, 1)))
        #expect(isDamaged(ByteBuilder().raw(0xFF, 0xD8, 0xFF, 0xE0, 0, 1)))
        #expect(isDamaged(Sample.gif(0, 0, Sample.gifFrame(0, 4))))
        #expect(isDamaged(Sample.gif(4, 4, ByteBuilder())))
        #expect(isDamaged(Sample.bitmap(Sample.bitmapHeader(40, 0, 1, bits: 8))))
        #expect(isDamaged(Sample.bitmap(Sample.bitmapHeader(40, -5, 1, bits: 8))))
        #expect(isDamaged(Sample.bitmap(Sample.bitmapHeader(40, 1, 1, bits: 7))))
        #expect(isDamaged(Sample.brands("avif").box("meta", ByteBuilder().zeros(4))))
        #expect(isDamaged(ByteBuilder().text("<svg width='0' height='1'/>")))
        #expect(
            failure(Sample.jpeg(1, 0))
                == .decoding(
                    .unsupportedFeature(format: .jpeg, feature: "a height that is defined after the first scan (DNL)")))
    }

    @Test("Endless structures end with an error")
    func loops() {
        let zeroBoxes = Sample.brands("avif").joined(ByteBuilder().zeros(4_000))
        #expect(failure(zeroBoxes) != nil)
        let tinyBoxes = Sample.brands("avif").joined(
            (0..<4_000).flatMap { _ in ByteBuilder().big(1, 4).zeros(12).bytes })
        #expect(failure(tinyBoxes) != nil)
        let greedy = Sample.brands("avif").big(0x7FFF_FFFF, 4).text("meta").zeros(64)
        #expect(failure(greedy) != nil)
        let many = Sample.brands("avif").joined((0..<40_000).flatMap { _ in [0, 0, 0, 8, 0x66, 0x72, 0x65, 0x65] })
        #expect(failure(many)?.code == ImageError.LimitFailure.Kind.metadataSize.rawValue)
        let filled = ByteBuilder().raw(0xFF, 0xD8).joined([UInt8](repeating: 0xFF, count: 100_000))
        #expect(failure(filled)?.code == 4006)
        let huge = Sample.brands("heic").big(1, 4).text("mdat").joined([UInt8](repeating: 0xFF, count: 64))
        #expect(failure(huge) != nil)
    }

    @Test("Corrupt EXIF data means no rotation")
    func exif() {
        #expect(ImageOrientation(exif: Sample.exif(6).data) == .right)
        #expect(
            ImageOrientation(exif: ByteBuilder().text("Exif\0\0").joined(Sample.exif(3, bigEndian: true)).data)
                == .down
        )
        #expect(ImageOrientation(exif: Data()) == nil)
        for value in [0, 9, 255, 65_535] { #expect(ImageOrientation(exif: Sample.exif(value).data) == nil) }
        let whole = Sample.exif(6).data
        for count in 0..<18 { #expect(ImageOrientation(exif: whole.prefix(count)) == nil) }
        #expect(ImageOrientation(exif: Sample.exif(6).patched(4, 0xFF).patched(7, 0xFF).data) == nil)
        #expect(
            ImageOrientation(exif: Sample.exif(6).patched(9, 0xFF).data) == .right,
            "the value precedes the missing end"
        )
    }

    private func unsupported(_ builder: ByteBuilder) -> String? {
        guard case .decoding(let error) = failure(builder), case .unsupportedFeature(let feature) = error.reason else {
            return nil
        }
        return feature
    }

    @Test("A JPEG with more than 8 bits per sample is rejected with the number of bits", arguments: [2, 12, 16])
    func deepJPEG(_ depth: Int) {
        #expect(
            unsupported(Sample.jpeg(9, 9, sof: 0xC1, depth: depth))
                == "\(depth) bits per sample (the decoder supports 8)")
    }

    @Test("A JPEG 2000 codestream is rejected before OpenJPEG allocates memory for tiles, components, or bits")
    func wavelets() {
        func limit(_ builder: ByteBuilder) -> Int? {
            guard case .limitExceeded(let error) = failure(builder), error.kind == .metadataSize else { return nil }
            return error.limit
        }
        #expect(limit(Sample.codestream(65_535, 65_535, tile: (1, 1))) == 8_192)
        #expect(limit(Sample.codestream(0xFFFF_FFFF, 0xFFFF_FFFF, tile: (1, 1))) == 8_192)
        #expect(limit(Sample.codestream(9, 9, bits: Array(repeating: 8, count: 6))) == 5)
        #expect(unsupported(Sample.codestream(9, 9, bits: [17])) == "17 bits per sample (the decoder supports 16)")
        #expect(
            refusal(Sample.codestream(20_000, 20_000)) == .dimension
                || refusal(Sample.codestream(20_000, 20_000)) == .pixelCount)
        #expect(failure(Sample.codestream(0, 9)) != nil)
        #expect(failure(Sample.codestream(9, 9, tile: (0, 9))) != nil)
        #expect(failure(Sample.codestream(9, 9, steps: 0)) != nil)
    }

    @Test("The directories of a RAW file may form a cycle, and too many of them exceed a limit")
    func directories() {
        // The subdirectory is the first directory.
        let cycle = Sample.raw([(330, 4, 1, 8), (50_706, 1, 4, 1)], make: nil)
        #expect(unsupported(cycle) == "a file without a JPEG preview")
        // A chain of directories without tags, which consist of a count and the position of the next one.
        let base = Sample.raw([(50_706, 1, 4, 1)], make: nil).bytes.count
        var chain = Sample.raw([(50_706, 1, 4, 1)], make: nil).patched(base - 4, UInt8(base))
        for index in 1...70 { chain = chain.little(0, 2).little(base + index * 6, 4) }
        guard case .limitExceeded(let error) = failure(chain) else {
            Issue.record("no limit")
            return
        }
        #expect(error.limit == 64 && error.actual == 65)
    }

    @Test("Lossless JPEG data and positions outside a RAW file aren't previews")
    func invalidPreviews() {
        let lossless = Sample.jpeg(640, 480, sof: 0xC3)
        func file(_ start: Int, _ count: Int) -> ByteBuilder {
            Sample.raw([(50_706, 1, 4, 1), (513, 4, 1, start), (514, 4, 1, count)], make: nil)
        }
        let start = file(0, 0).bytes.count
        #expect(unsupported(file(start, lossless.bytes.count).joined(lossless)) == "a file without a JPEG preview")
        for position in [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFF] {
            #expect(unsupported(file(position, 0xFFFF_FFFF)) == "a file without a JPEG preview")
        }
    }

    /// A DNG file with a chain of directories, each of which refers to the same data with another length.
    private func overlapping(_ directories: Int, _ image: ByteBuilder) -> ByteBuilder {
        let base = Sample.raw([(50_706, 1, 4, 1)], make: nil).bytes.count
        let start = base + directories * 30
        var file = Sample.raw([(50_706, 1, 4, 1)], make: nil).patched(base - 4, UInt8(base))
        for index in 1...directories {
            file = file.little(2, 2).little(513, 2).little(4, 2).little(1, 4).little(start, 4)
                .little(514, 2).little(4, 2).little(1, 4).little(image.bytes.count - index, 4)
                .little(index == directories ? 0 : base + index * 30, 4)
        }
        return file.joined(image)
    }

    @Test("The JPEG segments of overlapping previews in a RAW file exceed a common limit")
    func overlappingPreviews() {
        func image(segments: Int) -> ByteBuilder {
            let content = (0..<segments).reduce(ByteBuilder()) { all, _ in all.segment(0xE4, ByteBuilder()) }
            return Sample.jpeg(64, 48, before: content).zeros(80)
        }
        guard case .limitExceeded(let error) = failure(overlapping(60, image(segments: 40))) else {
            Issue.record("no limit")
            return
        }
        #expect(error.kind == .metadataSize && error.limit == 1_024 && error.actual == 1_025)
        // Fewer segments are accepted.
        #expect(failure(overlapping(60, image(segments: 10))) == nil)
    }

    @Test("The bytes between the JPEG segments of overlapping previews share a limit, and other previews are found")
    func overlappingStrayBytes() throws {
        let stray = Sample.jpeg(64, 48, before: ByteBuilder().segment(0xE4, ByteBuilder()).zeros(40 << 10)).zeros(80)
        // The second preview would pass another 40 KiB, so it's ignored.
        #expect(try ImageInfo(data: overlapping(60, stray).data).size == PixelSize(width: 64, height: 48))
    }

    @Test("A RAW file whose directory has more than 1,024 entries is rejected")
    func directoryEntries() {
        func file(_ entries: Int) -> ByteBuilder {
            let image = Sample.jpeg(640, 480)
            func structure(_ start: Int) -> ByteBuilder {
                Sample.raw(
                    (0..<entries - 3).map { (1_000 + $0, 3, 1, 1) }
                        + [(50_706, 1, 4, 1), (513, 4, 1, start), (514, 4, 1, image.bytes.count)], make: nil)
            }
            return structure(structure(0).bytes.count).joined(image)
        }
        #expect(failure(file(1_024)) == nil)
        guard case .limitExceeded(let error) = failure(file(1_025)) else {
            Issue.record("no limit")
            return
        }
        #expect(error.kind == .metadataSize && error.limit == 1_024 && error.actual == 1_025)
    }

    @Test("An Apple icon with too many entries, an entry outside the file, or only old types is rejected")
    func appleIcons() {
        let many = Sample.appleIcon((0..<300).map { _ in ("is32", ByteBuilder().zeros(3)) })
        guard case .limitExceeded(let error) = failure(many) else {
            Issue.record("no limit")
            return
        }
        #expect(error.limit == 256)
        #expect(
            unsupported(Sample.appleIcon([("ICN#", ByteBuilder().zeros(256))])) == "icons with up to 8 bits per pixel")
        let outside = ByteBuilder().text("icns").big(40, 4).entry("is32", ByteBuilder().zeros(4)).text("il32").big(
            99, 4
        )
        .zeros(12)
        #expect(failure(outside) != nil)
    }
}
