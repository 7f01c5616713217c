// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport
import WebImageTesting

@testable import WebImageCommand

@Suite("The webimage show command", .timeLimit(.minutes(5)))
struct ShowCommandTests {
    @Test("An image of two colors shows both, one above the other")
    func colors() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.flag(), "flag.png")
        let result = try await tool.run("show", "--format", "symbols", "--size", "8x4", "flag.png")
        #expect(result.status == 0 && result.error.isEmpty)
        let rows = result.out.split(separator: "\n")
        #expect(rows.count == 4)
        for (index, row) in rows.enumerated() {
            #expect(row.contains("255;0;0") == (index < 2), "row \(index)")
            #expect(row.contains("0;0;255") == (index >= 2), "row \(index)")
        }
    }

    @Test("Output to a pipe contains only characters")
    func plain() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.flag(), "flag.png")
        try tool.write(SampleImages.blinker, "blinker.gif")
        let result = try await tool.run("show", "--size", "8x4", "flag.png", "blinker.gif")
        #expect(result.status == 0)
        #expect(!result.out.contains("\u{1B}"))
        #expect(result.out.hasPrefix("flag.png\n") && result.out.contains("blinker.gif\n"))
    }

    @Test("Sixels and the kitty protocol are written on request")
    func protocols() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.flag(), "flag.png")
        #expect(try await tool.run("show", "--format", "sixels", "flag.png").out.contains("\u{1B}P"))
        #expect(try await tool.run("show", "--format", "kitty", "flag.png").out.contains("\u{1B}_G"))
    }

    @Test("A file that can't be shown doesn't stop the others")
    func failures() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.flag(), "flag.png")
        try tool.write(Data("nothing".utf8), "text.png")
        let result = try await tool.run("show", "none.png", "text.png", "flag.png")
        #expect(result.status == 1)
        #expect(result.error.contains("none.png") && result.error.contains("4003"))
        #expect(result.out.contains("flag.png"))
        #expect(try await tool.run("show", "--frames", "5", "flag.png").status == 1)
        #expect(try await tool.run("show").status == 64)
    }

    @Test(
        "An animation plays in place and restores the cursor, even if it's interrupted",
        .enabled(if: (try? PseudoTerminal(columns: 80, rows: 24)) != nil, "no pseudo-terminal is available"),
        arguments: [false, true])
    func animation(isInterrupted: Bool) async throws {
        let tool = try ToolProcess()
        try tool.write(SampleImages.blinker, "blinker.gif")
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let words = ["show", "blinker.gif"] + (isInterrupted ? [] : ["--loop", "1"])
        let running = try tool.start(
            words, environment: ["TERM": "xterm", "COLORTERM": "truecolor"], terminal: terminal.slave)
        var bytes: [UInt8] = []
        var wasSent = false
        for await piece in try terminal.output() {
            bytes += piece
            let text = String(decoding: bytes, as: UTF8.self)
            guard isInterrupted, !wasSent, text.components(separatedBy: "\u{1B}8").count > 4 else { continue }
            running.send(SIGINT)
            wasSent = true
        }
        #expect(try await running.result.status == (isInterrupted ? 130 : 0))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("\u{1B}[?25l") && text.hasSuffix("\u{1B}[?25h"))
        let frames = text.components(separatedBy: "\u{1B}8")
        #expect(isInterrupted ? frames.count > 4 : frames.count == 4)
        // In an endless animation, a busy machine may skip this frame. The last frame of a finite animation is always
        // shown.
        #expect(frames[1].contains("255;0;0") && (isInterrupted || frames[2].contains("0;0;255")))
    }
}
