// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTesting

@Suite("The --transform option", .timeLimit(.minutes(5)))
struct TransformOptionTests {
    @Test("The convert command applies transformers in order")
    func convert() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(width: 40, height: 20), "a.png")
        let result = try await tool.run(
            "convert", "a.png", "b.png", "--transform", "resize=20x20,pad=2,rotate=90", "-t", "circle")
        #expect(result.status == 0, "\(result.error)")
        #expect(try ImageInfo(data: try tool.read("b.png")).size == PixelSize(width: 14, height: 14))
        let badge = try await tool.run("convert", "a.png", "c.png", "-t", "overlay=b.png:top-left,mask=b.png")
        #expect(badge.status == 0, "\(badge.error)")
        #expect(try ImageInfo(data: try tool.read("c.png")).size == PixelSize(width: 40, height: 20))
    }

    @Test("Images get an exact size with a canvas or a smart crop")
    func exactSizes() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(width: 40, height: 20), "a.png")
        let cases: [(list: String, size: PixelSize)] = [
            ("canvas=50x30:fit:top:white", PixelSize(width: 50, height: 30)),
            ("canvas=50x30:fill:center:clear:upscale,rounded-corners=50%", PixelSize(width: 50, height: 30)),
            ("smart-crop=10x10:entropy", PixelSize(width: 10, height: 10)),
        ]
        for (index, (list, size)) in cases.enumerated() {
            let result = try await tool.run("convert", "a.png", "\(index).png", "--transform", list)
            #expect(result.status == 0, "\(result.error)")
            #expect(try ImageInfo(data: try tool.read("\(index).png")).size == size, "\(list)")
        }
    }

    @Test(
        "Vector images are drawn at the requested size before they're transformed",
        .enabled(if: ImageCoderRegistry.standard.canDecode(.svg), "built without SVG"))
    func vectors() async throws {
        let tool = try ToolProcess()
        let text = "<svg xmlns='http://www.w3.org/2000/svg' width='10' height='5'><rect width='10' height='5'/></svg>"
        try tool.write(Data(text.utf8), "a.svg")
        let result = try await tool.run("convert", "a.svg", "a.png", "-s", "80x", "-t", "pad=1")
        #expect(result.status == 0, "\(result.error)")
        #expect(try ImageInfo(data: try tool.read("a.png")).size == PixelSize(width: 82, height: 42))
    }

    @Test("An invalid transformer ends the tool with an exit status and a specific message")
    func wrong() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(width: 40, height: 20), "a.png")
        let unknown = try await tool.run("convert", "a.png", "b.png", "-t", "sepia,frob=1")
        #expect(unknown.status == 64 && unknown.error.contains("item 2: unknown transformer “frob”"))
        let outside = try await tool.run("convert", "a.png", "b.png", "-t", "crop=5x5:100:100")
        #expect(outside.status == 1 && outside.error.contains("(500"), "\(outside.error)")
        let missing = try await tool.run("convert", "a.png", "b.png", "-t", "mask=none.png")
        #expect(missing.status == 1 && missing.error.contains("(1006)"))
        let unwritten = try await tool.run("fetch", "a.png", "-t", "circle", "--cache-dir", "cache", "--json")
        #expect(try unwritten.objects[0]["width"] as? Int == 20)
    }

    @Test("The fetch command writes the transformed image, with alpha if necessary")
    func fetch() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.jpeg(width: 40, height: 20), "a.jpg")
        let result = try await tool.run("fetch", "a.jpg", "-d", "out", "-t", "circle", "--cache-dir", "cache")
        #expect(result.status == 0, "\(result.error)")
        let names = try FileManager.default.contentsOfDirectory(atPath: tool.path("out"))
        #expect(names.count == 1)
        let probe = try ImageInfo(data: try tool.read("out/\(names.first ?? "")"))
        #expect(probe.format == .png && probe.size == PixelSize(width: 20, height: 20))
    }
}
