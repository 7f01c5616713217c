// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage

@Suite("The webimage convert command: Encoding", .timeLimit(.minutes(5)))
struct ConvertEncodingTests {
    @Test("A note reports that the format of a file can't be lossless")
    func lossless() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(), "a.png")
        for command in ["convert", "fetch", "thumbnail"] {
            for (format, note) in [
                ("jpeg", "note: a.png: jpeg can’t be lossless, so the quality is 100"),
                ("gif", "note: a.png: gif can’t be lossless if a frame has more than 256 colors"),
                ("webp", nil), ("png", nil),
            ] as [(String, String?)] {
                let result = try await tool.run(command, "a.png", "--lossless", "-f", format, "-o", "x", "-y")
                #expect(result.status == 0, "\(command) \(format): \(result.error)")
                #expect(result.error == (note.map { "webimage: \($0)\n" } ?? ""), "\(command) \(format)")
            }
            let lossy = try await tool.run(command, "a.png", "-f", "jpeg", "-o", "x", "-y")
            #expect(lossy.status == 0 && lossy.error.isEmpty, "\(lossy.error)")
        }
    }

    private func decode(_ tool: ToolProcess, _ name: String) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(try tool.read(name), context: ImageProcessingContext())
    }

    @Test("The help page lists every option")
    func help() async throws {
        let tool = try ToolProcess()
        let page = try await tool.run("convert", "--help").out
        for option in [
            "target-size", "max-dimension", "quality", "looks", "subsampling", "progressive", "background", "metadata",
            "embed-thumbnail", "exact", "lossless", "effort", "bit-depth", "format", "header",
        ] {
            #expect(page.contains("--\(option)"), "\(option)")
        }
    }

    @Test("The options --target-size and --max-dimension limit the file")
    func limits() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(width: 400, height: 300), "a.png")
        for name in ["b.jpg", "b.png", "b.webp", "b.gif"] {
            #expect(try await tool.run("convert", "a.png", name, "--target-size", "3K").status == 0)
            #expect(try tool.read(name).count <= 3 << 10, "\(name)")
        }
        #expect(try await tool.run("convert", "a.png", "c.jpg", "--max-dimension", "100").status == 0)
        #expect(try decode(tool, "c.jpg").size == PixelSize(width: 100, height: 75))
        let impossible = try await tool.run("convert", "a.png", "d.png", "--target-size", "9")
        #expect(impossible.status == 1 && impossible.error.contains("(6001)"))
    }

    @Test("JPEG options affect the file")
    func jpeg() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(), "a.png")
        let result = try await tool.run(
            "convert", "a.png", "b.jpg", "--subsampling", "4:2:2", "--progressive", "-Q", "95", "--embed-thumbnail",
            "16")
        #expect(result.status == 0)
        let bytes = try tool.read("b.jpg")
        let frame = try #require(bytes.firstRange(of: Data([0xFF, 0xC2])))
        #expect(bytes[frame.lowerBound + 11] == 0x21)
        #expect(EmbeddedMetadata(reading: bytes).exif != nil)
        let clear = try PixelCanvas(size: PixelSize(width: 9, height: 9)).finish(isOpaque: false)
        try tool.write(
            try ImageCoderRegistry.standard.encode(
                DecodedImage(pixels: clear), as: .png,
                context: ImageProcessingContext()),
            "c.png")
        #expect(try await tool.run("convert", "c.png", "d.jpg", "--background", "#0000ff").status == 0)
        #expect(try decode(tool, "d.jpg").pixels.pixel(x: 4, y: 4)?.blue ?? 0 > 250)
        #expect(try await tool.run("convert", "c.png", "e.webp", "--exact", "--lossless").status == 0)
    }

    @Test("Metadata is omitted by default, and locations can be removed separately")
    func metadata() async throws {
        let tool = try ToolProcess()
        var block = ExifBlock.only(.up)
        block.position = [ExifBlock.Entry(tag: 1, kind: 2, count: 2, bytes: [0x4E, 0])]
        let pixels = try SampleImages.image(width: 20, height: 20).pixels
        let image = DecodedImage(
            pixels: pixels, metadata: ImageMetadata(storedSize: pixels.size, exif: block.serialized()))
        try tool.write(
            try ImageCoderRegistry.standard.encode(
                image, as: ImageEncoding(format: .jpeg).with(\.metadata, .keep), context: ImageProcessingContext()),
            "a.jpg")
        func kept(_ words: String...) async throws -> ExifBlock? {
            #expect(try await tool.start(["convert", "-y", "a.jpg", "b.webp"] + words).result.status == 0)
            return EmbeddedMetadata(reading: try tool.read("b.webp")).exif.flatMap { ExifBlock($0) }
        }
        #expect(try await kept() == nil)
        #expect(try await kept("--metadata", "keep")?.position.count == 1)
        #expect(try await kept("--metadata", "keep-except-location")?.position.isEmpty == true)
    }

    @Test("A JPEG is converted to JPEG XL without loss", .enabled(if: ImageCoderRegistry.standard.canEncode(.jxl)))
    func transcode() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.jpeg(width: 200, height: 150), "a.jpg")
        #expect(try await tool.run("convert", "a.jpg", "b.jxl", "--lossless").status == 0)
        #expect(try tool.read("b.jxl").firstRange(of: Data("jbrd".utf8)) != nil)
        #expect(try tool.read("b.jxl").count < tool.read("a.jpg").count)
    }

    @Test("Invalid values are rejected")
    func wrong() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(), "a.png")
        for words in [
            ["--target-size", "0"], ["--target-size", "x"], ["--max-dimension", "0"], ["--subsampling", "411"],
            ["--background", "clear"], ["--metadata", "all"], ["--embed-thumbnail", "0"], ["--effort", "10"],
        ] {
            #expect(try await tool.start(["convert", "a.png", "b.jpg"] + words).result.status == 64, "\(words)")
        }
    }
}
