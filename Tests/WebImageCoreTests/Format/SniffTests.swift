// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite struct SniffTests {
    private static let texts: [(String, ImageFormat)] = [
        ("I am text", .text), ("II*", .text), ("MM", .text), ("M", .text), ("BM", .text),
        ("BMW builds cars and this is a sentence", .text), ("GIF", .text), ("GIF88a is none", .text),
        ("RIFF of paper", .text), ("<", .text), ("<3 hearts", .text), ("< svg>", .text),
        ("%PDF", .text), ("svg", .text), ("ftyp", .text), ("just text about %PDF-1.4", .pdf),
        ("<!DOCTYPE html><svg/>", .html), ("<!doctype HTML>", .html), ("<html><svg/></html>", .html),
        ("  <Body class='x'>", .html), ("<!-- c --><p>", .html), ("<?xml version='1.0'?><html/>", .html),
        ("<?xml version='1.0'?><rss/>", .xml), ("<?xml version='1.0'?>", .xml), ("<rss version='2'>", .xml),
        ("<!-- nothing but a comment", .xml), ("<!DOCTYPE rss [", .xml), ("<svgx/>", .xml), ("<svg", .text),
        ("{\"a\": 1}", .json), ("[ 1, 2 ]", .json), ("{}", .json), ("[x]", .text), ("{x}", .text),
        ("<svg/>", .svg), ("<x:svg >", .svg), ("Grüße", .text),
    ]

    /// A comment that is longer than any header, after which a header ends.
    private static let longComment = ByteBuilder().text(String(repeating: "c", count: 70_000)).text("\n1 1 255\n")

    private static let others: [(ByteBuilder, ImageFormat?)] = [
        (ByteBuilder(), nil), (ByteBuilder().raw(0), nil), (ByteBuilder().zeros(2_000), nil),
        (ByteBuilder().raw(0xFF, 0xD8), nil), (ByteBuilder().raw(0xFF, 0xD8, 0xFF), .jpeg),
        (ByteBuilder().raw(0xFF, 0xD8, 0xFF, 0xE0), .jpeg), (ByteBuilder().raw(0xFF, 0xD8, 0xFF, 0xDB), .jpeg),
        (ByteBuilder().raw(0xFF, 0xD8, 0xFF, 0xD8), nil), (ByteBuilder().raw(0xFF, 0xD8, 0xFF, 0xD9), nil),
        (ByteBuilder().raw(0xFF, 0xD8, 0xFF, 0x00), nil), (ByteBuilder().raw(0xFF, 0xD8, 0xFF, 0xF7), nil),
        (ByteBuilder().raw(0xFF, 0x0A), .jxl), (ByteBuilder().raw(0xFF, 0x4F, 0xFF, 0x51), .jpeg2000),
        (ByteBuilder().raw(0x89).text("PNG\r\n").raw(0x1A), nil),
        (ByteBuilder().raw(0x89).text("PNG\r\n").raw(0x1A, 0x0A), .png),
        (ByteBuilder().text("GIF87a"), .gif), (ByteBuilder().text("GIF89a"), .gif),
        (ByteBuilder().text("RIFF").zeros(4).text("WAVEfmt "), nil),
        (ByteBuilder().text("RIFF").zeros(4).text("WEBPVP8X"), .webp),
        (ByteBuilder().text("RIFF").zeros(4).text("WEBPVP9 "), nil),
        (ByteBuilder().text("II*").raw(0), .tiff), (ByteBuilder().text("MM").raw(0, 42), .tiff),
        (ByteBuilder().text("II+").raw(0), .tiff), (ByteBuilder().text("MM").raw(0, 43), .tiff),
        (ByteBuilder().text("MM").raw(42, 0), nil),
        (ByteBuilder().text("qoif").big(5, 4).big(6, 4).raw(4, 0), .qoi),
        (ByteBuilder().text("qoif").big(5, 4).big(6, 4).raw(3, 1), .qoi), (ByteBuilder().text("qoif is a word"), .text),
        (ByteBuilder().text("P1 1 1 0"), .pbm), (ByteBuilder().text("P2#c\n#d\r7\t8 9\n"), .pgm),
        (ByteBuilder().text("P3 1 1 9\n"), .ppm), (ByteBuilder().text("P4\n8 1\n").raw(0), .pbm),
        (ByteBuilder().text("P5\n1 1\n255\n").raw(0), .pgm),
        (ByteBuilder().text("P6\n1 1\n255#c\n").raw(0, 1, 2), .ppm),
        (ByteBuilder().text("P7\n#c\n\nMAXVAL 1\n"), .pam), (ByteBuilder().text("P7\nENDHDR\n"), .pam),
        (ByteBuilder().text("P"), .text), (ByteBuilder().text("P6"), .text), (ByteBuilder().text("P6 12"), .text),
        (ByteBuilder().text("P8 1 1 1 "), .text), (ByteBuilder().text("P61 1 1 "), .text),
        (ByteBuilder().text("P1 is a word"), .text), (ByteBuilder().text("P5 10 20 a"), .text),
        (ByteBuilder().text("P5 10 -20 1 "), .text), (ByteBuilder().text("P7 332\n"), .text),
        (ByteBuilder().text("P7\nWIDTHS\n"), .text), (ByteBuilder().text("P6\n#").joined(longComment), .text),
        (ByteBuilder().text("PK").raw(3, 4), nil),
        (ByteBuilder().text("BM").zeros(12).little(40, 4), .bmp),
        (ByteBuilder().text("BM").zeros(12).little(12, 4), .bmp),
        (ByteBuilder().text("BM").zeros(12).little(13, 4), nil), (ByteBuilder().text("BM").zeros(12).big(40, 4), nil),
        (Sample.icon(1, []), nil), (ByteBuilder().raw(0, 0, 1, 0, 1, 0).zeros(16), nil),
        (ByteBuilder().raw(0, 0, 3, 0, 1, 0).raw(1, 1, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 22, 0, 0, 0), nil),
        (Sample.brands("avif"), .avif), (Sample.brands("isom", "avis"), .avif), (Sample.brands("heic", "mif1"), .heif),
        (Sample.brands("mif1", "avif"), .avif), (Sample.brands("heic", "mif1", "avif"), .avif),
        (Sample.brands("hevx"), .heif), (Sample.brands("msf1"), .heif), (Sample.brands("isom", "mp42"), .mp4),
        (Sample.brands("qt  "), .mov), (Sample.brands("crx ", "xxxx"), .cr3),
        (ByteBuilder().box("moov"), .mov), (ByteBuilder().box("wide"), .mov),
        (ByteBuilder().raw(0x1A, 0x45, 0xDF, 0xA3), .webm), (ByteBuilder().raw(0x1F, 0x8B, 8, 0), nil),
        (ByteBuilder().raw(0x1F, 0x8B, 8).zeros(7).raw(3, 0).zeros(8), .gzip),
        (ByteBuilder().raw(0, 0, 0, 12).text("jP  ").raw(0x0D, 0x0A, 0x87, 0x0A), .jpeg2000),
        (ByteBuilder().zeros(1_023).text("%PDF-"), .pdf), (ByteBuilder().zeros(1_024).text("%PDF-"), nil),
        (ByteBuilder().text("icns").big(24, 4).text("ic07").big(16, 4), .icns),
        (ByteBuilder().text("icns").big(24, 4).text("ic07").big(17, 4), nil),
        (ByteBuilder().text("icns").big(24, 4).text("ic07").big(7, 4), nil),
        (ByteBuilder().text("icns is a word that begins a text"), .text),
        (ByteBuilder().text("IIRO").little(8, 4), .orf), (ByteBuilder().text("MMOR").big(8, 4), .orf),
        (ByteBuilder().text("IIROQUOIS is a text"), .text), (ByteBuilder().text("IIU").raw(0).little(24, 4), .rw2),
        (ByteBuilder().text("IIU").raw(0).zeros(4), nil), (Sample.raw([], make: nil), .tiff),
        (ByteBuilder().text("FUJIFILMCCD-RAW 0201FF119101"), .raf), (ByteBuilder().text("FUJIFILMCCD-RAW 020"), .text),
        (ByteBuilder().text("FUJIFILMCCD-RAW is a signature"), .text), (ByteBuilder().text("FUJIFILM RAW 0201"), .text),
        (Sample.raw([], make: "NIKON CORPORATION", photometric: 2), .tiff),
        (ByteBuilder().raw(0xFF, 0xFE, 0x3C, 0).text("h\0t\0m\0l\0>\0"), .html),
        (ByteBuilder().raw(0xFF, 0xFE).text("h\0i\0"), .text), (ByteBuilder().text("text").zeros(1), nil),
    ]

    @Test("Text is never recognized as an image", arguments: texts)
    func text(_ text: String, _ format: ImageFormat) {
        #expect(ImageFormat(sniffing: Data(text.utf8)) == format)
    }

    @Test("Signatures must match completely", arguments: others.indices)
    func signatures(_ index: Int) {
        let (builder, format) = Self.others[index]
        #expect(ImageFormat(sniffing: builder.data) == format, "\(builder.bytes.prefix(40))")
    }
}
