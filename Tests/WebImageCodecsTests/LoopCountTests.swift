// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Loop counts of animations")
struct LoopCountTests {
    private static let all: [ImageEncoding] = [
        .gif, .apng, .webp.lossless, ImageEncoding(format: .avif, isLossless: true),
        ImageEncoding(format: .jxl, isLossless: true),
    ]
    private static let encodings = all.filter { ImageCoderRegistry.standard.canEncode($0.formatOrAutomatic) }

    /// Returns an animation of two frames.
    private static func animation(loops: Int, hasAlpha: Bool = false) throws -> DecodedImage {
        let frames = try [UInt8(10), 200].map { red in
            let pixels = try PixelPatterns.make(width: 8, height: 8, isOpaque: !hasAlpha) { x, _ in
                x == 0 && hasAlpha ? SIMD4(0, 0, 0, 0) : SIMD4(red, 7, 9, 255)
            }
            return (pixels: pixels, duration: Duration.milliseconds(50))
        }
        return try DecodedImage(animation: ImageAnimation(frames: frames, loopCount: loops))
    }

    private static func encode(_ image: DecodedImage, _ encoding: ImageEncoding) throws -> Data {
        try ImageCoderRegistry.standard.encode(image, as: encoding, context: ImageProcessingContext())
    }

    private static func decode(_ data: Data) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
    }

    /// Returns the number in the looping extension of a GIF file, or `nil` if there's none.
    private static func repetitions(_ data: Data) -> Int? {
        guard let name = data.firstRange(of: Data("NETSCAPE2.0".utf8)) else { return nil }
        return Int(data[name.upperBound + 2]) | Int(data[name.upperBound + 3]) << 8
    }

    @Test(
        "Encoded animations keep the number of plays, which the header and the decoder return",
        arguments: encodings, [0, 1, 2, 3, 1_000, 65_535])
    func roundTrip(_ encoding: ImageEncoding, _ plays: Int) throws {
        for hasAlpha in [false, true] {
            let data = try Self.encode(Self.animation(loops: plays, hasAlpha: hasAlpha), encoding)
            #expect(try ImageInfo(data: data).loopCount == plays)
            let image = try Self.decode(data)
            #expect(image.animation?.loopCount == plays && image.frameCount == 2)
            // The positions of the frames are correct although AVIF files grow afterward.
            #expect(image.pixels.pixel(x: 7, y: 7)?.red == 10)
            #expect(try image.animation?.frame(at: 1).pixel(x: 7, y: 7)?.red == 200)
        }
    }

    @Test("Conversions between all formats keep the number of plays", arguments: encodings, encodings)
    func conversion(_ first: ImageEncoding, _ second: ImageEncoding) throws {
        for plays in [0, 1, 2, 5] {
            let once = try Self.decode(Self.encode(Self.animation(loops: plays), first))
            let twice = try Self.decode(Self.encode(once, second))
            #expect(twice.animation?.loopCount == plays)
        }
    }

    @Test(
        "A GIF stores one repetition less than the number of plays, and nothing for one play",
        arguments: [
            (0, 0), (1, nil), (2, 1), (3, 2), (65_535, 65_534), (65_536, 65_535), (65_537, 65_535), (.max, 65_535),
        ]
            as [(Int, Int?)])
    func gif(_ plays: Int, _ stored: Int?) throws {
        let data = try Self.encode(Self.animation(loops: plays), .gif)
        #expect(Self.repetitions(data) == stored)
        let expected = stored.map { $0 == 0 ? 0 : $0 + 1 } ?? 1
        #expect(try Self.decode(data).animation?.loopCount == expected)
    }

    @Test("A WebP or an animated PNG file stores the number of plays, or the nearest possible one")
    func otherFormats() throws {
        for (plays, stored) in [(0, 0), (1, 1), (2, 2), (65_535, 65_535), (65_536, 65_535), (.max, 65_535)] {
            let data = try Self.encode(Self.animation(loops: plays), .webp.lossless)
            let place = try #require(data.firstRange(of: Data("ANIM".utf8))).upperBound + 8
            let found = Int(data[place]) | Int(data[place + 1]) << 8
            #expect(found == stored)
        }
        for (plays, stored) in [(0, 0), (1, 1), (65_536, 65_536), (.max, 0x7FFF_FFFF)] {
            let data = try Self.encode(Self.animation(loops: plays), .apng)
            let place = try #require(data.firstRange(of: Data("acTL".utf8))).upperBound + 4
            let found = data[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            #expect(found == stored)
        }
    }

    @Test("The requested loop count replaces the stored one")
    func requested() throws {
        var encoding = ImageEncoding.gif
        encoding.loopCount = 4
        let data = try Self.encode(Self.animation(loops: 2), encoding)
        #expect(Self.repetitions(data) == 3)
    }

    @Test("The last looping extension of a GIF file applies, also after the first frame")
    func severalExtensions() throws {
        let data = try Self.encode(Self.animation(loops: 5), .gif)
        let start = try #require(data.firstRange(of: Data([0x21, 0xFF, 11]))).lowerBound
        let block = data[start..<start + 19]
        var changed = data.dropLast()
        changed.append(block)
        changed[changed.count - 3] = 9
        changed.append(0x3B)
        let file = Data(changed)
        #expect(try ImageInfo(data: file).loopCount == 10)
        #expect(try Self.decode(file).animation?.loopCount == 10)
    }

    @Test(
        "The GIF files of a bug report play once more than they repeat",
        .enabled(if: SharedCases.directory != nil, "the shared cases aren't available"), arguments: [1, 2])
    func report(_ stored: Int) throws {
        let data = try SharedCases.data("gif-loop-\(stored).gif")
        #expect(try ImageInfo(data: data).loopCount == stored + 1)
        let image = try Self.decode(data)
        #expect(image.animation?.loopCount == stored + 1)
        for encoding in [ImageEncoding.webp.lossless, .apng] {
            let once = try Self.decode(Self.encode(image, encoding))
            #expect(once.animation?.loopCount == stored + 1)
            #expect(Self.repetitions(try Self.encode(once, .gif)) == stored)
        }
    }
}
