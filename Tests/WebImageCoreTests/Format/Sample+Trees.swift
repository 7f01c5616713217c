// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

extension Sample {
    /// Returns a directory of LONG values for a classic big-endian TIFF file. Each entry is a tag and a value.
    static func directory(_ entries: [(Int, Int)], next: Int) -> ByteBuilder {
        var builder = ByteBuilder().big(entries.count, 2)
        for (tag, value) in entries { builder = builder.big(tag, 2).big(4, 2).big(1, 4).big(value, 4) }
        return builder.big(next, 4)
    }

    static let tiffs = [
        Sample(
            "TIFF of two pages",
            ByteBuilder().text("MM").raw(0, 42).big(8, 4)
                .joined(
                    directory(
                        [(256, 40), (257, 30), (258, 16), (274, 7), (278, 8), (338, 2), (34_675, 0)], next: 98)
                )
                .joined(directory([(256, 1)], next: 0)),
            ImageInfo(
                format: .tiff, storedSize: size(40, 30), orientation: .rightMirrored, bitDepth: 16, hasAlpha: true,
                frameCount: 2, hasICCProfile: true, rowsPerUnit: 8)),
        Sample(
            "BigTIFF, little-endian",
            ByteBuilder().text("II").raw(43, 0, 8, 0, 0, 0).little(16, 8).little(2, 8)
                .little(256, 2).little(16, 2).little(1, 8).little(70_000, 8)
                .little(257, 2).little(3, 2).little(1, 8).little(5, 8).zeros(8),
            ImageInfo(format: .tiff, storedSize: size(70_000, 5), bitDepth: 1)),
        Sample(
            "TIFF whose directories run in a circle",
            ByteBuilder().text("MM").raw(0, 42).big(8, 4).joined(directory([(256, 4), (257, 3), (278, 3)], next: 8)),
            ImageInfo(format: .tiff, storedSize: size(4, 3), bitDepth: 1, frameCountIsExact: false)),
    ]

    static func brands(_ major: String, _ others: String...) -> ByteBuilder {
        ByteBuilder().box("ftyp", ByteBuilder().text(major).zeros(4).text(others.joined()))
    }

    static func meta(properties: ByteBuilder, associations: [UInt8]) -> ByteBuilder {
        let entry = ByteBuilder().big(1, 2).big(associations.count, 1).joined(associations)
        let properties = ByteBuilder().box("ipco", properties)
            .box("ipma", ByteBuilder().zeros(4).big(1, 4).joined(entry))
        let item = ByteBuilder().raw(2, 0, 0, 0).big(1, 2).zeros(2).text("av01").zeros(1)
        return ByteBuilder().box(
            "meta",
            ByteBuilder().zeros(4).box("pitm", ByteBuilder().zeros(4).big(1, 2))
                .box("iinf", ByteBuilder().zeros(4).big(1, 2).box("infe", item)).box("iprp", properties))
    }

    private static func extent(_ width: Int, _ height: Int) -> ByteBuilder {
        ByteBuilder().box("ispe", ByteBuilder().zeros(4).big(width, 4).big(height, 4))
    }

    private static let turned = extent(9, 9).joined(extent(64, 48))
        .box("pixi", ByteBuilder().zeros(4).raw(3, 10, 10, 10)).box("irot", ByteBuilder().raw(1))
        .box("imir", ByteBuilder().raw(0)).box("colr", ByteBuilder().text("prof").zeros(9))
        .box("auxC", ByteBuilder().zeros(4).text("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0"))
        .box("clap", ByteBuilder().big(60, 4).big(1, 4).big(40, 4).big(1, 4).zeros(16))

    private static let track = ByteBuilder().box(
        "moov",
        ByteBuilder().box("mvhd", ByteBuilder().zeros(4)).box(
            "trak",
            ByteBuilder().box("tkhd", ByteBuilder().zeros(20).big(90, 4))
                .box("edts", ByteBuilder().box("elst", ByteBuilder().raw(0, 0, 0, 1).big(1, 4).big(30, 4).zeros(8)))
                .box(
                    "mdia",
                    ByteBuilder().box("hdlr", ByteBuilder().zeros(8).text("pict").zeros(4)).box(
                        "minf",
                        ByteBuilder().box(
                            "stbl",
                            ByteBuilder()
                                .box(
                                    "stsd",
                                    ByteBuilder().zeros(7).raw(1).box(
                                        "av01", ByteBuilder().zeros(24).big(32, 2).big(24, 2))
                                )
                                .box("stsz", ByteBuilder().zeros(8).big(12, 4)))))))

    static let items = [
        Sample(
            "AVIF, turned and mirrored",
            brands("mif1", "miaf", "avif").joined(meta(properties: turned, associations: [0x82, 3, 0x88, 0x84, 5, 6])),
            ImageInfo(
                format: .avif, storedSize: size(64, 48), orientation: .leftMirrored, bitDepth: 10, hasAlpha: true,
                hasICCProfile: true, cleanAperture: size(60, 40))),
        Sample(
            "HEIC", brands("heic", "mif1").joined(meta(properties: extent(640, 480), associations: [1])),
            ImageInfo(format: .heif, storedSize: size(640, 480))),
        Sample(
            "AVIF sequence",
            brands("avis", "avif", "msf1").joined(meta(properties: extent(32, 24), associations: [1])).joined(track),
            ImageInfo(format: .avif, storedSize: size(32, 24), frameCount: 12, loopCount: 3)),
    ]

    /// Returns a codestream header from bit fields. The lowest bit of each byte comes first.
    static func bits(_ fields: [(value: Int, count: Int)]) -> ByteBuilder {
        let all = fields.flatMap { field in (0..<field.count).map { field.value >> $0 & 1 } }
        let bytes = stride(from: 0, to: all.count, by: 8).map { start in
            all[start..<min(start + 8, all.count)].enumerated().reduce(0) { $0 | $1.element << $1.offset }
        }
        return ByteBuilder().raw(0xFF, 0x0A).joined(bytes.map { UInt8($0) })
    }

    /// 500 × 300 pixels, orientation 6, 4 animation loops, 16 bits per sample, one alpha channel, and an ICC profile.
    private static let rich = bits([
        (0, 1), (0, 2), (299, 9), (0, 3), (0, 2), (499, 9),
        (0, 1), (1, 1), (5, 3), (0, 1), (0, 1), (1, 1), (0, 2), (0, 2), (1, 2), (4, 3), (0, 1),
        (0, 1), (3, 2), (15, 6), (0, 1), (1, 2), (1, 1), (0, 1), (0, 1), (1, 1), (0, 8),
    ])
    private static let richProbe = ImageInfo(
        format: .jxl, storedSize: size(500, 300), orientation: .right, bitDepth: 16, hasAlpha: true,
        frameCountIsExact: false, loopCount: 4, hasICCProfile: true)
    private static let signature = ByteBuilder().raw(0, 0, 0, 12).text("JXL ").raw(0x0D, 0x0A, 0x87, 0x0A)
        .box("ftyp", ByteBuilder().text("jxl ").zeros(4).text("jxl "))

    static let codestreams = [
        Sample(
            "JPEG XL with all defaults", bits([(1, 1), (3, 5), (7, 3), (1, 1), (0, 8)]),
            ImageInfo(format: .jxl, storedSize: size(64, 32), codePoints: .sRGB)),
        Sample("JPEG XL with all fields", rich, richProbe),
        Sample("JPEG XL in its container", signature.box("jxlc", rich), richProbe),
        Sample(
            "JPEG XL in pieces",
            signature.box("jxlp", ByteBuilder().zeros(4).joined(rich.bytes.prefix(3)))
                .box("Exif", ByteBuilder().zeros(9))
                .box("jxlp", ByteBuilder().raw(0x80, 0, 0, 1).joined(rich.bytes.dropFirst(3))),
            richProbe),
    ]
}
