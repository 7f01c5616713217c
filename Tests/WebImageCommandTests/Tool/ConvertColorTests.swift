// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport

@Suite("The webimage convert command: Colors", .timeLimit(.minutes(5)))
struct ConvertColorTests {
    private func source(_ tool: ToolProcess, _ name: String) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(try tool.read(name), options: ImageDecodingOptions(color: .source))
    }

    @Test(
        "The gamut of the source remains, and --color-space converts it",
        .enabled(if: LabConverter.isAvailable, "requires liblcms2-utils"), arguments: ["p3", "adobe", "prophoto"],
        [ImageFormat.jpeg, .png, .webp, .avif, .jxl].filter(ImageCoderRegistry.standard.canEncode))
    func gamut(_ profile: String, _ format: ImageFormat) async throws {
        let tool = try ToolProcess()
        let patches = try GamutPatches(profile: profile)
        try tool.write(patches.file, "a.png")
        let name = "b.\(format.rawValue)"
        let words = ["-Q", "98", "--subsampling", "444"] + (format == .webp ? ["--lossless"] : [])
        #expect(try await tool.start(["convert", "a.png", name, "-s", "256"] + words).result.status == 0)
        let image = try source(tool, name)
        let expected = try LabConverter.lab(of: patches.colors, profile: GamutPatches.icc(profile))
        let actual = try LabConverter.lab(of: patches.centers(of: image), profile: image.profileOfPixels())
        let worst = zip(expected, actual).map { $0.difference(from: $1) }.max() ?? .infinity
        #expect(worst <= 1, "\(worst)")
        let arguments = ["convert", "a.png", name, "-y", "--color-space", "srgb"] + words
        #expect(try await tool.start(arguments).result.status == 0)
        let narrow = try source(tool, name)
        #expect(narrow.metadata.iccProfile == nil && (narrow.metadata.fileCodePoints ?? .sRGB) == .sRGB)
        let plain = patches.centers(of: try ImageCoderRegistry.standard.decode(patches.file))
        if format == .jxl {
            // Lossy JPEG XL has errors in blue that are large as samples, but not as colors. They're the same in files of
            // the program cjxl.
            let (expected, actual) = try (
                LabConverter.lab(of: plain, profile: GamutPatches.icc("srgb")),
                LabConverter.lab(of: patches.centers(of: narrow), profile: GamutPatches.icc("srgb"))
            )
            #expect(zip(expected, actual).allSatisfy { $0.difference(from: $1) <= 1 })
        } else {
            #expect(zip(patches.centers(of: narrow), plain).allSatisfy { abs(Int($0) - Int($1)) <= 3 })
        }
    }

    @Test("Thumbnails keep the gamut")
    func thumbnail() async throws {
        let tool = try ToolProcess()
        let patches = try GamutPatches(profile: "p3")
        try tool.write(patches.file, "a.png")
        #expect(try await tool.run("thumbnail", "a.png", "-s", "256", "-f", "png").status == 0)
        #expect(patches.centers(of: try source(tool, "tn_a.png")) == patches.colors)
    }

    @Test(
        "A note reports clipped colors of the source, unless the arguments request them",
        arguments: [
            (["convert", "p3.png", "out.bmp"], "sRGB"), (["convert", "p3.png", "out.gif"], "sRGB"),
            (["thumbnail", "p3.png", "-f", "qoi"], "sRGB"), (["thumbnail", "p3.png", "-f", "pam"], "sRGB"),
            (["thumbnail", "p3.png", "-f", "ico"], "sRGB"),
            (["convert", "p3.png", "out.jpg", "--transform", "sepia"], "sRGB"),
            (["convert", "p3.png", "out.bmp", "--color-space", "display-p3"], "sRGB"),
            (["convert", "cmyk.jpg", "out.bmp"], "sRGB"), (["convert", "rec2020.png", "out.webp"], "Display P3"),
        ])
    func clipped(_ words: [String], _ space: String) async throws {
        let tool = try await tool()
        let result = try await tool.start(words).result
        #expect(result.status == 0)
        #expect(result.error.contains("note: \(words[1]): colors outside \(space) are clipped"), "\(result.error)")
        let quiet = try await tool.start([words[0], "--quiet", "--json", "-y"] + words.dropFirst()).result
        let notes = try #require(try quiet.objects.first?["notes"] as? [String])
        #expect(quiet.error.isEmpty && notes.contains { $0.hasPrefix("colors outside \(space) are clipped in ") })
    }

    @Test(
        "No note appears if the file keeps the gamut, if the source has no wider gamut, or if the arguments request sRGB",
        arguments: [
            ["convert", "p3.png", "out.jpg"], ["convert", "p3.png", "out.webp"], ["thumbnail", "p3.png"],
            ["convert", "p3.png", "out.bmp", "--color-space", "srgb"], ["convert", "srgb.png", "out.bmp"],
            ["convert", "adobe.png", "out.png", "--color-space", "display-p3"], ["convert", "gray-8.png", "out.bmp"],
            ["convert", "cmyk.jpg", "out.jpg"],
        ])
    func notClipped(_ words: [String]) async throws {
        let tool = try await tool()
        let result = try await tool.start([words[0], "--json"] + words.dropFirst()).result
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        #expect(try result.objects.first?["notes"] as? [String] == [])
    }

    /// Returns a tool whose directory contains images in several color spaces.
    private func tool() async throws -> ToolProcess {
        let tool = try ToolProcess()
        for profile in ["srgb", "p3", "adobe"] {
            try tool.write(try GamutPatches(profile: profile).file, "\(profile).png")
        }
        for name in ["cmyk.jpg", "gray-8.png"] {
            try tool.write(try Data(contentsOf: Fixtures.directory.appending(path: "colors/\(name)")), name)
        }
        let pixels = try PixelCanvas(size: PixelSize(width: 16, height: 16)).finish(isOpaque: false)
        let metadata = ImageMetadata(
            storedSize: pixels.size, codePoints: ColorCodePoints(primaries: 9, transfer: 16), color: .source)
        try tool.write(try DecodedImage(pixels: pixels, metadata: metadata).encoded(as: .png), "rec2020.png")
        return tool
    }

    @Test("A high dynamic range remains in formats that can describe it, and a note reports its loss in others")
    func dynamicRange() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.gainMapJPEG(), "a.jpg")
        var high = ImageDecodingOptions()
        high.dynamicRange = .high
        for format in ["jpg", "png", "avif", "jxl"]
        where ImageFormat(fileExtension: format).map(
            ImageCoderRegistry.standard.canEncode) ?? false
        {
            let result = try await tool.run("convert", "a.jpg", "b.\(format)")
            #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
            let image = try ImageCoderRegistry.standard.decode(try tool.read("b.\(format)"), options: high)
            #expect(image.isHDR, "\(format)")
            if format != "jpg" {
                #expect(image.metadata.codePoints == ColorCodePoints(primaries: 9, transfer: 16))
                // The brightest row has about three times the white of the standard range.
                let light = try image.rendered(headroom: 8)
                #expect(light.headroom == 8)
            }
            let standard = try await tool.run("convert", "a.jpg", "c.\(format)", "--dynamic-range", "standard")
            #expect(standard.status == 0 && standard.error.isEmpty)
            let mapped = try ImageCoderRegistry.standard.decode(try tool.read("c.\(format)"), options: high)
            #expect(!mapped.isHDR, "\(format)")
        }
        #expect(try ImageInfo(data: try tool.read("b.png")).bitDepth == 16)
        let webp = try await tool.run("convert", "a.jpg", "b.webp")
        #expect(webp.status == 0 && webp.error.contains("note") && webp.error.contains("standard dynamic range"))
        let gray = try await tool.run("convert", "a.jpg", "d.png", "--transform", "grayscale")
        #expect(gray.status == 0 && gray.error.contains("standard dynamic range"), "\(gray.error)")
        let quiet = try await tool.run("convert", "-q", "a.jpg", "e.webp")
        #expect(quiet.error.isEmpty)
    }

    @Test(
        "A JPEG file with a gain map remains in a high dynamic range if it’s converted to JPEG XL without loss",
        .enabled(if: ImageCoderRegistry.standard.canEncode(.jxl)))
    func losslessDynamicRange() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.gainMapJPEG(), "a.jpg")
        let result = try await tool.run("convert", "a.jpg", "b.jxl", "--lossless")
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        var high = ImageDecodingOptions()
        high.dynamicRange = .high
        #expect(try ImageCoderRegistry.standard.decode(try tool.read("b.jxl"), options: high).gainMap != nil)
        let words = ["convert", "a.jpg", "b.jxl", "-y", "--lossless", "--dynamic-range", "standard"]
        let standard = try await tool.start(words).result
        #expect(standard.status == 0 && standard.error.isEmpty, "\(standard.error)")
        #expect(try !ImageCoderRegistry.standard.decode(try tool.read("b.jxl"), options: high).isHDR)
    }

    @Test("The properties of a gain map name the range of the base image")
    func baseImage() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.gainMapJPEG(), "a.jpg")
        let text = try await tool.run("info", "a.jpg")
        #expect(text.out.contains("headroom 4.00, 64 × 64 pixels, standard base image"), "\(text.out)")
        let object = try await tool.start(["info", "--json", "a.jpg"]).result.objects.first
        #expect((object?["gainMap"] as? [String: Any])?["base"] as? String == "standard")
    }

    @Test("Thumbnails keep a gain map, unless the arguments request the standard dynamic range")
    func thumbnailRange() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.gainMapJPEG(), "a.jpg")
        #expect(try await tool.run("thumbnail", "a.jpg", "-s", "32").status == 0)
        var high = ImageDecodingOptions()
        high.dynamicRange = .high
        let small = try ImageCoderRegistry.standard.decode(try tool.read("tn_a.jpg"), options: high)
        #expect(small.size == PixelSize(width: 32, height: 32) && small.gainMap?.size == small.size)
        #expect(try await tool.run("thumbnail", "a.jpg", "-s", "32", "-y", "--dynamic-range", "standard").status == 0)
        #expect(try !ImageCoderRegistry.standard.decode(try tool.read("tn_a.jpg"), options: high).isHDR)
        let webp = try await tool.run("thumbnail", "a.jpg", "-f", "webp")
        #expect(webp.status == 0 && webp.error.contains("standard dynamic range"), "\(webp.error)")
    }
}
