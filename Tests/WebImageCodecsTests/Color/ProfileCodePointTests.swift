// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageTestBasics

@testable import WebImageCodecs

@Suite("Code points in color profiles")
struct ProfileCodePointTests {
    private static func big(_ value: Int) -> [UInt8] { PNGParts.big(UInt32(value)) }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns the profile of a scanner, whose tables differ from all code points, as one of version 4 with another tag.
    static func profile(_ content: [UInt8], name: String = "cicp", type: String = "cicp") throws -> [UInt8] {
        let old = try ColorFixture.profile("scanner")
        let count = number(old, 128)
        let tag = Array(type.utf8) + big(0) + content
        var directory = big(count + 1)
        for index in 0..<count {
            let entry = 132 + index * 12
            directory += old[entry..<entry + 4] + big(number(old, entry + 4) + 12) + old[entry + 8..<entry + 12]
        }
        directory += Array(name.utf8) + big(old.count + 12) + big(tag.count)
        var profile = Array(old[..<128]) + directory + Array(old[(132 + count * 12)...]) + tag
        profile.replaceSubrange(0..<4, with: big(profile.count))
        profile[8] = 4
        return profile
    }

    private func points(_ change: (inout [UInt8]) throws -> Void) throws -> ColorCodePoints? {
        var profile = try Self.profile([9, 16, 0, 1])
        try change(&profile)
        return ColorCodePoints(iccProfile: profile)
    }

    @Test("Valid tags have known numbers, RGB samples of the full range, and a suitable profile")
    func validity() throws {
        for (primaries, transfer) in [(9, 16), (9, 18), (12, 13), (1, 13), (9, 8)] as [(UInt8, UInt8)] {
            let found = ColorCodePoints(iccProfile: try Self.profile([primaries, transfer, 0, 1]))
            #expect(found == ColorCodePoints(primaries: Int(primaries), transfer: Int(transfer)))
        }
        let invalid: [[UInt8]] = [
            [2, 16, 0, 1], [9, 2, 0, 1], [3, 16, 0, 1], [9, 3, 0, 1], [9, 16, 1, 1], [9, 16, 0, 0], [9, 16, 0], [],
        ]
        for content in invalid { #expect(ColorCodePoints(iccProfile: try Self.profile(content)) == nil, "\(content)") }
        #expect(ColorCodePoints(iccProfile: try Self.profile([9, 16, 0, 1], type: "cicx")) == nil)
        #expect(ColorCodePoints(iccProfile: try ColorFixture.profile("p3")) == nil)
        // A profile of version 2, of a printer, and for gray.
        #expect(try points { $0[8] = 2 } == nil)
        #expect(try points { $0.replaceSubrange(12..<16, with: Array("prtr".utf8)) } == nil)
        #expect(try points { $0.replaceSubrange(16..<20, with: Array("GRAY".utf8)) } == nil)
    }

    @Test("Truncated profiles, and directories with wrong numbers, have no code points")
    func hostile() throws {
        let whole = try Self.profile([9, 16, 0, 1])
        for count in whole.indices { #expect(ColorCodePoints(iccProfile: Array(whole[..<count])) == nil) }
        let count = Self.number(whole, 128)
        let entry = 132 + (count - 1) * 12
        for number in [101, 0x7FFF_FFFF, 0xFFFF_FFFF] {
            #expect(try points { $0.replaceSubrange(128..<132, with: Self.big(number)) } == nil)
            // Only the part of a tag within the profile is read.
            let found = try points { $0.replaceSubrange(entry + 8..<entry + 12, with: Self.big(number)) }
            #expect(found == ColorCodePoints(primaries: 9, transfer: 16))
        }
        for number in [whole.count - 11, whole.count, 0x7FFF_FFFF, 0xFFFF_FFFF] {
            #expect(try points { $0.replaceSubrange(entry + 4..<entry + 8, with: Self.big(number)) } == nil)
        }
    }

    /// Returns a file whose profile has the tag. The encoder would write a shorter description.
    static func file(
        _ pixels: PixelBuffer, _ format: ImageFormat, _ numbers: [UInt8], isLossless: Bool = true
    ) throws -> Data {
        var metadata = ImageMetadata(storedSize: pixels.size, color: .source)
        let encoding = ImageEncoding(format: format, quality: 95, isLossless: isLossless)
        if format == .png || format == .jxl {
            metadata.iccProfile = Data(try profile(numbers))
            let image = DecodedImage(pixels: pixels, metadata: metadata)
            let context = ImageProcessingContext()
            #if JXL
                if format == .jxl { return try JXLWriter.encode(image, as: encoding, context: context) }
            #endif
            return try PNGWriter.encode(image, as: encoding, context: context)
        }
        metadata.iccProfile = Data(try profile(numbers, name: "none"))
        var file = try DecodedImage(pixels: pixels, metadata: metadata).encoded(as: encoding)
        let name = try #require(file.firstRange(of: Data("none".utf8)), "\(format)")
        file.replaceSubrange(name, with: Data("cicp".utf8))
        return file
    }

    private static let formats = [ImageFormat.jpeg, .png, .webp, .tiff, .avif, .heif, .jxl].filter(
        ImageCoderRegistry.standard.canEncode)

    @Test("Code points in a profile describe the samples in every format", arguments: formats)
    func decodes(_ format: ImageFormat) throws {
        let pixels = try PixelPatterns.photo(width: 48, height: 32)
        let points = ColorCodePoints(primaries: 12, transfer: 13)
        let file = try Self.file(pixels, format, [12, 13, 0, 1], isLossless: format != .heif && format != .avif)
        // The expected colors are those of the same samples with code points of the format PNG.
        let samples = try DecodedImage(data: file, options: ImageDecodingOptions(color: .source))
        #expect(samples.metadata.codePoints == points && samples.metadata.iccProfile != nil)
        let metadata = ImageMetadata(storedSize: pixels.size, codePoints: points, color: .source)
        let plain = try DecodedImage(pixels: samples.pixels, metadata: metadata).encoded(as: .png)
        let read = try DecodedImage(data: file)
        #expect(read.metadata.fileCodePoints == points && read.metadata.color == .sRGB)
        #expect(difference(read.pixels.packedBytes(), try DecodedImage(data: plain).pixels.packedBytes()) <= 1)
        let plainSamples = samples.pixels.packedBytes()
        #expect(difference(read.pixels.packedBytes(), plainSamples) > 5)
        // Encoders write the shorter description.
        let copy = try ImageInfo(data: samples.encoded(as: .png))
        #expect(copy.codePoints == points)
        let jpeg = try DecodedImage(data: samples.encoded(as: .jpeg))
        #expect(jpeg.metadata.iccProfile == Data(CompactProfile.displayP3))
    }

    @Test(
        "A profile with the code points of PQ makes an image with a high dynamic range",
        arguments: [ImageFormat.png, .avif, .jxl].filter(ImageCoderRegistry.standard.canEncode))
    func highDynamicRange(_ format: ImageFormat) throws {
        let pixels = try PixelPatterns.wideGradient()
        let file = try Self.file(pixels, format, [9, 16, 0, 1], isLossless: format != .avif)
        let image = try HDRFiles.image(file)
        let points = ColorCodePoints(primaries: 9, transfer: 16)
        #expect(image.isHDR && image.pixels.format == .rgba16 && image.metadata.codePoints == points)
        let metadata = ImageMetadata(storedSize: pixels.size, bitDepth: 16, codePoints: points, color: .source)
        let expected = DecodedImage(pixels: image.pixels, metadata: metadata)
        for headroom in [1.0, 4] {
            let own = HDRMath.light(try image.rendered(headroom: headroom))
            #expect(HDRMath.psnr(own, HDRMath.light(try expected.rendered(headroom: headroom))) > 80)
        }
        // For standard dynamic range, the tones are mapped instead of the tables of the profile.
        let standard = try DecodedImage(data: file)
        #expect(!standard.isHDR)
        let mapped = HDRMath.light(try expected.rendered(headroom: 1))
        #expect(HDRMath.psnr(HDRMath.light(try standard.rendered(headroom: 1)), mapped) > 45)
        let info = try ImageInfo(data: try image.encoded(as: .png))
        #expect(info.codePoints == points && !info.hasICCProfile)
    }

    @Test("Code points of the format PNG take precedence over those in a profile")
    func precedence() throws {
        let pixels = try PixelPatterns.photo(width: 16, height: 16)
        var parts = PNGParts(try Self.file(pixels, .png, [9, 18, 0, 1]))
        let place = try #require(parts.offsets(of: "iCCP").first)
        parts.chunks.insert(PNGParts.Chunk(name: "cICP", body: [9, 16, 0, 1]), at: place)
        let image = try HDRFiles.image(parts.file)
        #expect(image.metadata.codePoints == ColorCodePoints(primaries: 9, transfer: 16))
    }
}
