// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("Recognizing formats: scenarios of other libraries")
struct SniffFaultTests {
    @Test(
        "S-25: Short SVG files are recognized with line breaks, comments, prologs, and byte order marks",
        arguments: [
            "<svg/>", "<svg></svg>", "<svg\n/>", "<svg\t width='1'/>", "<svg\r\nwidth='1'/>", " \n\t<svg/>",
            "<!-- a --><svg/>", "<!-- a > b -->\n<!-- c --><svg\n/>", "<?xml version='1.0'?><svg/>",
            "\u{FEFF}<svg/>", "\u{FEFF}<?xml version=\"1.0\"?>\n<!-- x -->\n<!DOCTYPE svg>\n<svg\n>\n</svg>",
            "<!DOCTYPE svg PUBLIC \"a\" \"b\" [<!ENTITY c \"d\">]><svg/>",
        ])
    func shortSVG(text: String) {
        #expect(ImageFormat(sniffing: Data(text.utf8)) == .svg)
    }

    @Test("G-12: Videos, archives, and pages are recognized by their first bytes and aren't images")
    func foreign() {
        let samples: [(Data, ImageFormat)] = [
            (Sample.brands("isom", "mp42").data, .mp4), (Data([0x1A, 0x45, 0xDF, 0xA3]) + Data(count: 60), .webm),
            (Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0]) + Data(count: 8), .gzip),
            (Data("<!doctype html><title>a</title>".utf8), .html),
        ]
        for (data, format) in samples {
            #expect(ImageFormat(sniffing: data) == format)
            #expect(!format.isImage)
        }
        // No format is recognized in an archive, so no decoder receives it.
        #expect(ImageFormat(sniffing: Data("PK\u{3}\u{4}".utf8) + Data([20, 0, 0, 0, 8, 0]) + Data(count: 60)) == nil)
    }

    /// Returns a JPEG file whose EXIF block consists of the given bytes after its identifier.
    private func jpeg(_ tiff: ByteBuilder, padding: Int = 0) -> Data {
        var builder = ByteBuilder().raw(0xFF, 0xD8)
        var rest = padding
        while rest > 0 {
            builder = builder.segment(0xE5, ByteBuilder().zeros(min(rest, 60_000)))
            rest -= 60_000
        }
        return builder.segment(0xE1, ByteBuilder().text("Exif").raw(0, 0).joined(tiff))
            .segment(0xC0, ByteBuilder().raw(8, 0, 30, 0, 40, 1, 1, 0x11, 0))
            .segment(0xDA, ByteBuilder().raw(1, 1, 0, 0, 63, 0)).raw(0).raw(0xFF, 0xD9).data
    }

    @Test("C-09: EXIF blocks of any length are read within their bounds, and an orientation at their end applies")
    func exifBlocks() throws {
        func directory(_ tags: Int) -> ByteBuilder {
            var builder = ByteBuilder().text("II").little(42, 2).little(8, 4).little(tags + 1, 2)
            for tag in 0..<tags { builder = builder.little(0x100 + tag % 10, 2).little(3, 2).little(1, 4).little(1, 4) }
            return builder.little(0x112, 2).little(3, 2).little(1, 4).little(6, 2).zeros(2)
        }
        for tags in [0, 1, 100, 900] {
            for padding in [0, 70_000, 200_000] {
                let info = try ImageInfo(data: jpeg(directory(tags), padding: padding))
                #expect(
                    info.orientation == .right && info.size == PixelSize(width: 30, height: 40), "\(tags) \(padding)")
            }
        }
        let whole = directory(3).bytes
        for count in 0..<whole.count {
            let info = try ImageInfo(data: jpeg(ByteBuilder().joined(whole.prefix(count))))
            #expect(info.orientation == .up || info.orientation == .right, "\(count)")
            #expect(info.storedSize == PixelSize(width: 40, height: 30))
        }
    }
}
