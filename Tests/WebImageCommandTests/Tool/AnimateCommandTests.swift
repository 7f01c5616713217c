// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTesting

@Suite("The webimage animate command", .timeLimit(.minutes(5)))
struct AnimateCommandTests {
    private static let red = PixelColor(red: 250, green: 0, blue: 0)
    private static let green = PixelColor(red: 0, green: 250, blue: 0)
    private static let blue = PixelColor(red: 0, green: 0, blue: 250)
    private static let animated: [ImageFormat] = [.gif, .webp, .apng, .avif, .jxl].filter {
        ImageCoderRegistry.standard.canEncode($0) && ImageCoderRegistry.standard.canDecode($0)
    }

    private func png(_ color: PixelColor, _ width: Int, _ height: Int) throws -> Data {
        let pixels = try PixelBuffer.filled(with: color, size: PixelSize(width: width, height: height))
        return try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: pixels), as: .png, context: ImageProcessingContext())
    }

    private func decode(_ data: Data) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
    }

    private func milliseconds(_ image: DecodedImage) -> [Int] {
        image.animation?.frameDurations.map { Int($0 / .milliseconds(1)) } ?? []
    }

    /// Returns whether two colors are equal, except for rounding by color conversion.
    private func isNear(_ pixel: PixelColor?, _ color: PixelColor, tolerance: Int = 4) -> Bool {
        guard let pixel else { return false }
        return zip(
            [pixel.red, pixel.green, pixel.blue, pixel.alpha], [color.red, color.green, color.blue, color.alpha]
        )
        .allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
    }

    private func color(_ pixels: PixelBuffer, _ x: Int, _ y: Int) -> PixelColor? {
        pixels.pixel(x: x, y: y).map { PixelColor(red: $0.red, green: $0.green, blue: $0.blue, alpha: $0.alpha) }
    }

    @Test("Each format has the frames, the durations, and the loop count", arguments: animated)
    func formats(_ format: ImageFormat) async throws {
        let tool = try ToolProcess()
        for (name, color) in [("a", Self.red), ("b", Self.green), ("c", Self.blue)] {
            try tool.write(try png(color, 24, 16), "\(name).png")
        }
        let name = "out.\(format == .apng ? "png" : format.fileExtension)"
        let result = try await tool.run(
            "animate", "a.png", "b.png", "c.png", "-o", name, "--delay", "50,120,300", "--loop", "3", "--lossless", "-q"
        )
        #expect(result.status == 0 && result.out.isEmpty, "\(result.error)")
        let data = try tool.read(name)
        #expect(try ImageInfo(data: data).format == format)
        let image = try decode(data)
        #expect(image.size == PixelSize(width: 24, height: 16) && image.frameCount == 3)
        #expect(milliseconds(image) == [50, 120, 300] && image.animation?.loopCount == 3)
        for (index, expected) in [Self.red, Self.green, Self.blue].enumerated() {
            let frame = try #require(try image.animation?.frame(at: index))
            for (x, y) in [(0, 0), (12, 8), (23, 15)] {
                #expect(
                    isNear(color(frame, x, y), expected),
                    "\(format) \(index): \(String(describing: color(frame, x, y)))")
            }
        }
    }

    @Test("By default, the animation repeats indefinitely, with 100 ms for each frame")
    func defaults() async throws {
        let tool = try ToolProcess()
        try tool.write(try png(Self.red, 8, 8), "a.png")
        try tool.write(try png(Self.green, 8, 8), "b.png")
        let result = try await tool.run("animate", "a.png", "b.png", "-o", "out.gif")
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        let size = try tool.read("out.gif").count
        #expect(result.out == "out.gif (8 × 8 pixels, 2 frames, 0.20 s, \(size) B)\n", "\(result.out)")
        let image = try decode(try tool.read("out.gif"))
        #expect(milliseconds(image) == [100, 100] && image.animation?.loopCount == 0)
    }

    @Test("Images of other sizes are fitted into the size of the first image, and centered")
    func sizes() async throws {
        let tool = try ToolProcess()
        try tool.write(try png(Self.red, 40, 20), "a.png")
        try tool.write(try png(Self.green, 10, 10), "small.png")
        try tool.write(try png(Self.blue, 100, 100), "large.png")
        let names = ["animate", "a.png", "small.png", "large.png", "-o", "out.png", "-y"]
        for (options, background) in [
            ([], PixelColor.clear), (["-b", "white"], .white),
            (["--background", "#102030"], PixelColor(hex: "#102030")),
        ] as [([String], PixelColor?)] {
            let result = try await tool.start(names + options).result
            #expect(result.status == 0, "\(result.error)")
            let image = try decode(try tool.read("out.png"))
            #expect(image.size == PixelSize(width: 40, height: 20) && image.frameCount == 3)
            let animation = try #require(image.animation)
            let background = try #require(background)
            let small = try animation.frame(at: 1)
            #expect(color(small, 14, 10) == background && color(small, 25, 10) == background)
            #expect(color(small, 15, 5) == Self.green && color(small, 24, 14) == Self.green)
            #expect(color(small, 15, 4) == background && color(small, 24, 15) == background)
            let large = try animation.frame(at: 2)
            #expect(color(large, 9, 10) == background && color(large, 30, 10) == background)
            #expect(color(large, 10, 0) == Self.blue && color(large, 29, 19) == Self.blue)
        }
    }

    @Test("The background is visible behind translucent pixels")
    func translucent() async throws {
        let tool = try ToolProcess()
        try tool.write(try png(PixelColor(red: 0, green: 0, blue: 0, alpha: 128), 8, 8), "a.png")
        try tool.write(try png(.clear, 8, 8), "b.png")
        #expect(try await tool.run("animate", "a.png", "b.png", "-o", "out.png", "-b", "white").status == 0)
        let animation = try #require(try decode(try tool.read("out.png")).animation)
        #expect(
            isNear(color(try animation.frame(at: 0), 4, 4), PixelColor(red: 127, green: 127, blue: 127), tolerance: 1))
        #expect(color(try animation.frame(at: 1), 4, 4) == .white)
    }

    @Test("The size changes the first image, and the others follow it")
    func requestedSize() async throws {
        let tool = try ToolProcess()
        try tool.write(try png(Self.red, 40, 20), "a.png")
        try tool.write(try png(Self.green, 80, 80), "b.png")
        for (size, expected, edge) in [
            ("50%", PixelSize(width: 20, height: 10), 5), ("20", PixelSize(width: 20, height: 10), 5),
            ("200%", PixelSize(width: 80, height: 40), 20), ("10x10^", PixelSize(width: 10, height: 10), 0),
            ("30x10!", PixelSize(width: 30, height: 10), 0),
        ] {
            let result = try await tool.run("animate", "a.png", "b.png", "-o", "out.png", "-y", "-s", size)
            #expect(result.status == 0, "\(result.error)")
            let image = try decode(try tool.read("out.png"))
            #expect(image.size == expected, "\(size)")
            let second = try #require(try image.animation?.frame(at: 1))
            #expect(color(second, edge, expected.height / 2) == Self.green, "\(size)")
            #expect(color(second, expected.width - 1 - edge, expected.height / 2) == Self.green, "\(size)")
            if edge > 0 { #expect(color(second, edge - 1, expected.height / 2) == .clear, "\(size)") }
        }
    }

    @Test("Inputs are directories, patterns, lists, standard input, and URLs, in their order")
    func inputs() async throws {
        let tool = try ToolProcess()
        let colors = (0..<12).map { PixelColor(red: UInt8($0 * 20), green: 100, blue: 100) }
        for (index, color) in colors.enumerated() { try tool.write(try png(color, 4, 4), "frames/deep/f\(index).png") }
        try tool.write(Data("frames/deep/f3.png\n# comment\nframes/deep/f1.png\n".utf8), "list.txt")
        func reds(_ words: [String], inputFile: String? = nil) async throws -> [Int] {
            let result = try await tool.start(["animate"] + words + ["-o", "out.png", "-y"], inputFile: inputFile)
                .result
            #expect(result.status == 0, "\(words): \(result.error)")
            let image = try decode(try tool.read("out.png"))
            return try (0..<image.frameCount).map {
                Int(try image.animation?.frame(at: $0).pixel(x: 1, y: 1)?.red ?? image.pixels.packedBytes()[0]) / 20
            }
        }
        #expect(try await reds(["frames", "-r"]) == Array(0..<12))
        #expect(try await reds(["frames/deep/"]) == Array(0..<12))
        #expect(try await reds(["frames/deep/f?.png"]) == Array(0..<10))
        #expect(try await reds(["@list.txt", "frames/deep/f0.png"]) == [3, 1, 0])
        #expect(try await reds(["-i", "list.txt"]) == [3, 1])
        #expect(
            try await reds(["frames/deep/f2.png", "-", "frames/deep/f2.png"], inputFile: "frames/deep/f9.png") == [
                2, 9, 2,
            ])
        #expect(try await reds(["frames/deep/f5.png"]) == [5])
        let server = try LoopbackServer(routes: ["/a.png": .ok(try png(colors[7], 4, 4), contentType: "image/png")])
        defer { server.stop() }
        #expect(try await reds(["frames/deep/f1.png", server.url("/a.png").absoluteString]) == [1, 7])
        let limited = try await tool.run(
            "animate", server.url("/a.png").absoluteString, "-o", "x.png", "--max-memory", "10")
        #expect(
            limited.status == 1 && limited.error.contains("more than 10 B together (use --max-memory"),
            "\(limited.error)")
    }

    @Test("Only the first frame of an animation is used, and a note reports it")
    func animations() async throws {
        let tool = try ToolProcess()
        try tool.write(try png(Self.red, 6, 6), "a.png")
        try tool.write(try png(Self.green, 6, 6), "b.png")
        #expect(try await tool.run("animate", "a.png", "b.png", "-o", "ab.gif").status == 0)
        let result = try await tool.run("animate", "b.png", "ab.gif", "-o", "out.gif", "--lossless")
        #expect(result.status == 0)
        #expect(
            result.error == "webimage: note: ab.gif: only the first of 2 frames is used\n"
                + "webimage: note: gif can’t be lossless if a frame has more than 256 colors\n", "\(result.error)")
        let animation = try #require(try decode(try tool.read("out.gif")).animation)
        #expect(animation.frameCount == 2)
        #expect(isNear(color(try animation.frame(at: 1), 3, 3), Self.red, tolerance: 0))
    }

    @Test("The JSON object has the documented form")
    func json() async throws {
        let tool = try ToolProcess()
        try tool.write(try png(Self.red, 6, 4), "a.png")
        try tool.write(try png(Self.green, 6, 4), "b.png")
        let result = try await tool.run("animate", "a.png", "b.png", "-o", "out.webp", "--json", "--delay", "30,60")
        let object = try #require(try result.objects.first)
        #expect(result.status == 0 && object["command"] as? String == "animate" && object["status"] as? String == "ok")
        #expect(object["inputs"] as? [String] == ["a.png", "b.png"] && object["frames"] as? Int == 2)
        #expect(object["width"] as? Int == 6 && object["height"] as? Int == 4 && object["loopCount"] as? Int == 0)
        #expect(object["frameDurations"] as? [Int] == [30, 60] && (object["notes"] as? [String])?.isEmpty == true)
        let output = try #require((object["outputs"] as? [[String: Any]])?.first)
        #expect(output["path"] as? String == "out.webp" && output["format"] as? String == "webp")
        #expect(output["byteCount"] as? Int == (try tool.read("out.webp").count))
        let failed = try await tool.run("animate", "a.png", "none.png", "-o", "x.webp", "--json")
        let failure = try #require(try failed.objects.first)
        #expect(failed.status == 1 && failure["status"] as? String == "failed")
        #expect((failure["error"] as? [String: Any])?["code"] as? Int == 1006)
        #expect((failure["outputs"] as? [Any])?.isEmpty == true)
    }

    @Test("The animation is written to standard output on request")
    func standardOutput() async throws {
        let tool = try ToolProcess()
        try tool.write(try png(Self.red, 6, 4), "a.png")
        try tool.write(try png(Self.green, 6, 4), "b.png")
        let result = try await tool.run("animate", "a.png", "b.png", "-o", "-", "-f", "png")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(try decode(result.bytes).frameCount == 2)
    }

    @Test("Failures write nothing, and their messages name the input, the limit, or the file")
    func failures() async throws {
        let tool = try ToolProcess()
        try tool.write(try png(Self.red, 60, 40), "a.png")
        try tool.write(try png(Self.green, 60, 40), "b.png")
        try tool.write(Data("words".utf8), "words.png")
        try tool.write(Data("kept".utf8), "old.gif")
        try tool.write(Data(), "empty.txt")
        try FileManager.default.createDirectory(
            at: tool.directory.appending(path: "folder"), withIntermediateDirectories: true)
        for (words, status, message) in [
            (["a.png", "none.png", "gone.png", "-o", "x.gif"], 1, "webimage: none.png: "),
            (["a.png", "none.png", "gone.png", "-o", "x.gif"], 1, "webimage: gone.png: "),
            (["a.png", "words.png", "-o", "x.gif"], 1, "webimage: words.png: "),
            (["words.png", "a.png", "-o", "x.gif"], 1, "webimage: words.png: "),
            (["a.png", "b.png", "-o", "old.gif"], 1, "old.gif"),
            (["a.png", "b.png", "-o", "b.png", "-y"], 1, "The output b.png is an input"),
            (["a.png", "b.png", "-o", "x.gif", "--max-frames", "1"], 1, "Use --max-frames or --no-limits."),
            (["a.png", "b.png", "-o", "x.gif", "--max-pixels", "1000"], 1, "Use --max-pixels or --no-limits."),
            (["a.png", "-o", "x.gif", "-s", "1000%", "--max-memory", "9000"], 1, "Use --max-memory or --no-limits."),
            (["a.png", "b.png", "-o", "none/x.gif"], 1, "none/x.gif"),
            (["a.png", "-o", "folder", "-f", "gif"], 64, "--output: “folder” isn’t a file"),
            (["a.png", "-o", "x/", "-f", "gif"], 64, "--output: “x/” isn’t a file"),
            (["a.png", "-o", "{n}.gif"], 64, "--output: “{n}.gif” isn’t a file"),
            (["a.png", "b.png", "-o", "x.gif", "--delay", "50,50,50"], 64, "--delay: 3 durations don’t fit 2 images"),
            (["@empty.txt", "-o", "x.gif"], 64, "there are no images"),
        ] as [([String], Int32, String)] {
            let result = try await tool.start(["animate"] + words).result
            #expect(result.status == status && result.out.isEmpty, "\(words): \(result.status) \(result.error)")
            #expect(result.error.contains(message), "\(words): \(result.error)")
            #expect(!FileManager.default.fileExists(atPath: tool.path("x.gif")), "\(words)")
        }
        #expect(try tool.read("old.gif") == Data("kept".utf8))
        #expect(try await tool.run("animate", "a.png", "b.png", "-o", "old.gif", "-y").status == 0)
        #expect(try decode(try tool.read("old.gif")).frameCount == 2)
    }
}
