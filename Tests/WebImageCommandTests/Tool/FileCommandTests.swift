// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Testing
import WebImage

@Suite("The webimage commands info, decode, and convert", .timeLimit(.minutes(5)))
struct FileCommandTests {
    @Test("Version, help, and usage errors have their exit statuses")
    func basics() async throws {
        let tool = try ToolProcess()
        #expect(try await tool.run("--version").out.hasPrefix("webimage "))
        let help = try await tool.run("--help")
        #expect(help.status == 0 && help.out.contains("webimage load URL"))
        let page = try await tool.run("decode", "--help")
        #expect(page.status == 0 && page.out.contains("--rgba OUT"))
        for words in [[], ["frob"], ["load"], ["load", "--frob", "x"], ["decode", "x"], ["cache", "frob"]] {
            let result = try await tool.start(words).result
            #expect(result.status == 64, "\(words)")
            #expect(result.out.isEmpty && !result.error.isEmpty)
        }
    }

    @Test("The info command describes the header and continues after a failure")
    func info() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(), "a.png")
        try tool.write(Data("<!DOCTYPE html><html></html>".utf8), "b.png")
        try tool.write(try SampleImages.jpeg(width: 30, height: 20), "c.jpg")
        let result = try await tool.run("info", "--json", "a.png", "b.png", "c.jpg", "missing.png")
        #expect(result.status == 1)
        let objects = try result.objects
        #expect(objects.map { $0["source"] as? String } == ["a.png", "b.png", "c.jpg", "missing.png"])
        #expect(objects[0]["width"] as? Int == 64 && objects[0]["rawHeight"] as? Int == 48)
        #expect(objects[0]["orientation"] as? Int == 1 && objects[0]["frames"] as? Int == 1)
        #expect(objects[2]["format"] as? String == "jpeg")
        let codes = objects.map { ($0["error"] as? [String: Any])?["code"] as? Int }
        #expect(codes == [nil, 4003, nil, 1006])
        let human = try await tool.run("info", "a.png")
        #expect(human.status == 0 && human.out.contains("64 × 48 pixels"))
    }

    @Test("The decode command writes packed rows and prints the size")
    func decode() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(width: 10, height: 6), "a.png")
        let full = try await tool.run("decode", "a.png", "--rgba", "full.rgba")
        #expect(full.status == 0 && full.out == "10 6\n")
        #expect(try tool.read("full.rgba") == Data(SampleImages.image(width: 10, height: 6).pixels.packedBytes()))
        let small = try await tool.run("decode", "--size", "5x", "a.png", "--rgba", "small.rgba")
        #expect(small.out == "5 3\n")
        #expect(try tool.read("small.rgba").count == 5 * 3 * 4)
        let frame = try await tool.run("decode", "a.png", "--frame", "1", "--rgba", "frame.rgba")
        #expect(frame.status == 1 && frame.error.contains("(1008)"))
    }

    @Test("A missing file, a directory, and a file without data have specific error codes")
    func unreadable() async throws {
        let tool = try ToolProcess()
        try tool.write(Data(), "empty.png")
        for (name, code) in [("missing.png", 1006), (".", 1007), ("empty.png", 4001)] {
            let result = try await tool.run("decode", name, "--rgba", "out")
            #expect(result.status == 1 && result.error.contains("(\(code))"), "\(name): \(result.error)")
        }
    }

    @Test("The convert command selects the format by the extension and reads standard input")
    func convert() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(width: 40, height: 20), "a.png")
        #expect(try await tool.run("convert", "a.png", "b.jpg", "--size", "20x20", "--quality", "80").status == 0)
        #expect(try ImageInfo(data: try tool.read("b.jpg")).size == PixelSize(width: 20, height: 10))
        #expect(try await tool.run("convert", "a.png", "b.webp").status == 0)
        #expect(ImageFormat(sniffing: try tool.read("b.webp")) == .webp)
        #expect(try await tool.run("convert", "a.png", "b.xyz").status == 64)
        #expect(try await tool.run("convert", "a.png", "b.jpg", "--quality", "101").status == 64)
        let refused = try await tool.run("convert", "a.png", "none/b.jpg")
        #expect(refused.status == 1 && refused.error.contains("(3003)"))
        let text = try await tool.run("convert", "-", "c.png", input: "just some words")
        #expect(text.status == 1 && text.error.contains("(4003)"))
    }

    @Test("An interrupt signal ends a decode that waits for its input")
    func interruption() async throws {
        let tool = try ToolProcess()
        #expect(mkfifo(tool.path("fifo"), 0o600) == 0)
        let running = try tool.start(["decode", "fifo", "--rgba", "out"])
        // Opening the write end succeeds when the tool reads. The tool never receives data.
        let path = tool.path("fifo")
        let writer = await withCheckedContinuation { continuation in
            DispatchQueue(label: "fifo").async { continuation.resume(returning: open(path, O_WRONLY | O_CLOEXEC)) }
        }
        defer { close(writer) }
        running.send(SIGINT)
        #expect(try await running.result.status == 130)
    }

    @Test("If the reader closes the pipe, the tool ends silently")
    func closedPipe() async throws {
        let tool = try ToolProcess()
        let result = try await tool.start(["--help"], closesOutput: true).result
        #expect(result.status == 141)
        #expect(result.error.isEmpty)
    }
}
