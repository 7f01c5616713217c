// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport
import WebImageTesting

@testable import WebImageCommand

@Suite("The webimage show command: Grids", .timeLimit(.minutes(5)))
struct ShowGridTests {
    /// Returns a tool with an image of two colors, and the lines that show it in a cell of 4 × 2 characters.
    private func tool() async throws -> (ToolProcess, lines: [String]) {
        let tool = try ToolProcess()
        for name in ["flag.png", "b.png"] { try tool.write(try SampleImages.flag(), name) }
        let alone = try await tool.run("show", "-f", "symbols", "-s", "4x2", "flag.png")
        let lines = alone.out.split(separator: "\n").map(String.init)
        #expect(lines.count == 2 && lines[0].contains("255;0;0") && lines[1].contains("0;0;255"))
        return (tool, lines)
    }

    @Test("Images are shown next to each other, above their names, and rows are separated by an empty line")
    func rows() async throws {
        let (tool, lines) = try await tool()
        let words = ["show", "--grid=2", "-f", "symbols", "-s", "8x2", "flag.png", "b.png", "flag.png"]
        let result = try await tool.start(words).result
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        #expect(
            result.out == """
                  \(lines[0])      \(lines[0])
                  \(lines[1])      \(lines[1])
                flag.png   b.png

                  \(lines[0])
                  \(lines[1])
                flag.png

                """)
        let quiet = try await tool.start(words + ["--quiet"]).result
        #expect(quiet.out.split(separator: "\n").count == 4 && !quiet.out.contains("png"))
        let plain = try await tool.start(words.filter { $0 != "-f" && $0 != "symbols" }).result
        #expect(plain.status == 0 && plain.out.contains("flag.png   b.png\n\n") && !plain.out.contains("\u{1B}"))
    }

    @Test("A message replaces an image that can't be shown, and its error is reported after the row")
    func failures() async throws {
        let (tool, lines) = try await tool()
        try tool.write(Data("words".utf8), "c.png")
        let words = ["show", "--grid", "-f", "symbols", "-s", "12x2", "none.png", "flag.png", "c.png"]
        let result = try await tool.start(words).result
        #expect(result.status == 1)
        let rows = result.out.components(separatedBy: "\n")
        #expect(rows.count == 4 && rows[3].isEmpty, "\(result.out)")
        #expect(rows[0].hasPrefix(" ✗ the file       \(lines[0])"), "\(rows[0])")
        #expect(rows[1].hasPrefix("  doesn't…        \(lines[1])"), "\(rows[1])")
        #expect(rows[0].hasSuffix("✗ the data is") || rows[0].hasSuffix("✗ the data"), "\(rows[0])")
        #expect(rows[2] == "  none.png      flag.png       c.png")
        let errors = result.error.split(separator: "\n")
        #expect(errors.count == 2 && errors[0].contains("none.png: ") && errors[1].contains("c.png: "))
    }

    @Test("Unsafe characters of names are replaced, and long names are truncated")
    func names() async throws {
        let tool = try ToolProcess()
        for name in ["a\u{1B}[2Jb.png", "a-name-that-is-longer-than-its-cell.png"] {
            try tool.write(try SampleImages.flag(), "photos/\(name)")
        }
        try tool.write(try SampleImages.flag(), "photos/z.png")
        let invalid = tool.path("photos/z") + FileNameText.text(of: [0xFF]) + ".png"
        #expect(rename(tool.path("photos/z.png"), FileNameText.cString(invalid)) == 0)
        let result = try await tool.run("show", "--grid", "-s", "12x2", "photos")
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        let names = try #require(result.out.split(separator: "\n").last)
        #expect(names == "a-name…l.png   a�[2Jb.png      z�.png", "\(names)")
    }

    @Test("Each row of sixels and of kitty is one image of the width of the terminal")
    func pixels() async throws {
        let (tool, _) = try await tool()
        for (format, start, size) in [
            ("sixels", "\u{1B}P", "\"1;1;220;"), ("kitty", "\u{1B}_Ga=T", "s=220,v=20,c=22,r=1"),
        ] {
            let words = ["show", "--grid=2", "-f", format, "-s", "10x2", "flag.png", "none.png", "b.png"]
            let result = try await tool.start(words).result
            #expect(result.status == 1)
            #expect(result.out.components(separatedBy: start).count == 3, "\(format)")
            #expect(result.out.contains(size), "\(format): \(result.out.prefix(80))")
            #expect(result.out.contains(" flag.png    none.png") && result.out.hasSuffix("\n  b.png\n"))
        }
    }

    @Test(
        "A row is drawn before later images arrive, and an animation shows its first frame",
        .enabled(if: (try? PseudoTerminal(columns: 80, rows: 24)) != nil, "no pseudo-terminal is available"))
    func arrival() async throws {
        let (tool, _) = try await tool()
        try tool.write(SampleImages.blinker, "blinker.gif")
        let flag = try SampleImages.flag()
        let gate = TestGate()
        let server = try LoopbackServer { _ in
            .ok(flag, contentType: "image/png").with {
                $0.chunkSize = 50
                $0.chunkGates = [gate]
            }
        }
        defer { server.stop() }
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let url = server.url("/late.png").absoluteString
        let words = ["show", "--grid=2", "-s", "4x2", "flag.png", "blinker.gif", url, "b.png"]
        let running = try tool.start(
            words, environment: ["TERM": "xterm", "COLORTERM": "truecolor"], terminal: terminal.slave)
        var text = ""
        for await piece in try terminal.output() {
            text += String(decoding: piece, as: UTF8.self)
            // The first row doesn't wait for the second one.
            if text.contains("bl…f") { gate.open() }
        }
        #expect(try await running.result.status == 0)
        #expect(text.contains("\u{1B}[2mfl…g\u{1B}[0m  \u{1B}[2mbl…f\u{1B}[0m\r\n"), "\(text)")
        #expect(text.contains("\u{1B}[2mla…g\u{1B}[0m"))
        #expect(!text.contains(ScreenArea.cursorHidden))
    }
}
