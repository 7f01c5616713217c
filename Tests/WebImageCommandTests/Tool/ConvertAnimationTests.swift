// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage

@Suite("The webimage convert command: Animations", .timeLimit(.minutes(5)))
struct ConvertAnimationTests {
    /// Returns an animation of five frames. The red value of the first pixel is the index of the frame.
    private func animation() throws -> DecodedImage {
        let frames = try (0..<5).map { place in
            let canvas = try PixelCanvas(size: PixelSize(width: 12, height: 9))
            canvas.withUnsafeMutableBytes { bytes in
                for at in bytes.indices { bytes[at] = at % 4 == 3 ? 255 : at < 3 ? UInt8(place) : 40 }
            }
            return (pixels: canvas.finish(isOpaque: true), duration: Duration.milliseconds(30 + place * 10))
        }
        return try DecodedImage(animation: ImageAnimation(frames: frames, loopCount: 2))
    }

    private func decode(_ tool: ToolProcess, _ name: String) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(try tool.read(name), context: ImageProcessingContext())
    }

    private func numbers(_ image: DecodedImage) throws -> [UInt8] {
        try (0..<image.frameCount).map {
            try (image.animation?.frame(at: $0) ?? image.pixels).packedBytes()[0]
        }
    }

    @Test("The limits of info apply to the images that it decodes")
    func limitsOfInfo() async throws {
        let tool = try ToolProcess()
        try tool.write(
            try ImageCoderRegistry.standard.encode(animation(), as: .gif, context: ImageProcessingContext()), "a.gif")
        let rejected = try await tool.run("info", "a.gif", "--max-pixels", "10")
        #expect(
            rejected.status == 1 && rejected.error.contains("Use --max-pixels or --no-limits."), "\(rejected.error)")
        #expect(try await tool.run("info", "a.gif", "--max-pixels", "108").status == 0)
        #expect(try await tool.run("info", "a.gif", "--no-limits").status == 0)
    }

    @Test("The info command prints the frames in an animated PNG file, even if the file claims more")
    func claimedFrames() async throws {
        let tool = try ToolProcess()
        var data = try ImageCoderRegistry.standard.encode(
            animation(), as: .apng, context: ImageProcessingContext())
        // The number of frames is at the beginning of the chunk.
        let place = try #require(data.firstRange(of: Data("acTL".utf8))).upperBound
        data.replaceSubrange(place..<place + 4, with: [0x7F, 0xFF, 0xFF, 0xFF])
        try tool.write(data, "a.png")
        let result = try await tool.run("info", "--json", "a.png")
        #expect(result.status == 0, "\(result.error)")
        let object = try #require(try result.objects.first)
        #expect(object["frames"] as? Int == 5 && object["loopCount"] as? Int == 2)
        #expect(object["frameDurations"] as? [Int] == [30, 40, 50, 60, 70])
    }

    @Test("Animations keep their frames, durations, and loops between formats")
    func formats() async throws {
        let tool = try ToolProcess()
        let image = try animation()
        try tool.write(
            try ImageCoderRegistry.standard.encode(
                image, as: .gif,
                context: ImageProcessingContext()), "a.gif")
        var from = "a.gif"
        for to in ["b.webp", "c.apng", "d.gif", "e.apng", "f.webp", "g.gif"] {
            let result = try await tool.run("convert", from, to, "--lossless")
            #expect(result.status == 0, "\(result.error)")
            let back = try decode(tool, to)
            #expect(back.animation?.timeline == image.animation?.timeline, "\(to)")
            #expect(try numbers(back) == [0, 1, 2, 3, 4], "\(to)")
            from = to
        }
        #expect(try await tool.run("convert", "a.gif", "h.webp", "--lossless", "--loop", "0").status == 0)
        #expect(try decode(tool, "h.webp").animation?.timeline.loopCount == 0)
        #expect(try await tool.run("convert", "a.gif", "i.png").status == 0)
        #expect(try !decode(tool, "i.png").isAnimated)
    }

    @Test("The --frames option selects frames, and %d writes each frame to a file")
    func frames() async throws {
        let tool = try ToolProcess()
        try tool.write(
            try ImageCoderRegistry.standard.encode(animation(), as: .gif, context: ImageProcessingContext()), "a.gif")
        #expect(try await tool.run("convert", "a.gif", "b.apng", "--frames", "3-1,4").status == 0)
        let some = try decode(tool, "b.apng")
        #expect(try numbers(some) == [3, 2, 1, 4])
        #expect(some.animation?.timeline.durations == [60, 50, 40, 70])
        #expect(try await tool.run("convert", "a.gif", "f-%02d.png", "--frames", "1,3-").status == 0)
        for place in [1, 3, 4] { #expect(try numbers(decode(tool, "f-0\(place).png")) == [UInt8(place)]) }
        #expect(!FileManager.default.fileExists(atPath: tool.path("f-00.png")))
        #expect(try await tool.run("convert", "a.gif", "one.png", "--frames", "3").status == 0)
        #expect(try numbers(decode(tool, "one.png")) == [3])
        let missing = try await tool.run("convert", "a.gif", "c.webp", "--frames", "2-9")
        #expect(missing.status == 1 && missing.error.contains("(1008)"))
        for words in [["--frames", "x"], ["--frames", "-1"], ["--loop", "-1"]] {
            #expect(try await tool.start(["convert", "a.gif", "c.webp"] + words).result.status == 64, "\(words)")
        }
    }

    @Test("A note reports the frames that a file doesn't contain, unless an option selects a frame")
    func droppedFrames() async throws {
        let tool = try ToolProcess()
        try tool.write(
            try ImageCoderRegistry.standard.encode(animation(), as: .gif, context: ImageProcessingContext()), "a.gif")
        let note = "note: a.gif: only the first of 5 frames is written in"
        for (words, format) in [
            (["convert", "a.gif", "a.jpg"], "jpeg"), (["convert", "a.gif", "-f", "png", "a"], "png"),
            (["fetch", "a.gif", "-f", "bmp", "-o", "b.bmp"], "bmp"),
            (["fetch", "a.gif", "-s", "8", "-o", "c.png"], "png"), (["thumbnail", "a.gif", "-f", "png"], "png"),
            (["thumbnail", "a.gif", "-f", "webp"], "webp"),
        ] {
            let result = try await tool.start(words + ["--json"]).result
            #expect(result.status == 0 && result.error == "webimage: \(note) \(format)\n", "\(words): \(result.error)")
            #expect((try result.objects.first?["notes"] as? [String])?.count == 1, "\(words)")
        }
        for words in [
            ["convert", "a.gif", "a.webp"], ["convert", "a.gif", "one.jpg", "--frames", "2"],
            ["convert", "a.gif", "each-%d.png"], ["fetch", "a.gif", "-o", "same.gif"],
            ["thumbnail", "one.jpg", "-f", "gif"], ["fetch", "a.gif", "-f", "webp", "-o", "d.webp"],
        ] {
            let result = try await tool.start(words).result
            #expect(result.status == 0 && !result.error.contains("note"), "\(words): \(result.error)")
        }
        guard ImageCoderRegistry.standard.canEncode(.jxl) else { return }
        // The header of this format doesn't contain the number of frames.
        let converted = try await tool.run("convert", "a.gif", "a.jxl")
        let thumbnail = try await tool.run("thumbnail", "a.jxl", "-f", "jpeg")
        #expect(converted.status == 0 && thumbnail.status == 0, "\(converted.error) \(thumbnail.error)")
        #expect(thumbnail.error == "webimage: note: a.jxl: only the first frame is written in jpeg\n")
    }
}
