// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

/// A small handmade file and its expected probe.
struct Sample: Sendable, CustomTestStringConvertible {
    let name: String
    let data: Data
    let probe: ImageInfo

    var testDescription: String { name }

    init(_ name: String, _ builder: ByteBuilder, _ probe: ImageInfo) {
        self.name = name
        self.data = builder.data
        self.probe = probe
    }

    static let all: [Sample] =
        pngs + jpegs + gifs + webps + bitmaps + icons + tiffs + items + codestreams + markup + appleIcons + wavelets
        + raws

    /// Returns an EXIF block with one directory, starting with its byte order mark.
    static func exif(_ orientation: Int, bigEndian: Bool = false) -> ByteBuilder {
        bigEndian
            ? ByteBuilder().text("MM").raw(0, 42, 0, 0, 0, 8, 0, 1).raw(1, 0x12, 0, 3, 0, 0, 0, 1)
                .big(orientation, 2).zeros(2 + 4)
            : ByteBuilder().text("II").raw(42, 0, 8, 0, 0, 0, 1, 0).raw(0x12, 1, 3, 0, 1, 0, 0, 0)
                .little(orientation, 2).zeros(2 + 4)
    }

    static func size(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }
}

extension Sample {
    static func png(
        _ width: Int, _ height: Int, bitDepth: Int = 8, colorType: Int = 2, interlace: Int = 0,
        before: ByteBuilder = ByteBuilder(), after: ByteBuilder = ByteBuilder()
    ) -> ByteBuilder {
        let header = ByteBuilder().big(width, 4).big(height, 4).big(bitDepth, 1).big(colorType, 1).zeros(2).big(
            interlace, 1)
        return ByteBuilder().raw(0x89).text("PNG\r\n").raw(0x1A, 0x0A).chunk("IHDR", header).joined(before)
            .chunk("IDAT", ByteBuilder().zeros(20)).joined(after).chunk("IEND")
    }

    static func animationControl(frames: Int, plays: Int) -> ByteBuilder {
        ByteBuilder().chunk("acTL", ByteBuilder().big(frames, 4).big(plays, 4))
    }

    /// The chunks of a frame, whose values the probe doesn't read.
    private static let animationFrame = ByteBuilder().chunk("fcTL", ByteBuilder().zeros(26)).chunk(
        "fdAT", ByteBuilder().zeros(20))

    fileprivate static let pngs = [
        Sample("PNG", png(3, 2), ImageInfo(format: .png, storedSize: size(3, 2), smallestFile: 57)),
        Sample(
            "PNG with alpha, 16 bit, interlaced", png(300, 200, bitDepth: 16, colorType: 6, interlace: 1),
            ImageInfo(
                format: .png, storedSize: size(300, 200), bitDepth: 16, hasAlpha: true, isProgressive: true,
                smallestFile: 2_401 * 200 / 1_032 + 57)),
        Sample(
            "PNG with a transparent color, a profile, and EXIF",
            png(
                9, 4, bitDepth: 2, colorType: 3,
                before: ByteBuilder().chunk("iCCP", ByteBuilder().zeros(30)).chunk("eXIf", exif(6, bigEndian: true))
                    .chunk("PLTE", ByteBuilder().zeros(12)).chunk("tRNS", ByteBuilder().zeros(1))),
            ImageInfo(
                format: .png, storedSize: size(9, 4), orientation: .right, bitDepth: 2, hasAlpha: true,
                hasICCProfile: true, smallestFile: 57)),
        Sample(
            "APNG",
            png(
                3, 2, before: animationControl(frames: 2, plays: 3),
                after: animationFrame.joined(animationFrame)),
            ImageInfo(format: .apng, storedSize: size(3, 2), frameCount: 2, loopCount: 3, smallestFile: 57)),
        Sample(
            "APNG with fewer frames than it claims",
            png(
                3, 2,
                before: animationControl(frames: 0x7FFF_FFFF, plays: 0).chunk("fcTL", ByteBuilder().zeros(26)),
                after: animationFrame.joined(animationFrame)),
            ImageInfo(format: .apng, storedSize: size(3, 2), frameCount: 3, loopCount: 0, smallestFile: 57)),
        Sample(
            "APNG without frames", png(3, 2, before: animationControl(frames: 7, plays: 3)),
            ImageInfo(format: .apng, storedSize: size(3, 2), loopCount: 3, smallestFile: 57)),
        Sample(
            "PNG with an acTL whose number of plays is invalid",
            png(3, 2, before: animationControl(frames: 2, plays: 0x8000_0000), after: animationFrame),
            ImageInfo(format: .png, storedSize: size(3, 2), smallestFile: 57)),
        Sample(
            "PNG with acTL after the image data", png(3, 2, after: animationControl(frames: 7, plays: 3)),
            ImageInfo(format: .png, storedSize: size(3, 2), smallestFile: 57)),
        Sample(
            "PNG with an acTL of no frames", png(3, 2, before: animationControl(frames: 0, plays: 3)),
            ImageInfo(format: .png, storedSize: size(3, 2), smallestFile: 57)),
    ]

    static func jpeg(
        _ width: Int, _ height: Int, sof: UInt8 = 0xC0, depth: Int = 8, factors: [Int] = [0x22, 0x11, 0x11],
        before: ByteBuilder = ByteBuilder()
    ) -> ByteBuilder {
        var frame = ByteBuilder().big(depth, 1).big(height, 2).big(width, 2).big(factors.count, 1)
        for (index, factor) in factors.enumerated() { frame = frame.big(index + 1, 1).big(factor, 1).zeros(1) }
        return ByteBuilder().raw(0xFF, 0xD8).joined(before).segment(sof, frame)
            .segment(0xDA, ByteBuilder().zeros(6)).zeros(8).raw(0xFF, 0xD9)
    }

    fileprivate static let jpegs = [
        Sample("JPEG", jpeg(640, 480), ImageInfo(format: .jpeg, storedSize: size(640, 480), smallestFile: 900)),
        Sample(
            "progressive gray JPEG with EXIF and a profile",
            jpeg(
                17, 9, sof: 0xC2, factors: [0x11],
                before: ByteBuilder().segment(0xE0, ByteBuilder().text("JFIF\0").zeros(9))
                    .segment(0xE1, ByteBuilder().text("Exif\0\0").joined(exif(8)))
                    .segment(0xE2, ByteBuilder().text("ICC_PROFILE\0").raw(1, 1).zeros(20))),
            ImageInfo(
                format: .jpeg, storedSize: size(17, 9), orientation: .left, hasICCProfile: true, isProgressive: true,
                smallestFile: 0
            ).with(.fine)),
        Sample(
            "arithmetic JPEG after stray bytes",
            jpeg(900, 800, sof: 0xC9, before: ByteBuilder().raw(0xFF, 0xFE, 0, 2, 7, 7, 0xFF, 0xFF)),
            ImageInfo(format: .jpeg, storedSize: size(900, 800)).with(.fine)),
    ]

    static func gifFrame(_ width: Int, _ height: Int, x: Int = 0, interlaced: Bool = false) -> ByteBuilder {
        ByteBuilder().raw(0x2C).little(x, 2).zeros(2).little(width, 2).little(height, 2)
            .raw(interlaced ? 0x40 : 0, 2, 2, 0x4C, 0x01, 0)
    }

    static func gif(_ width: Int, _ height: Int, _ blocks: ByteBuilder, table: Bool = true) -> ByteBuilder {
        ByteBuilder().text("GIF89a").little(width, 2).little(height, 2).raw(table ? 0x80 : 0, 0, 0)
            .zeros(table ? 6 : 0).joined(blocks).raw(0x3B)
    }

    static func loop(_ count: Int, _ name: String = "NETSCAPE2.0") -> ByteBuilder {
        ByteBuilder().raw(0x21, 0xFF, 11).text(name).raw(3, 1).little(count, 2).raw(0)
    }

    fileprivate static let gifs = [
        Sample(
            "GIF", gif(5, 4, gifFrame(5, 4, interlaced: true)),
            ImageInfo(format: .gif, storedSize: size(5, 4), isProgressive: true, smallestFile: 13)),
        Sample(
            "GIF of three frames",
            gif(
                5, 4,
                loop(0).raw(0x21, 0xF9, 4, 1, 0, 0, 0, 0).joined(gifFrame(5, 4)).raw(0x21, 0xFE, 2, 65, 66, 0)
                    .joined(gifFrame(1, 1)).joined(gifFrame(2, 2))),
            ImageInfo(
                format: .gif, storedSize: size(5, 4), hasAlpha: true, frameCount: 3, loopCount: 0, smallestFile: 13)),
        Sample(
            "GIF without a screen", gif(0, 0, loop(5, "ANIMEXTS1.0").joined(gifFrame(3, 7, x: 2)), table: false),
            ImageInfo(format: .gif, storedSize: size(5, 7), loopCount: 6, smallestFile: 13)),
        Sample(
            "GIF with a buffer size before its loop count",
            gif(
                5, 4,
                ByteBuilder().raw(0x21, 0xFF, 11).text("NETSCAPE2.0").raw(5, 2, 0, 1, 0, 0, 3, 1).little(2, 2).raw(0)
                    .joined(gifFrame(5, 4))),
            ImageInfo(format: .gif, storedSize: size(5, 4), loopCount: 3, smallestFile: 13)),
    ]
}

extension ImageInfo {
    fileprivate func with(_ detail: StoredDetail) -> ImageInfo {
        var info = self
        info.detail = detail
        return info
    }
}
