// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("Parts of files that can be displayed early")
struct EmbeddedPartTests {
    /// Returns a box with a 32-bit size.
    private func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        number(content.count + 8, 4) + Array(name.utf8) + content
    }

    private func number(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: value >> ((width - 1 - $0) * 8)) }
    }

    /// Returns a HEIF file with an image (1), a thumbnail that is a grid (2) of one tile (3), and an alpha plane (4) of
    /// the tile.
    private func file(tile: (offset: Int, length: Int) = (500, 40), alpha: (offset: Int, length: Int) = (540, 20))
        -> Data
    {
        func entry(_ item: Int, _ method: Int, _ place: (offset: Int, length: Int)) -> [UInt8] {
            number(item, 2) + number(method, 2) + number(0, 2) + number(1, 2) + number(place.offset, 4)
                + number(place.length, 4)
        }
        func info(_ item: Int, _ type: String) -> [UInt8] {
            box("infe", [2, 0, 0, 0] + number(item, 2) + [0, 0] + Array(type.utf8) + [0])
        }
        func reference(_ name: String, _ from: Int, _ to: Int) -> [UInt8] {
            box(name, number(from, 2) + number(1, 2) + number(to, 2))
        }
        let locations =
            [1, 0, 0, 0, 0x44, 0x00] + number(4, 2) + entry(1, 0, (600, 5_000)) + entry(2, 1, (0, 8))
            + entry(3, 0, tile) + entry(4, 0, alpha)
        let items = [0, 0, 0, 0] + number(4, 2) + info(1, "hvc1") + info(2, "grid") + info(3, "hvc1") + info(4, "hvc1")
        let references = [0, 0, 0, 0] + reference("dimg", 2, 3) + reference("auxl", 4, 3) + reference("thmb", 2, 1)
        let meta =
            [0, 0, 0, 0] + box("pitm", [0, 0, 0, 0, 0, 1]) + box("iinf", items) + box("iref", references)
            + box("iloc", locations)
        return Data(box("ftyp", Array("heic".utf8) + [0, 0, 0, 0]) + box("meta", meta) + box("mdat", [1, 2, 3]))
    }

    @Test("A thumbnail is complete with all of its tiles and alpha planes")
    func thumbnail() throws {
        guard case .found(let parts) = HEIFParts.find(in: file()) else { throw CancellationError() }
        #expect(parts.thumbnails.map(\.item) == [2] && parts.thumbnails.map(\.end) == [560])
        #expect(parts.end == 5_600 && !parts.isGrid && !parts.hasLayers)
    }

    @Test("A thumbnail whose data extends to the end of the file or beyond any file is ignored")
    func unknownEnds() throws {
        for file in [file(tile: (500, 0)), file(alpha: (0, 0))] {
            guard case .found(let parts) = HEIFParts.find(in: file) else { throw CancellationError() }
            #expect(parts.thumbnails.isEmpty)
        }
    }

    @Test("Every beginning of a file requests more data until its list of items is complete")
    func prefixes() {
        let data = file()
        let end = data.count - 11
        for count in 0..<data.count {
            #expect((HEIFParts.find(in: data.prefix(count)) == .needsMore) == (count < end), "\(count)")
        }
    }

    @Test("Mutated files never trap the searches")
    func mutations() throws {
        let jpeg = exif(thumbnail: [0xFF, 0xD8] + [UInt8](repeating: 3, count: 200))
        var generator = SeededGenerator(seed: 21)
        for data in [file(), jpeg] {
            for _ in 0..<4_000 {
                var broken = data
                for _ in 0..<Int.random(in: 1...5, using: &generator) {
                    let value = [0, 1, 2, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &generator)]
                    broken[Int.random(in: 0..<broken.count, using: &generator)] =
                        value.randomElement(using: &generator) ?? 0
                }
                if Bool.random(using: &generator) { broken = broken.prefix(Int.random(in: 0...broken.count)) }
                if case .found(let parts) = HEIFParts.find(in: broken) {
                    #expect(parts.thumbnails.allSatisfy { $0.end <= parts.end && $0.end >= 0 })
                }
                if case .found(let thumbnail) = JPEGThumbnail.find(in: broken) { #expect(thumbnail.count < data.count) }
            }
        }
    }

    /// Returns the beginning of a JPEG file with an EXIF block in either byte order.
    private func exif(thumbnail: [UInt8], isBigEndian: Bool = false) -> Data {
        var block = ExifBlock(isBigEndian: isBigEndian)
        block.thumbnail = thumbnail
        let content = Array("Exif\0\0".utf8) + block.serialized()
        let comment: [UInt8] = [0xFF, 0xFE, 0, 4, 1, 2]
        return Data(
            [0xFF, 0xD8] + comment + [0xFF, 0xE1] + number(content.count + 2, 2) + content
                + [0xFF, 0xC0, 0, 11, 8, 0, 9, 0, 9, 1, 1, 0x11, 0])
    }

    @Test("The thumbnail of an EXIF block is found in both byte orders", arguments: [false, true])
    func exifThumbnail(isBigEndian: Bool) {
        let thumbnail = [0xFF, 0xD8] + [UInt8](repeating: 9, count: 300)
        let data = exif(thumbnail: thumbnail, isBigEndian: isBigEndian)
        #expect(JPEGThumbnail.find(in: data) == .found(Data(thumbnail)))
        for count in 0..<data.count - 13 { #expect(JPEGThumbnail.find(in: data.prefix(count)) == .needsMore) }
    }

    @Test("Thumbnails that aren't JPEG data, that are too short, or that are missing aren't found")
    func noThumbnail() {
        #expect(JPEGThumbnail.find(in: exif(thumbnail: [UInt8](repeating: 9, count: 300))) == .none)
        #expect(JPEGThumbnail.find(in: exif(thumbnail: [0xFF, 0xD8, 0xFF, 0xD9])) == .none)
        #expect(JPEGThumbnail.find(in: Data([0xFF, 0xD8, 0xFF, 0xDA, 0, 8])) == .none)
        #expect(JPEGThumbnail.find(in: Data([0x89, 0x50, 0x4E, 0x47])) == .none)
    }
}
