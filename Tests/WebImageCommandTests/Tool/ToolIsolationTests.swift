// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageCore
import WebImageTestSupport

@Suite(
    "Isolation of the webimage commands", .timeLimit(.minutes(5)),
    .enabled(if: ImageCoderRegistry.standard.canDecode(.svg), "the trait SVG is off"))
struct ToolIsolationTests {
    private let svg = Data("<svg xmlns='http://www.w3.org/2000/svg' width='5' height='4'><g/></svg>".utf8)

    /// Runs a copy of the tool in a directory without a helper, with the SVG image as its standard input.
    private func run(
        _ tool: ToolProcess, _ words: [String], helper: String? = nil
    ) async throws -> (status: Int32, error: String) {
        let process = try await start(tool, words, helper: helper)
        let status = await process.end()
        return (status, String(decoding: try tool.read("error"), as: UTF8.self))
    }

    private func start(_ tool: ToolProcess, _ words: [String], helper: String?) async throws -> ChildProcess {
        let copy = tool.path("copy/webimage")
        if !FileManager.default.fileExists(atPath: copy) {
            try FileManager.default.createDirectory(atPath: tool.path("copy"), withIntermediateDirectories: true)
            // A program can't be started while any process has it open for writing, and a concurrent test can start a
            // process with the descriptors of this one. So another process writes the copy.
            let copying = try ChildProcess(
                "/bin/cp", [ToolProcess.executable.path, copy], in: tool.directory, output: "copying")
            try #require(await copying.end() == 0)
        }
        for name in ["out", "error"] { try tool.write(Data(), name) }
        try tool.write(svg, "a.svg")
        var environment = ["PATH": "/usr/bin:/bin", "HOME": tool.path("home")]
        environment["WEBIMAGE_DECODER"] = helper
        return try ChildProcess(
            copy, words, in: tool.directory, environment: environment, input: .file("a.svg"), output: .file("out"),
            error: .file("error"))
    }

    #if ADDRESS_SANITIZER || THREAD_SANITIZER
        private static let helpersStart = false
    #else
        private static let helpersStart = true
    #endif

    /// Whether the copy finds a helper of an installation.
    private static let isInstalled = ["/usr/libexec", "/usr/local/libexec"].contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/webimage/webimage-decoder")
    }

    @Test(
        "With the limits of servers, an SVG file requires a helper, also if other options change single limits",
        .enabled(if: helpersStart && !isInstalled, "the test needs a program without an installed helper"),
        arguments: [[], ["--max-pixels", "9000000"], ["--max-filesize", "1M"]])
    func serverLimits(options: [String]) async throws {
        let tool = try ToolProcess()
        let helper = ToolProcess.executable.deletingLastPathComponent().appending(path: "webimage-decoder").path
        for command in [
            ["decode", "a.svg", "-y", "-o", "result"], ["convert", "a.svg", "-y", "result.png"],
            ["fetch", "a.svg", "--size", "3", "--cache-dir", "cache"],
        ] {
            let words = command + ["--limits", "server"] + options
            let without = try await run(tool, words)
            #expect(without.status == 1 && without.error.contains("(4012)"), "\(words): \(without.error)")
            let with = try await run(tool, words, helper: helper)
            #expect(with.status == 0, "\(words): \(with.error)")
        }
    }

    @Test(
        "An SVG image from standard input requires a helper, and a file doesn't",
        .enabled(if: helpersStart, "a helper with the address sanitizer can’t start within its limits"),
        arguments: ["decode", "convert", "show"])
    func standardInput(command: String) async throws {
        let tool = try ToolProcess()
        let output = ["decode": ["-y", "-o", "result"], "convert": ["-y", "result.png"]][command] ?? []
        let without = try await run(tool, [command, "-"] + output)
        if Self.isInstalled {
            #expect(without.status == 0)
        } else {
            #expect(without.status == 1 && without.error.contains("(4012)"), "\(without.error)")
        }
        let helper = ToolProcess.executable.deletingLastPathComponent().appending(path: "webimage-decoder").path
        let with = try await run(tool, [command, "-"] + output, helper: helper)
        #expect(with.status == 0, "\(with.error)")
        let file = try await run(tool, [command, "a.svg"] + output)
        #expect(file.status == 0, "\(file.error)")
    }

    @Test(
        "A signal ends a command while a helper process works",
        .enabled(if: !isInstalled, "the test needs a program without an installed helper"), arguments: ["info", "show"])
    func interruption(command: String) async throws {
        let tool = try ToolProcess()
        // This helper announces its start, and never responds.
        try tool.write(Data("#!/bin/sh\n: > started\nexec /bin/sleep 600\n".utf8), "helper")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool.path("helper"))
        try tool.write(try Data(contentsOf: Fixtures.directory.appending(path: "codecs/mixed.gif")), "a.gif")
        let words = [command, "--limits", "server", "a.gif"]
        let process = try await start(tool, words, helper: tool.path("helper"))
        await untilTrue { FileManager.default.fileExists(atPath: tool.path("started")) }
        process.send(SIGTERM)
        #expect(await process.end() == 143)
        // The work was canceled, and didn’t fail because the helper exceeded its time.
        let error = String(decoding: try tool.read("error"), as: UTF8.self)
        #expect(!error.contains("(4012)"), "\(error)")
    }
}
