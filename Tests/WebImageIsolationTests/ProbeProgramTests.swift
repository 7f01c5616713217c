// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageTestSupport

@testable import WebImageIsolation

@Suite("Programs with helpers", .enabled(if: Helpers.areBuilt, "webimage-decoder isn't built"), .timeLimit(.minutes(5)))
struct ProbeProgramTests {
    /// Runs a program, and returns its exit status and its standard output.
    private func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> (status: Int32, output: String) {
        let result = try ChildProcess.run(program, arguments, environment: environment)
        return (result.status, String(decoding: result.output, as: UTF8.self))
    }

    @Test("If any system call of the channel fails, each request has a result or a typed error, and nothing leaks")
    func faults() throws {
        let result = try run(try #require(Helpers.probe), ["faults", try #require(Helpers.decoder)])
        #expect(result.status == 0, "\(result.output)")
        for name in [
            "socketpair", "sendmsg", "recvmsg", "memfd_create", "ftruncate", "fcntl", "mmap", "poll", "posix_spawn",
            "posix_spawn_file_actions_addopen", "pidfd_open",
        ] { #expect(result.output.contains("\"\(name) "), "\(name): \(result.output)") }
    }

    @Test("If any system call of a download fails, the download has its image or a typed error, and no socket remains")
    func network() throws {
        let result = try run(try #require(Helpers.probe), ["network"])
        #expect(result.status == 0, "\(result.output)")
        for name in ["socket", "connect", "send", "recv", "poll-all", "getsockopt"] {
            #expect(result.output.contains("\"\(name) "), "\(name): \(result.output)")
        }
    }

    @Test("WEBIMAGE_DECODER and then PATH locate the helper if no directory contains one, with absolute paths only")
    func environment() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "webimage-locate-\(getpid())/bin")
        defer { try? FileManager.default.removeItem(at: directory.deletingLastPathComponent()) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        // A copy, because the search begins in the directory of the program.
        let program = directory.appending(path: "probe").path
        // Another process writes the copy, so that no concurrently started process has it open for writing.
        let copying = try run("/bin/cp", [try #require(Helpers.probe), program])
        try #require(copying.status == 0)
        let decoder = try #require(Helpers.decoder)
        func locate(_ value: String?, path: String? = nil) throws -> String {
            var environment = value.map { ["WEBIMAGE_DECODER": $0] } ?? [:]
            environment["PATH"] = path
            return try run(program, ["locate"], environment: environment).output.trimmingCharacters(in: .newlines)
        }
        let installed = try locate(nil)
        guard installed == "no helper is installed" else {
            #expect(installed.hasPrefix("/usr/"), "\(installed)")
            return
        }
        #expect(try locate(decoder) == decoder)
        #expect(try locate("webimage-decoder") == "no helper is installed")
        #expect(try locate(directory.path) == "no helper is installed")
        #expect(try locate("/etc/passwd") == "no helper is installed")
        // The search path follows, without directories that depend on the current one.
        let folder = URL(filePath: decoder).deletingLastPathComponent().path(percentEncoded: false)
        let inFolder = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
        #expect(try locate(nil, path: "/nowhere:relative::\(inFolder):/usr/bin") == decoder)
        #expect(try locate("/etc/passwd", path: inFolder) == decoder)
        #expect(try locate(nil, path: ":.:bin:/nowhere") == "no helper is installed")
        // A helper next to the program precedes the variables.
        let neighbor = directory.appending(path: HelperLocation.name).path
        try FileManager.default.createSymbolicLink(atPath: neighbor, withDestinationPath: decoder)
        #expect(try locate("/bin/sh") == neighbor)
    }
}
