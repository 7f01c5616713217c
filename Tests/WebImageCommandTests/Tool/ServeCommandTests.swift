// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestSupport

@testable import WebImageCommand

@Suite("The webimage serve command", .timeLimit(.minutes(5)))
struct ServeCommandTests {
    @Test("The help lists the options of the server")
    func help() async throws {
        let tool = try ToolProcess()
        for words in [["serve", "--help"], ["serve", "-h"], ["help", "serve"]] {
            let result = try await tool.start(words).result
            #expect(result.status == 0 && result.error.isEmpty)
            #expect(
                result.out.contains("Usage: webimage serve [option…]") && result.out.contains("--allowed-sources LIST"))
            #expect(!result.out.contains("--verbose"))
        }
    }

    @Test("The server receives the options unchanged, and a missing server is an error with a remedy")
    func program() async throws {
        let tool = try ToolProcess()
        let result = try await tool.run("serve", "--no-such-option=1")
        // The message depends on what was built: the server, the server without its trait, or nothing.
        let messages = [78: "--no-such-option: there’s no such option", 69: "trait Server"]
        let expected = try #require(messages[Int(result.status)], "\(result.status): \(result.error)")
        #expect(result.error.contains(expected), "\(result.error)")
        // Without the program next to the tool, the message names it.
        let directory = try TemporaryDirectory()
        let copy = directory.file("webimage")
        try await ChildProcess.copy(program: ToolProcess.executable, to: copy)
        let process = try ChildProcess(
            copy, ["serve"], in: URL(filePath: directory.path), environment: ["HOME": directory.path],
            output: .file("out"), error: .file("error"))
        #expect(await process.end() == 69)
        let error = try String(contentsOfFile: directory.file("error"), encoding: .utf8)
        #expect(
            error.contains("\(directory.path)/webimage-serve") && error.contains("package webimage-server"), "\(error)")
    }
}
