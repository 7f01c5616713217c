// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Reading metadata of corrupt files", .timeLimit(.minutes(5)))
struct MetadataFuzzTests {
    @Test(
        "Reading corrupt metadata never traps, and no result is longer than the file",
        arguments: MetadataEncodingTests.formats + [.tiff])
    func damaged(_ format: ImageFormat) throws {
        guard ImageCoderRegistry.standard.canEncode(format) else { return }
        let pixels = try PixelPatterns.photo(width: 24, height: 16)
        let metadata = ImageMetadata(storedSize: pixels.size, exif: SampleMetadata.exif, xmp: SampleMetadata.xmp())
        let data = try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: pixels, metadata: metadata), as: ImageEncoding(format: format).with(\.metadata, .keep),
            context: ImageProcessingContext())
        var numbers = SeededGenerator(UInt64(data.count))
        for _ in 0..<400 {
            var bytes = data
            for _ in 0..<Int.random(in: 1...6, using: &numbers) {
                // The structure is at the beginning and, in some formats, at the end.
                let place = Int.random(in: 0..<bytes.count, using: &numbers)
                bytes[Bool.random(using: &numbers) ? place : place % 600 % bytes.count] =
                    [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &numbers)].randomElement(using: &numbers)
                    ?? 0
            }
            if Int.random(in: 0..<4, using: &numbers) == 0 {
                bytes = bytes.prefix(Int.random(in: 0...bytes.count, using: &numbers))
            }
            let found = EmbeddedMetadata(reading: bytes)
            #expect((found.exif?.count ?? 0) <= bytes.count + 64 && (found.xmp?.count ?? 0) <= bytes.count)
            _ = MetadataFreeFile.hasNoMetadata(bytes, format)
            if let stripped = JPEGFile.replacingMetadata(of: bytes, exif: nil, xmp: nil) {
                #expect(JPEGFile.replacingMetadata(of: stripped, exif: nil, xmp: nil) == stripped)
            }
        }
    }

    @Test("A JPEG file that consists only of metadata is stripped to its two markers")
    func onlyMetadata() throws {
        let file = Data([0xFF, 0xD8, 0xFF, 0xE1, 0, 6] + Array("text".utf8) + [0xFF, 0xD9])
        let stripped = try #require(JPEGFile.replacingMetadata(of: file, exif: nil, xmp: nil))
        #expect(stripped == Data([0xFF, 0xD8, 0xFF, 0xD9]))
        #expect(JPEGFile.replacingMetadata(of: stripped, exif: nil, xmp: nil) == stripped)
    }

    @Test(
        "A compressed XMP packet is decompressed only up to a limit",
        .enabled(if: Tools.hasPillow, "requires python3-pil"))
    func packed() throws {
        let script = """
            import zlib, struct, sys
            def chunk(n, b): return struct.pack('>I', len(b)) + n + b + struct.pack('>I', zlib.crc32(n + b))
            head = bytes([137,80,78,71,13,10,26,10]) + chunk(b'IHDR', struct.pack('>IIBBBBB', 1, 1, 8, 0, 0, 0, 0))
            def text(b): return chunk(b'iTXt', b'XML:com.adobe.xmp\\0\\1\\0\\0\\0' + zlib.compress(b))
            tail = chunk(b'IDAT', zlib.compress(b'\\0\\0')) + chunk(b'IEND', b'')
            open('good', 'wb').write(head + text(b'<rdf:RDF>' + b'x' * 5000) + tail)
            open('bomb', 'wb').write(head + text(b'<rdf:RDF>' + b'x' * (64 << 20)) + tail)
            """
        let good = try Tools.output("good", ["/usr/bin/python3", "-c", script], Data(), as: "in")
        #expect(EmbeddedMetadata(reading: good).xmp?.count == 5_009)
        let bomb = try Tools.output("bomb", ["/usr/bin/python3", "-c", script], Data(), as: "in")
        #expect(EmbeddedMetadata(reading: bomb).xmp == nil)
    }
}
