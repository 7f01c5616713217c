// SPDX-License-Identifier: MIT

import Foundation
import Testing

@Suite("The webimage gallery command", .timeLimit(.minutes(5)))
struct GalleryCommandTests {
    @Test("Invalid arguments are rejected before a window opens")
    func usage() async throws {
        let tool = try ToolProcess()
        let result = try await tool.run("gallery", "--thumbnail-size", "1")
        #expect(result.status == 64 && result.error.contains("from 96 to 320"))
        #expect(result.error.contains("webimage gallery --help"))
        #expect(try await tool.run("gallery", "--help").out.contains("--transition"))
    }

    @Test("Without a display or without the gallery program, the command reports an error")
    func unavailable() async throws {
        let tool = try ToolProcess()
        let result = try await tool.run("gallery", environment: ["GTK_A11Y": "none"])
        // The message depends on what was built.
        #expect(result.status == 69, "\(result.error)")
        #expect(["display", "make gallery"].contains { result.error.contains($0) })
        let nothing = try await tool.run("gallery", "missing.png", environment: ["GTK_A11Y": "none"])
        #expect([1, 69].contains(nothing.status) && !nothing.error.isEmpty)
    }
}
