// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTesting

@testable import WebImageCommand

@Suite(
    "The tool on a terminal", .timeLimit(.minutes(5)),
    .enabled(if: (try? PseudoTerminal(columns: 80, rows: 24)) != nil, "no pseudo-terminal is available"))
struct TerminalTests {
    /// Returns the output of `fetch` to a terminal. A download waits until the output contains `sign`.
    private func load(
        columns: UInt16, until sign: String = "50 B of ", environment: [String: String] = [:]
    ) async throws -> String {
        let tool = try ToolProcess()
        let png = try SampleImages.png()
        let (first, second) = (TestGate(), TestGate())
        first.open()
        let server = try LoopbackServer { request in
            guard request.path == "/slow.png" else { return .status(404) }
            return .ok(png, contentType: "image/png").with {
                $0.chunkSize = 50
                $0.chunkGates = [first, second]
            }
        }
        defer { server.stop() }
        let terminal = try PseudoTerminal(columns: columns, rows: 24)
        let urls = ["/slow.png", "/a-picture-with-a-name-that-is-longer-than-any-terminal-is-wide.png"]
        let running = try tool.start(
            ["fetch"] + urls.map { server.url($0).absoluteString },
            environment: ["TERM": "xterm"].merging(environment) { $1 }, terminal: terminal.slave)
        var bytes: [UInt8] = []
        if sign.isEmpty { second.open() }
        for await piece in try terminal.output() {
            bytes += piece
            if String(decoding: bytes, as: UTF8.self).contains(sign) { second.open() }
        }
        #expect(try await running.result.status == 1)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Progress is drawn in place, and the table replaces it")
    func inPlace() async throws {
        let output = try await load(columns: 80)
        let parts = output.components(separatedBy: "\u{1B}[0J")
        #expect(parts.count >= 3)
        #expect(parts.dropFirst().first?.contains("slow.png") == true)
        #expect(parts.dropLast().contains { $0.contains("50 B of ") })
        let table = try #require(parts.last).components(separatedBy: "\r\n")
        #expect(table.count == 6)
        #expect(table[0].hasPrefix("\u{1B}[2mimage") && table[1].hasPrefix("slow.png"))
        #expect(table[2].contains("failed (2007)") && table[3].contains("1 from the network, 1 failed"))
        #expect(table[4].contains("webimage:") && table[4].contains("(2007)"))
    }

    @Test("NO_COLOR disables colors, and no line is wider than the terminal", arguments: [40, 60, 120])
    func withoutColor(_ columns: UInt16) async throws {
        let output = try await load(columns: columns, environment: ["NO_COLOR": "1"])
        #expect(!output.contains("m\u{1B}") && !output.contains("\u{1B}[2m") && !output.contains("\u{1B}[31m"))
        let lines = output.replacing(#/\u{1B}\[[0-9]*[A-Z]/#, with: "").components(separatedBy: "\r\n")
        // Error messages aren't truncated.
        for line in lines where !line.contains("webimage:") {
            #expect(DisplayText.width(line) <= Int(columns), "\(line)")
        }
    }

    @Test("A dumb terminal receives plain lines")
    func dumb() async throws {
        let output = try await load(columns: 80, until: "", environment: ["TERM": "dumb"])
        #expect(!output.contains("\u{1B}"))
    }
}
