// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport
import WebImageTesting

@testable import WebImageCommand

@Suite("The webimage show command", .timeLimit(.minutes(5)))
struct ShowCommandTests {
    /// Returns a PNG file of 16 × 16 pixels, with red in the upper half and blue in the lower half.
    private static func flag() throws -> Data {
        let canvas = try PixelCanvas(size: PixelSize(width: 16, height: 16))
        let stride = canvas.bytesPerRow
        canvas.withUnsafeMutableBytes { bytes in
            for y in 0..<16 {
                for x in 0..<16 {
                    bytes[y * stride + x * 4 + (y < 8 ? 0 : 2)] = 255
                    bytes[y * stride + x * 4 + 3] = 255
                }
            }
        }
        let image = DecodedImage(pixels: canvas.finish(isOpaque: true))
        return try ImageCoderRegistry.standard.encode(image, as: .png, context: ImageProcessingContext())
    }

    /// An endless animation of two frames of one pixel, red and blue, with 20 ms each.
    private static let blinker: Data = {
        var bytes: [UInt8] = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]
        bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
        for color in [0x44, 0x4C] as [UInt8] {
            bytes += [0x21, 0xF9, 4, 0, 2, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, color, 1, 0]
        }
        return Data(bytes + [0x3B])
    }()

    @Test("An image of two colors shows both, one above the other")
    func colors() async throws {
        let tool = try ToolProcess()
        try tool.write(try Self.flag(), "flag.png")
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
        try tool.write(try Self.flag(), "flag.png")
        try tool.write(Self.blinker, "blinker.gif")
        let result = try await tool.run("show", "--size", "8x4", "flag.png", "blinker.gif")
        #expect(result.status == 0)
        #expect(!result.out.contains("\u{1B}"))
        #expect(result.out.hasPrefix("flag.png\n") && result.out.contains("blinker.gif\n"))
    }

    @Test("Sixels and the kitty protocol are written on request")
    func protocols() async throws {
        let tool = try ToolProcess()
        try tool.write(try Self.flag(), "flag.png")
        #expect(try await tool.run("show", "--format", "sixels", "flag.png").out.contains("\u{1B}P"))
        #expect(try await tool.run("show", "--format", "kitty", "flag.png").out.contains("\u{1B}_G"))
    }

    @Test("A file that can't be shown doesn't stop the others")
    func failures() async throws {
        let tool = try ToolProcess()
        try tool.write(try Self.flag(), "flag.png")
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
        try tool.write(Self.blinker, "blinker.gif")
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
