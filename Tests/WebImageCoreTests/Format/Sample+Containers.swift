// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore

extension Sample {
    static func webp(_ chunks: ByteBuilder) -> ByteBuilder {
        ByteBuilder().riff("RIFF", ByteBuilder().text("WEBP").joined(chunks))
    }

    static func canvas(_ flags: UInt8, _ width: Int, _ height: Int) -> ByteBuilder {
        ByteBuilder().riff("VP8X", ByteBuilder().raw(flags, 0, 0, 0).little(width - 1, 3).little(height - 1, 3))
    }

    private static let lossy = ByteBuilder().riff(
        "VP8 ", ByteBuilder().raw(0x10, 0, 0, 0x9D, 0x01, 0x2A).little(0x4000 | 33, 2).little(44, 2).zeros(6))
    private static let frame = ByteBuilder().riff("ANMF", ByteBuilder().zeros(17))

    static let webps = [
        Sample("lossy WebP", webp(lossy), ImageInfo(format: .webp, storedSize: size(33, 44))),
        Sample(
            "lossless WebP",
            webp(ByteBuilder().riff("VP8L", ByteBuilder().raw(0x2F).little(21 | 8 << 14 | 1 << 28, 4).zeros(3))),
            ImageInfo(format: .webp, storedSize: size(22, 9), hasAlpha: true, isLosslessWebP: true)),
        Sample(
            "extended WebP", webp(canvas(0x28, 33, 44).joined(lossy).riff("EXIF", exif(5))),
            ImageInfo(format: .webp, storedSize: size(33, 44), orientation: .leftMirrored, hasICCProfile: true)),
        Sample(
            "animated WebP",
            webp(canvas(0x12, 70_000, 3).riff("ANIM", ByteBuilder().zeros(4).little(9, 2)).joined(frame).joined(frame)),
            ImageInfo(format: .webp, storedSize: size(70_000, 3), hasAlpha: true, frameCount: 2, loopCount: 9)),
    ]

    static func bitmap(_ header: ByteBuilder) -> ByteBuilder {
        ByteBuilder().text("BM").zeros(8).little(14 + header.bytes.count, 4).joined(header).zeros(8)
    }

    static func bitmapHeader(
        _ length: Int, _ width: Int, _ height: Int, bits: Int, compression: Int = 0, masks: [Int] = []
    ) -> ByteBuilder {
        var header = ByteBuilder().little(length, 4).little(width, 4).little(height, 4).little(1, 2).little(bits, 2)
            .little(compression, 4).zeros(20)
        for mask in masks { header = header.little(mask, 4) }
        return header.zeros(max(0, length - header.bytes.count))
    }

    static let bitmaps = [
        Sample(
            "QOI", ByteBuilder().text("qoif").big(63, 4).big(2, 4).raw(4, 0).zeros(11),
            ImageInfo(format: .qoi, storedSize: size(63, 2), hasAlpha: true, smallestFile: 14 + 3 + 8)),
        Sample(
            "PBM as text", ByteBuilder().text("P1 3\n2\n010 101"),
            ImageInfo(format: .pbm, storedSize: size(3, 2), bitDepth: 1, smallestFile: 7 + 6)),
        Sample(
            "PBM", ByteBuilder().text("P4\n9 2\n").zeros(4),
            ImageInfo(format: .pbm, storedSize: size(9, 2), bitDepth: 1, smallestFile: 7 + 4)),
        Sample(
            "PGM as text", ByteBuilder().text("P2\n2 1\n# c\n15\n3 12"),
            ImageInfo(format: .pgm, storedSize: size(2, 1), bitDepth: 4, smallestFile: 14 + 3)),
        Sample(
            "PPM with 16 bits", ByteBuilder().text("P6 2 3 65535\n").zeros(36),
            ImageInfo(format: .ppm, storedSize: size(2, 3), bitDepth: 16, smallestFile: 13 + 36)),
        Sample(
            "PAM",
            ByteBuilder().text("P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n").zeros(8),
            ImageInfo(format: .pam, storedSize: size(2, 1), hasAlpha: true, smallestFile: 65 + 8)),
        Sample(
            "OS/2 1 BMP",
            bitmap(ByteBuilder().little(12, 4).little(5, 2).little(6, 2).little(1, 2).little(24, 2)),
            ImageInfo(format: .bmp, storedSize: size(5, 6), smallestFile: 14 + 12 + 16 * 6)),
        Sample(
            "top-down BMP", bitmap(bitmapHeader(40, 7, -3, bits: 4)),
            ImageInfo(format: .bmp, storedSize: size(7, 3), smallestFile: 14 + 40 + 4 * 3)),
        Sample(
            "OS/2 2 BMP with run lengths", bitmap(bitmapHeader(64, 7, 3, bits: 8, compression: 1)),
            ImageInfo(format: .bmp, storedSize: size(7, 3))),
        Sample(
            "BMP of 16 bits with masks",
            bitmap(bitmapHeader(40, 7, 3, bits: 16, compression: 3, masks: [0xF800, 0x07E0, 0x001F])),
            ImageInfo(format: .bmp, storedSize: size(7, 3), bitDepth: 6, smallestFile: 14 + 40 + 16 * 3)),
        Sample(
            "Windows 5 BMP with alpha and profile",
            bitmap(
                bitmapHeader(56, 7, 3, bits: 32, compression: 3, masks: [0xFF0000, 0xFF00, 0xFF, 0xFF00_0000])
                    .text("DEBM").zeros(64)
            ).patched(14, 124),
            ImageInfo(
                format: .bmp, storedSize: size(7, 3), hasAlpha: true, hasICCProfile: true,
                smallestFile: 14 + 124 + 28 * 3)),
    ]

    static func icon(_ kind: Int, _ pictures: [(side: Int, bits: Int, data: ByteBuilder)]) -> ByteBuilder {
        var directory = ByteBuilder().little(0, 2).little(kind, 2).little(pictures.count, 2)
        var content = ByteBuilder()
        for picture in pictures {
            let offset = 6 + pictures.count * 16 + content.bytes.count
            directory = directory.little(picture.side, 1).little(picture.side, 1).zeros(2).little(1, 2)
                .little(picture.bits, 2).little(picture.data.bytes.count, 4).little(offset, 4)
            content = content.joined(picture.data)
        }
        return directory.joined(content)
    }

    static let icons = [
        Sample(
            "icon of three",
            icon(
                1,
                [
                    (16, 32, bitmapHeader(40, 16, 32, bits: 32)), (32, 8, bitmapHeader(40, 32, 64, bits: 8)),
                    (32, 32, bitmapHeader(40, 31, 62, bits: 32)),
                ]),
            ImageInfo(format: .ico, storedSize: size(31, 31), hasAlpha: true, frameCount: 3)),
        Sample(
            "icon with a PNG", icon(1, [(16, 32, bitmapHeader(40, 16, 32, bits: 32)), (0, 32, png(256, 255))]),
            ImageInfo(format: .ico, storedSize: size(256, 255), frameCount: 2)),
        Sample(
            "cursor", icon(2, [(8, 7, bitmapHeader(40, 8, 16, bits: 1))]),
            ImageInfo(format: .cur, storedSize: size(8, 8), hasAlpha: true)),
        Sample(
            "icon with an invalid image", icon(1, [(48, 32, ByteBuilder().zeros(40))]),
            ImageInfo(format: .ico, storedSize: size(48, 48), hasAlpha: true)),
    ]
}

extension ByteBuilder {
    /// Returns a copy with another byte at `offset`.
    func patched(_ offset: Int, _ value: UInt8) -> ByteBuilder {
        var bytes = bytes
        bytes[offset] = value
        return ByteBuilder().joined(bytes)
    }
}
