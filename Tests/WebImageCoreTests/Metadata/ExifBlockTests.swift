// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("EXIF blocks")
struct ExifBlockTests {
    private func random(_ numbers: inout SeededGenerator) -> ExifBlock {
        var block = ExifBlock(isBigEndian: Bool.random(using: &numbers))
        func fields(_ first: Int) -> [ExifBlock.Entry] {
            (0..<Int.random(in: 0...12, using: &numbers)).map { index in
                let kind = [1, 2, 3, 4, 5, 7, 9, 10].randomElement(using: &numbers) ?? 1
                let size = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 9: 4, 10: 8][kind] ?? 1
                let count = Int.random(in: 1...9, using: &numbers)
                let bytes = (0..<count * size).map { _ in UInt8.random(in: 0...255, using: &numbers) }
                return ExifBlock.Entry(tag: first + index, kind: kind, count: count, bytes: bytes)
            }
        }
        // The author or the copyright.
        let owner = ExifBlock.Entry(tag: 0x013B, kind: 2, count: 6, bytes: Array("Owner".utf8) + [0])
        block.main = (Bool.random(using: &numbers) ? [owner] : []) + fields(0x0320)
        block.photo = fields(0x9000)
        block.position = fields(0)
        block.rules = fields(1)
        return block
    }

    @Test("Reading a serialized block returns the same block", arguments: 1...200 as ClosedRange<UInt64>)
    func roundTrip(_ seed: UInt64) throws {
        var numbers = SeededGenerator(seed: seed)
        let block = random(&numbers)
        let bytes = block.serialized()
        #expect(ExifBlock(bytes) == block)
        #expect(ExifBlock(Array("Exif\0\0".utf8) + bytes) == block)
    }

    @Test("Corrupt blocks never trap, and the result of reading them can be serialized")
    func damaged() {
        var numbers = SeededGenerator(seed: 3)
        for _ in 0..<2_000 {
            var bytes = random(&numbers).serialized()
            for _ in 0..<Int.random(in: 1...8, using: &numbers) {
                bytes[Int.random(in: 0..<bytes.count, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
            }
            if Bool.random(using: &numbers) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &numbers)) }
            let rights = ExifBlock(copyrightOf: bytes)
            guard let block = ExifBlock(bytes) else {
                #expect(rights == nil)
                continue
            }
            #expect(rights == (block.copyrightOnly.isEmpty ? nil : block.copyrightOnly))
            let written = block.serialized()
            #expect(ExifBlock(written) == block)
            #expect(written.count < 4 << 20)
        }
    }

    @Test("Parsing ends for directories that point at themselves and for counts beyond all bounds")
    func loops() throws {
        // IFD0 at offset 8 with two pointers to itself, a field of 4 GiB, and a field past the end of the data.
        var bytes: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 4, 0]
        for (tag, kind, count, value) in [
            (0x8769, 4, 1, 8), (0x8825, 4, 1, 8), (0x9286, 7, 0xFFFF_FFFF, 8), (0x010F, 2, 100, 0xFFFF_FFF0),
        ] {
            for (number, width) in [(tag, 2), (kind, 2), (count, 4), (value, 4)] {
                bytes += (0..<width).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
            }
        }
        bytes += [8, 0, 0, 0]
        let block = try #require(ExifBlock(bytes))
        #expect(block.main.isEmpty && block.photo.count == 2)
        #expect(!block.serialized().isEmpty)
    }

    @Test("The total size of values that share the same bytes is limited")
    func amplification() throws {
        var bytes: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 0xD0, 7]
        for tag in 0..<2_000 {
            for (number, width) in [(0x1000 + tag, 2), (7, 2), (100_000, 4), (8, 4)] {
                bytes += (0..<width).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
            }
        }
        bytes += [UInt8](repeating: 0, count: 100_000)
        let block = try #require(ExifBlock(bytes))
        #expect(block.main.reduce(0) { $0 + $1.bytes.count } <= ExifBlock.maxBytes)
    }

    @Test("Without locations, the policy drops XMP that mentions a location")
    func xmp() throws {
        let pixels = try PixelCanvas(size: PixelSize(width: 2, height: 2)).finish(isOpaque: true)
        func written(_ text: String, _ policy: ImageEncoding.MetadataPolicy) -> String? {
            let image = DecodedImage(
                pixels: pixels, metadata: ImageMetadata(storedSize: pixels.size, xmp: Array("<rdf:RDF>\(text)".utf8)))
            return EmbeddedMetadata(for: image, as: ImageEncoding(format: .png).with(\.metadata, policy)).xmp.map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        for place in ["exif:GPSLatitude=\"1\"", "<Iptc4xmpCore:Location>", "photoshop:City", "<geo:lat>", "&#71;PS"] {
            #expect(written(place, .keepExceptLocation) == nil, "\(place)")
            #expect(written(place, .keep) != nil)
            #expect(written(place, .strip) == nil)
        }
        #expect(
            written("tiff:Orientation='8' tiff:Orientation>3<", .keepExceptLocation)
                == "<rdf:RDF>tiff:Orientation='1' tiff:Orientation>1<")
        let image = DecodedImage(
            pixels: pixels, metadata: ImageMetadata(storedSize: pixels.size, xmp: [0xFF, 0xFE, 0x3C, 0]))
        #expect(EmbeddedMetadata(for: image, as: ImageEncoding(format: .png).with(\.metadata, .keep)).xmp == nil)
    }
}
