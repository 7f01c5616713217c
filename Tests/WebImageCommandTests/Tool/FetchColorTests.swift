// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport

@testable import WebImageCommand

@Suite("The webimage fetch command: Gamut and dynamic range of encoded outputs", .timeLimit(.minutes(5)))
struct FetchColorTests {
    /// Decodes a file without mapping its tones.
    private func high(_ data: Data) throws -> DecodedImage {
        var options = ImageDecodingOptions()
        options.dynamicRange = .high
        return try ImageCoderRegistry.standard.decode(data, options: options)
    }

    @Test("A gain map remains if the image is reduced, also without a format")
    func gainMap() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.gainMapJPEG(), "a.jpg")
        for words in [["-o", "b.jpg"], ["-o", "{name}-c.jpg"], ["-d", "out"]] {
            let result = try await tool.start(["fetch", "a.jpg", "-s", "32", "--json"] + words).result
            #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
            #expect(try result.objects.first?["notes"] as? [String] == [])
            let image = try high(try tool.read(try #require(try result.outputs.first)))
            #expect(image.size == PixelSize(width: 32, height: 32) && image.gainMap?.size == image.size, "\(words)")
        }
        let words = ["fetch", "a.jpg", "-s", "32", "-o", "d.jpg", "--dynamic-range", "standard"]
        let standard = try await tool.start(words).result
        #expect(standard.status == 0 && standard.error.isEmpty, "\(standard.error)")
        #expect(try !high(try tool.read("d.jpg")).isHDR)
    }

    @Test("A high dynamic range remains in PNG, and a note reports its loss in other outputs")
    func dynamicRange() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.gainMapJPEG(), "a.jpg")
        let png = try await tool.run("fetch", "a.jpg", "-o", "b.png", "-f", "png")
        #expect(png.status == 0 && png.error.isEmpty, "\(png.error)")
        #expect(try high(try tool.read("b.png")).metadata.codePoints == ColorCodePoints(primaries: 9, transfer: 16))
        let lost = "the tones are mapped to the standard dynamic range in "
        for (words, format) in [
            (["-o", "b.webp", "-f", "webp"], "webp"), (["-o", "c.png", "-f", "png", "-t", "grayscale"], "png"),
        ] {
            let result = try await tool.start(["fetch", "a.jpg"] + words).result
            #expect(result.status == 0 && result.error.contains("note: a.jpg: \(lost)\(format)\n"), "\(result.error)")
            let quiet = try await tool.start(["fetch", "a.jpg", "-q", "--json", "-y"] + words).result
            #expect(quiet.error.isEmpty)
            #expect(try quiet.objects.first?["notes"] as? [String] == [lost + format])
        }
        // The original data is unchanged.
        #expect(try await tool.run("fetch", "a.jpg", "-o", "same.jpg").error.isEmpty)
        #expect(try tool.read("same.jpg") == tool.read("a.jpg"))
    }

    @Test("A wide gamut remains in formats with color profiles, and a note reports clipped colors in others")
    func gamut() async throws {
        let tool = try ToolProcess()
        let patches = try GamutPatches(profile: "p3")
        try tool.write(patches.file, "p3.png")
        let kept = try await tool.run("fetch", "p3.png", "-o", "b.png", "-f", "png")
        #expect(kept.status == 0 && kept.error.isEmpty, "\(kept.error)")
        var source = ImageDecodingOptions()
        source.color = .source
        let image = try ImageCoderRegistry.standard.decode(try tool.read("b.png"), options: source)
        #expect(patches.centers(of: image) == patches.colors)
        let clipped = try await tool.run("fetch", "p3.png", "-o", "b.bmp", "-f", "bmp")
        #expect(clipped.error.contains("note: p3.png: colors outside sRGB are clipped in bmp\n"), "\(clipped.error)")
        let wanted = try await tool.run("fetch", "p3.png", "-o", "c.bmp", "-f", "bmp", "--color-space", "srgb")
        #expect(wanted.status == 0 && wanted.error.isEmpty, "\(wanted.error)")
    }
}
