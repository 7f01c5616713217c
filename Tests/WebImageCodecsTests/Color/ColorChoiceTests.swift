// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Color spaces of decoded images")
struct ColorChoiceTests {
    @Test(
        "The colors of the file are preserved if the options request them",
        arguments: ["p3-8.png", "cicp-9-16.png", "adobe.jpg"])
    func source(_ file: String) throws {
        let fixture = try ColorFixture.named(file)
        let image = try fixture.decode(ImageDecodingOptions(color: .source))
        #expect(difference(image.pixels.packedBytes(), try fixture.expected()) > 2)
        #expect(image.metadata.iccProfile != nil || image.metadata.codePoints != nil)
    }

    @Test("Unusable profiles leave the pixels unchanged")
    func unusable() throws {
        let plain = try ColorFixture.named("p3.jpg").decode(ImageDecodingOptions(color: .source)).pixels
            .packedBytes()
        let p3 = try ColorFixture.profile("p3")
        var otherClass = p3
        otherClass.replaceSubrange(12..<16, with: Array("link".utf8))
        var otherSpace = p3
        otherSpace.replaceSubrange(16..<20, with: Array("Lab ".utf8))
        var sixInks = p3
        sixInks.replaceSubrange(16..<20, with: Array("6CLR".utf8))
        let others: [[UInt8]] = [
            [], [0], [UInt8](repeating: 0x41, count: 500), Array(p3.prefix(200)), otherClass, otherSpace, sixInks,
            try ColorFixture.profile("gray"), try ColorFixture.profile("cmyk"),
        ]
        for profile in others {
            let image = try ImageCoderRegistry.standard.decode(
                replacing(profile, in: try ColorFixture.named("p3.jpg").data()), context: ImageProcessingContext())
            #expect(image.pixels.packedBytes() == plain, "\(profile.count) bytes")
        }
    }

    @Test("A profile of 4 MiB is used, and a longer one is ignored")
    func longProfiles() throws {
        let data = try ColorFixture.named("p3.jpg").data()
        let expected = try ColorFixture.named("p3.jpg").decode().pixels.packedBytes()
        for (count, isUsed) in [(4 << 20, true), (4 << 20 + 1, false)] {
            var profile = try ColorFixture.profile("p3")
            profile += [UInt8](repeating: 0, count: count - profile.count)
            for index in 0..<4 { profile[index] = UInt8(truncatingIfNeeded: count >> (24 - index * 8)) }
            let image = try JPEGCoder().decode(
                replacing(profile, in: data), info: nil, options: ImageDecodingOptions(),
                context: ImageProcessingContext())
            #expect((image.pixels.packedBytes() == expected) == isUsed, "\(count)")
        }
    }

    @Test("A CMYK image without a usable profile is converted with the simple formula")
    func plainInk() throws {
        let fixture = try ColorFixture.named("cmyk.jpg")
        let plain = try fixture.decode(ImageDecodingOptions(color: .source)).pixels.packedBytes()
        let image = try ImageCoderRegistry.standard.decode(
            replacing(try ColorFixture.profile("p3"), in: fixture.data()), context: ImageProcessingContext())
        #expect(image.pixels.packedBytes() == plain)
        #expect(difference(plain, try fixture.expected()) > 3)
    }

    @Test(
        "A smaller image equals the full image in sRGB, scaled down",
        arguments: ["p3-16.png", "linear-8.png", "adobe.jpg", "p3-alpha-8.png"])
    func reduced(_ file: String) throws {
        let fixture = try ColorFixture.named(file)
        let full = try fixture.decode()
        let size = TargetSize.exact(width: 24, height: 16)
        let small = try fixture.decode(ImageDecodingOptions(size: size))
        let plain = try PNGCoder().encode(full, as: ImageEncoding(format: .png), context: ImageProcessingContext())
        let expected = try ImageCoderRegistry.standard.decode(
            plain, options: ImageDecodingOptions(size: size), context: ImageProcessingContext())
        #expect(similarity(small.pixels, expected.pixels) > 38)
    }

    /// Returns a JPEG file with its profile replaced.
    private func replacing(_ profile: [UInt8], in data: Data) throws -> Data {
        try JPEGProfile.replacing(profile, in: data)
    }
}

/// A writer of profiles in JPEG files (ICC.1:2022, annex B.4).
enum JPEGProfile {
    static func replacing(_ profile: [UInt8], in data: Data) throws -> Data {
        let bytes = [UInt8](data)
        var out: [UInt8] = [0xFF, 0xD8]
        let parts = max(1, (profile.count + 65_518) / 65_519)
        for part in 0..<parts {
            let content = profile[min(profile.count, part * 65_519)..<min(profile.count, (part + 1) * 65_519)]
            let length = content.count + 16
            out += [0xFF, 0xE2, UInt8(length >> 8), UInt8(length & 255)] + Array("ICC_PROFILE\0".utf8)
            out += [UInt8(part + 1), UInt8(parts)] + content
        }
        var place = 2
        while place + 4 <= bytes.count, bytes[place] == 0xFF, bytes[place + 1] != 0xDA {
            let length = Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])
            if bytes[place + 1] != 0xE2 { out += bytes[place..<place + 2 + length] }
            place += 2 + length
        }
        return Data(out + bytes[place...])
    }
}
