// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

/// Tests for HEIF and AVIF files whose items, parameter sets, or sample tables make a library crash, run for minutes,
/// or use much more memory than the size in the header suggests.
@Suite("Hostile item lists and image sequences")
struct ItemGraphTests {
    private typealias Reference = (name: String, from: Int, to: [Int])

    /// An item with the properties at the indices `properties`, counted from 1.
    private struct Item {
        var kind = "hvc1"
        var isHidden = false
        var properties = [1]
        var data = ByteBuilder()
    }

    private func extent(_ width: Int, _ height: Int) -> ByteBuilder {
        ByteBuilder().box("ispe", ByteBuilder().zeros(4).big(width, 4).big(height, 4))
    }

    private func grid(_ columns: Int, _ rows: Int, _ width: Int, _ height: Int) -> ByteBuilder {
        ByteBuilder().raw(0, 1, UInt8(rows - 1), UInt8(columns - 1)).big(width, 4).big(height, 4)
    }

    /// Returns a file whose items have the identifiers 1, 2, … The data of the items is in the `idat` box.
    private func file(
        _ items: [Item], _ references: [Reference] = [], properties: ByteBuilder? = nil, brand: String = "heic"
    ) -> ByteBuilder {
        var infos = ByteBuilder().zeros(4).big(items.count, 2)
        var associations = ByteBuilder().zeros(4).big(items.count, 4)
        var locations = ByteBuilder().raw(1, 0, 0, 0, 0x44, 0).big(items.count, 2)
        var data = ByteBuilder()
        for (place, item) in items.enumerated() {
            infos = infos.box(
                "infe",
                ByteBuilder().raw(2, 0, 0, item.isHidden ? 1 : 0).big(place + 1, 2).zeros(2).text(item.kind).zeros(1))
            associations = associations.big(place + 1, 2).big(item.properties.count, 1)
                .joined(item.properties.map { UInt8($0) })
            locations = locations.big(place + 1, 2).big(1, 2).zeros(2).big(item.data.bytes.isEmpty ? 0 : 1, 2)
            if !item.data.bytes.isEmpty {
                locations = locations.big(data.bytes.count, 4).big(item.data.bytes.count, 4)
            }
            data = data.joined(item.data)
        }
        var iref = ByteBuilder().zeros(4)
        for reference in references {
            let targets = reference.to.reduce(ByteBuilder()) { $0.big($1, 2) }
            iref = iref.box(
                reference.name, ByteBuilder().big(reference.from, 2).big(reference.to.count, 2).joined(targets))
        }
        let iprp = ByteBuilder().box("ipco", properties ?? extent(64, 64)).box("ipma", associations)
        let meta = ByteBuilder().zeros(4).box("pitm", ByteBuilder().zeros(4).big(1, 2)).box("iinf", infos)
            .box("iref", iref).box("iprp", iprp).box("iloc", locations).box("idat", data)
        return Sample.brands(brand, "mif1").box("meta", meta)
    }

    private func failure(_ file: ByteBuilder) -> ImageError? {
        guard case .failed(let error) = ImageInfo.probe(file.data, isComplete: true) else { return nil }
        return error
    }

    private func isCorrupt(_ file: ByteBuilder) -> Bool {
        guard case .decoding(let error) = failure(file), case .corrupted = error.reason else { return false }
        return true
    }

    private func limit(_ file: ByteBuilder) -> Int? {
        guard case .limitExceeded(let error) = failure(file), error.kind == .metadataSize else { return nil }
        return error.limit
    }

    /// Returns the violated limit after the header was accepted.
    private func refusal(_ file: ByteBuilder, _ limits: ImageLimits = .desktop) throws -> ImageError.LimitFailure? {
        let info = try ImageInfo(data: file.data)
        do {
            try limits.check(info, encodedBytes: file.bytes.count)
            return nil
        } catch {
            guard case .limitExceeded(let limit) = error else { throw error }
            return limit
        }
    }

    @Test(
        "An item that is derived from itself, directly or through other items, is corrupt",
        arguments: ["grid", "iovl", "iden"], ["heic", "avif"])
    func cycles(_ kind: String, _ brand: String) {
        let item = Item(kind: kind, data: grid(1, 1, 64, 64))
        #expect(isCorrupt(file([item], [("dimg", 1, [1])], brand: brand)))
        #expect(isCorrupt(file([item, item], [("dimg", 1, [2]), ("dimg", 2, [1])], brand: brand)))
        // Neither of the hidden items belongs to the primary image.
        let hidden = Item(kind: kind, isHidden: true)
        #expect(
            isCorrupt(file([Item(), hidden, hidden], [("dimg", 2, [3]), ("dimg", 3, [2])], brand: brand)))
    }

    @Test("An alpha plane or a thumbnail that refers to itself is corrupt")
    func auxiliaryCycles() {
        #expect(isCorrupt(file([Item()], [("auxl", 1, [1])])))
        #expect(isCorrupt(file([Item(), Item()], [("auxl", 1, [2]), ("auxl", 2, [1])])))
        #expect(isCorrupt(file([Item()], [("thmb", 1, [1])])))
        #expect(
            isCorrupt(file([Item(kind: "grid"), Item()], [("dimg", 1, [2]), ("auxl", 1, [2])])),
            "the alpha plane of a tile consists of this tile")
    }

    @Test("Items with more than four references on a path exceed a limit, and four are accepted")
    func depth() {
        func chain(_ count: Int) -> ByteBuilder {
            file(
                (0..<count).map { _ in Item(kind: "iden") } + [Item()],
                (1...count).map { ("dimg", $0, [$0 + 1]) })
        }
        #expect(failure(chain(4)) == nil)
        #expect(limit(chain(5)) == 4)
    }

    @Test("More than 1,024 references or 4,096 items exceed a limit")
    func counts() {
        let many = Array(repeating: 2, count: 600)
        #expect(limit(file([Item(kind: "grid"), Item()], [("dimg", 1, many), ("cdsc", 2, many)])) == 1_024)
        #expect(limit(file((0..<4_097).map { _ in Item() })) == 4_096)
    }

    @Test("Duplicate items, item lists, and locations are corrupt, because libraries differ in which they use")
    func duplicates() {
        let plain = file([Item()])
        #expect(failure(plain) == nil)
        #expect(isCorrupt(plain.joined(plain.bytes.dropFirst(20))), "a second item list")
        let start = ByteBuilder().zeros(4)
        let entry = ByteBuilder().raw(2, 0, 0, 0).big(1, 2).zeros(2).text("hvc1").zeros(1)
        let iinf = ByteBuilder().zeros(4).big(2, 2).box("infe", entry).box("infe", entry)
        let iprp = ByteBuilder().box("ipco", extent(8, 8))
            .box("ipma", ByteBuilder().zeros(4).big(1, 4).big(1, 2).raw(1, 1))
        let meta = start.box("pitm", start.big(1, 2)).box("iinf", iinf).box("iprp", iprp)
        #expect(isCorrupt(Sample.brands("heic").box("meta", meta)), "an item that occurs twice")
    }

    @Test("The sizes of all tiles count for the limit of pixels, also if they're hidden and repeated")
    func tileAreas() throws {
        let sizes = extent(64, 64).joined(extent(8_000, 8_000))
        let tile = Item(isHidden: true, properties: [2])
        let hostile = file(
            [Item(kind: "grid", data: grid(1, 2, 64, 64)), tile], [("dimg", 1, [2, 2])], properties: sizes)
        let error = try #require(try refusal(hostile))
        #expect(error.kind == .pixelCount && error.actual == 2 * 8_000 * 8_000)
        // The last column and the last row of a regular grid extend beyond the image.
        let regular = file(
            [Item(kind: "grid", properties: [1], data: grid(2, 2, 100, 70))] + (0..<4).map { _ in tile },
            [("dimg", 1, [2, 3, 4, 5])], properties: extent(100, 70).joined(extent(64, 64)))
        let single = file(
            [Item(kind: "grid", data: grid(1, 1, 64, 64)), tile], [("dimg", 1, [2])], properties: sizes)
        #expect(try refusal(single)?.actual == 8_000 * 8_000, "one tile that is larger than the image")
        var limits = ImageLimits.desktop
        limits.maxPixels = 100 * 70
        #expect(try refusal(regular, limits) == nil)
    }

    @Test("The visible tiles of a grid, and a gain map, aren't independent images")
    func parts() throws {
        func images(_ items: [Item], _ references: [Reference], brand: String = "heic") throws -> Int {
            let info = try ImageInfo(data: file(items, references, brand: brand).data)
            #expect(info.frameCountIsExact)
            return info.frameCount
        }
        let tiles = [Item(kind: "grid", data: grid(2, 2, 100, 100))] + (0..<4).map { _ in Item() }
        #expect(try images(tiles, [("dimg", 1, [2, 3, 4, 5])]) == 1)
        #expect(try images(tiles, [("dimg", 1, [2, 2, 3, 3])]) == 3, "two items are no tiles")
        #expect(try images(tiles + [Item()], [("dimg", 1, [2, 3, 4, 5])]) == 2)
        // A thumbnail that is a grid has visible tiles, too.
        #expect(try images([Item()] + tiles, [("thmb", 2, [1]), ("dimg", 2, [3, 4, 5, 6])]) == 1)
        // The primary image is an image even if it is also a tile.
        let tile = [Item(), Item(kind: "grid", data: grid(1, 1, 64, 64))]
        #expect(try images(tile, [("dimg", 2, [1])]) == 2)
        #expect(try images([Item(), Item(), Item(kind: "tmap")], [("dimg", 3, [1, 2])]) == 1)
        // The sources of an overlay are whole images.
        let canvas = ByteBuilder().raw(0, 1).zeros(8).big(64, 4).big(64, 4)
        #expect(try images([Item(kind: "iovl", data: canvas), Item(), Item()], [("dimg", 1, [2, 3])]) == 3)
        // libavif decodes only the primary image.
        #expect(try images(tiles, [("dimg", 1, [2, 3, 4, 5])], brand: "avif") == 1)
        #expect(try images([Item(), Item()], [], brand: "avif") == 1)
    }

    @Test("The canvas of an overlay counts for the limit of pixels")
    func overlays() throws {
        let canvas = ByteBuilder().raw(0, 1).zeros(8).big(30_000, 4).big(30_000, 4)
        let overlay = file([Item(kind: "iovl", data: canvas), Item()], [("dimg", 1, [2])])
        #expect(try refusal(overlay)?.actual == 30_000 * 30_000)
    }

    @Test("Each tile after the first 256 is charged half a mebibyte")
    func tileCounts() throws {
        func tiles(_ count: Int) -> ByteBuilder {
            file(
                [Item(kind: "grid", data: grid(1, 2, 64, 64)), Item(isHidden: true)],
                [("dimg", 1, Array(repeating: 2, count: count))], properties: extent(2, 2))
        }
        #expect(try refusal(tiles(256)) == nil && refusal(tiles(700)) == nil)
        let error = try #require(try refusal(tiles(1_000)))
        #expect(error.kind == .decodedSize && error.actual == 2 * 2 * 4 + (1_000 - 256) << 19)
        #expect(error.limit == 256 << 20)
    }

    // MARK: - Coded sizes

    /// Returns the bytes of bit fields, with the highest bit of each byte first.
    private func bits(_ fields: [(value: Int, count: Int)]) -> ByteBuilder {
        let all = fields.flatMap { field in (0..<field.count).reversed().map { UInt8(field.value >> $0 & 1) } }
        let bytes = stride(from: 0, to: all.count, by: 8).map { start in
            (0..<8).reduce(UInt8(0)) { $0 << 1 | (start + $1 < all.count ? all[start + $1] : 0) }
        }
        return ByteBuilder().joined(bytes)
    }

    /// Returns a number in an exponential-Golomb code.
    private func golomb(_ value: Int) -> (value: Int, count: Int) {
        let width = (value + 1).bitWidth - (value + 1).leadingZeroBitCount
        return (value + 1, width * 2 - 1)
    }

    /// Returns a sequence parameter set of HEVC for an image of 4:2:0 samples.
    private func parameterSet(_ width: Int, _ height: Int) -> ByteBuilder {
        // Other bits than zero avoid byte sequences that need emulation prevention.
        let profile: [(value: Int, count: Int)] = (0..<12).map { _ in (0x55, 8) }
        let start: [(value: Int, count: Int)] = [(33 << 9 | 1, 16), (0, 4), (0, 3), (1, 1)]
        return bits(start + profile + [golomb(0), golomb(1), golomb(width), golomb(height), (0x155, 9)])
    }

    private func configuration(_ set: ByteBuilder) -> ByteBuilder {
        ByteBuilder().box(
            "hvcC",
            ByteBuilder().zeros(21).raw(3, 1, 0xA1).big(1, 2).big(set.bytes.count, 2).joined(set))
    }

    @Test("The size in an HEVC parameter set counts for the limit of pixels, wherever the set is")
    func codedHEVC() throws {
        let hostile = parameterSet(16_000, 16_000)
        let configured = file([Item(properties: [1, 2])], properties: extent(64, 64).joined(configuration(hostile)))
        #expect(try refusal(configured)?.actual == 16_000 * 16_000)
        let unit = ByteBuilder().big(3, 4).raw(0x28, 1, 0xAF).big(hostile.bytes.count, 4).joined(hostile)
        #expect(try refusal(file([Item(data: unit)]))?.actual == 16_000 * 16_000)
        // Encoders pad the image to whole blocks.
        var limits = ImageLimits.desktop
        limits.maxPixels = 60 * 50
        let padded = file(
            [Item(properties: [1, 2])], properties: extent(60, 50).joined(configuration(parameterSet(64, 64))))
        #expect(try refusal(padded, limits) == nil)
    }

    @Test("The size in an AV1 sequence header counts for the limit of pixels, wherever the header is")
    func codedAV1() throws {
        // A reduced header: profile 0, a still image, level 0, and sides of 16 bits.
        let header = bits([
            (0, 3), (1, 1), (1, 1), (0, 5), (15, 4), (15, 4), (11_999, 16), (15_999, 16), (0, 8),
        ])
        let unit = ByteBuilder().raw(0x0A, UInt8(header.bytes.count)).joined(header)
        let configuration = ByteBuilder().box("av1C", ByteBuilder().raw(0x81, 0, 0, 0).joined(unit))
        let configured = file(
            [Item(kind: "av01", properties: [1, 2])], properties: extent(64, 64).joined(configuration), brand: "avif")
        #expect(try refusal(configured)?.actual == 12_000 * 16_000)
        let delimiter = ByteBuilder().raw(0x12, 0)
        let inBand = file([Item(kind: "av01", data: delimiter.joined(unit))], brand: "avif")
        #expect(try refusal(inBand)?.actual == 12_000 * 16_000)
    }

    // MARK: - Sequences

    /// Returns a sequence of `samples` samples. Each duration is a count and a number of ticks.
    private func sequence(
        samples: Int, durations: [(count: Int, ticks: Int)], entry: ByteBuilder = ByteBuilder(), hasStill: Bool = false
    ) -> ByteBuilder {
        let times = durations.reduce(ByteBuilder().zeros(4).big(durations.count, 4)) {
            $0.big($1.count, 4).big($1.ticks, 4)
        }
        let visual = ByteBuilder().zeros(24).big(64, 2).big(64, 2).zeros(50).joined(entry)
        let table = ByteBuilder().box("stsd", ByteBuilder().zeros(7).raw(1).box("av01", visual))
            .box("stts", times).box("stsz", ByteBuilder().zeros(4).big(9, 4).big(samples, 4))
        let media = ByteBuilder().box("hdlr", ByteBuilder().zeros(8).text("pict").zeros(4))
            .box("minf", ByteBuilder().box("stbl", table))
        let still = hasStill ? ByteBuilder().joined(file([Item(kind: "av01")]).bytes.dropFirst(20)) : ByteBuilder()
        return Sample.brands("avis", "avif").joined(still)
            .box("moov", ByteBuilder().box("trak", ByteBuilder().box("mdia", media)))
    }

    @Test("A sequence with more durations than samples or a duration for no sample is rejected")
    func durations() throws {
        #expect(failure(sequence(samples: 3, durations: [(1, 5), (2, 9)])) == nil)
        #expect(limit(sequence(samples: 3, durations: Array(repeating: (1, 5), count: 4))) == 3)
        #expect(isCorrupt(sequence(samples: 100, durations: Array(repeating: (0, 5), count: 99))))
        #expect(limit(sequence(samples: 70_000, durations: [])) == 65_536)
        // The still image of such a file is sufficient.
        let still = try ImageInfo(data: sequence(samples: 9, durations: [(0, 1)], hasStill: true).data)
        #expect(still.frameCount == 1)
    }

    @Test("The size in the parameter set of a sequence counts for the limit of pixels")
    func codedSequence() throws {
        let hostile = sequence(
            samples: 2, durations: [(2, 5)], entry: configuration(parameterSet(16_000, 16_000)))
        #expect(try refusal(hostile)?.actual == 16_000 * 16_000)
    }

    // MARK: - Other formats

    @Test("JPEG XL files with more than 16 extra channels exceed a limit")
    func extraChannels() {
        // 8 × 8 pixels, no additional headers, 8 bits, 16-bit buffers, and 17 channels.
        let header = Sample.bits([(1, 1), (0, 5), (1, 3), (0, 1), (0, 1), (0, 1), (0, 2), (1, 1), (2, 2), (15, 4)])
        #expect(limit(header.zeros(64)) == 16)
    }

    @Test("A TIFF directory with more than 1,024 tags or subdirectories exceeds a limit")
    func tags() {
        let many = (0..<1_100).map { (1_000 + $0, 1) } + [(256, 1), (257, 1)]
        let file = ByteBuilder().text("MM").raw(0, 42).big(8, 4).joined(Sample.directory(many, next: 0))
        #expect(limit(file) == 1_024)
        let subdirectories = ByteBuilder().big(3, 2).big(256, 2).big(4, 2).big(1, 4).big(5, 4)
            .big(257, 2).big(4, 2).big(1, 4).big(5, 4).big(330, 2).big(4, 2).big(2_000, 4).big(8, 4).big(0, 4)
        #expect(limit(ByteBuilder().text("MM").raw(0, 42).big(8, 4).joined(subdirectories)) == 1_024)
    }

    @Test("Only a whole GIF file without a trailer is truncated")
    func trailers() throws {
        let whole = Sample.gif(4, 4, Sample.gifFrame(4, 4))
        #expect(try !ImageInfo(data: whole.data).isTruncated)
        #expect(try ImageInfo(data: whole.data.dropLast()).isTruncated)
        guard case .found(let info) = ImageInfo.probe(whole.data.dropLast(), isComplete: false) else {
            Issue.record("the header wasn't found")
            return
        }
        #expect(!info.isTruncated)
    }
}
