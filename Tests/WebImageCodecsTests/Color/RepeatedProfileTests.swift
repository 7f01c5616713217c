// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Color profiles that a file contains twice")
struct RepeatedProfileTests {
    private func decode(_ data: Data) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
    }

    /// Checks that the image, its preview, and its metadata are those of `expected`.
    private func expect(_ data: Data, is expected: DecodedImage, _ note: String) throws {
        let image = try decode(data)
        #expect(image.pixels.hasSamePixels(as: expected.pixels), "\(note)")
        #expect(image.metadata.iccProfile == expected.metadata.iccProfile, "\(note)")
        var feeding = try #require(try Feeding(data))
        let preview = try #require(try feeding.finish { 1_000 })
        #expect(preview.isComplete && preview.image.metadata.iccProfile == expected.metadata.iccProfile, "\(note)")
        #expect(difference(preview.image.pixels.packedBytes(), expected.pixels.packedBytes()) <= 1, "\(note)")
    }

    /// Returns a JPEG file without its profile, and the profile.
    private func jpeg(_ name: String) throws -> (parts: JPEGParts, profile: [UInt8]) {
        (JPEGParts(try ColorFixture.named("\(name).jpg").data()).without(0xE2), try ColorFixture.profile(name))
    }

    @Test(
        "Equal profiles in a JPEG file are used, before and after the frame header, in any number of parts",
        arguments: ["p3", "scanner", "gray"], [1, 2, 5])
    func equal(_ name: String, _ count: Int) throws {
        let (parts, profile) = try jpeg(name)
        let expected = try decode(parts.beginning(with: JPEGParts.profile(profile, parts: 1)).file)
        #expect(expected.metadata.iccProfile == Data(profile))
        let copy = JPEGParts.profile(profile, parts: count)
        try expect(parts.beginning(with: copy).appending(copy).file, is: expected, "around the frame header")
        try expect(parts.beginning(with: copy + copy).file, is: expected, "in front")
        try expect(parts.appending(copy + copy + copy).file, is: expected, "three times")
        // The copies don’t have to be divided equally, and their segments can be in any order.
        let whole = JPEGParts.profile(profile, parts: 1)
        try expect(parts.beginning(with: whole).appending(copy).file, is: expected, "in different divisions")
        let mixed = zip(copy, copy.reversed()).flatMap { [$0, $1] }
        try expect(parts.beginning(with: mixed).file, is: expected, "in mixed order")
    }

    @Test("Different or incomplete profiles in a JPEG file are ignored", arguments: [1, 3])
    func different(_ count: Int) throws {
        let (parts, profile) = try jpeg("p3")
        let plain = try decode(parts.file)
        let copy = JPEGParts.profile(profile, parts: count)
        var changed = profile
        changed[profile.count / 2] ^= 1
        let other = JPEGParts.profile(changed, parts: count)
        try expect(parts.beginning(with: copy).appending(other).file, is: plain, "a different byte")
        let shorter = JPEGParts.profile(Array(profile.dropLast()), parts: count)
        try expect(parts.beginning(with: copy).appending(shorter).file, is: plain, "a different size")
        let divided = JPEGParts.profile(changed, parts: count + 1)
        try expect(parts.beginning(with: copy).appending(divided).file, is: plain, "a different division")
        let incomplete = Array(JPEGParts.profile(profile, parts: count + 1).dropLast())
        try expect(parts.beginning(with: copy).appending(incomplete).file, is: plain, "an incomplete copy")
        var invalid = copy
        invalid[0].body[12] = 0
        try expect(parts.beginning(with: copy).appending(invalid).file, is: plain, "the number 0")
        invalid[0].body[12] = UInt8(count + 1)
        try expect(parts.beginning(with: copy).appending(invalid).file, is: plain, "a number above the total")
    }

    @Test("More than four divisions of a profile in a JPEG file are ignored")
    func divisions() throws {
        let (parts, profile) = try jpeg("p3")
        let expected = try decode(parts.beginning(with: JPEGParts.profile(profile, parts: 1)).file)
        let four = (1...4).flatMap { JPEGParts.profile(profile, parts: $0) }
        try expect(parts.beginning(with: four).file, is: expected, "four")
        let five = four + JPEGParts.profile(profile, parts: 5)
        try expect(parts.beginning(with: five).file, is: try decode(parts.file), "five")
    }

    @Test(
        "Equal profiles in a PNG file are used", arguments: ["p3-8.png", "scanner-8.png", "srgb-8.png", "gray-8.png"])
    func png(_ file: String) throws {
        let fixture = try ColorFixture.named(file)
        var parts = PNGParts(try fixture.data())
        let place = try #require(parts.offsets(of: "iCCP").first)
        parts.chunks.insert(parts.chunks[place], at: place)
        let image = try decode(parts.file)
        #expect(image.pixels.hasSamePixels(as: try fixture.decode().pixels))
        var feeding = try #require(try Feeding(parts.file))
        let preview = try #require(try feeding.finish()).image
        #expect(difference(preview.pixels.packedBytes(), image.pixels.packedBytes()) <= 1)
    }

    @Test("Equal profiles in a WebP file are used")
    func webp() throws {
        let fixture = try ColorFixture.named("p3.webp")
        let data = try fixture.data()
        let start = try #require(data.firstRange(of: Data("ICCP".utf8))).lowerBound
        let size = Int(data[start + 4]) | Int(data[start + 5]) << 8
        let chunk = data[start..<start + 8 + size + size % 2]
        var file = Data(data.prefix(start) + chunk + data.dropFirst(start))
        let total = file.count - 8
        for index in 0..<4 { file[4 + index] = UInt8(truncatingIfNeeded: total >> (8 * index)) }
        #expect(try decode(file).pixels.hasSamePixels(as: try fixture.decode().pixels))
    }

    @Test(
        "The profile of a bug report, which is sent twice, is used",
        .enabled(if: SharedCases.directory != nil, "the shared cases aren't available"))
    func report() throws {
        let expected = try decode(try SharedCases.data("icc-one.jpg"))
        #expect(expected.metadata.iccProfile != nil)
        try expect(try SharedCases.data("icc-twice.jpg"), is: expected, "icc-twice.jpg")
    }
}
