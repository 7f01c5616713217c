// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestSupport

/// The built executable, run as users run it, with its files and cache in a temporary directory.
final class ToolProcess: Sendable {
    /// The exit status and the output of the tool.
    struct Result: Sendable {
        let status: Int32
        let out: String
        let error: String
        /// The bytes of standard output.
        let bytes: Data

        /// The objects in standard output, which contains one JSON object per line.
        var objects: [[String: Any]] {
            get throws {
                try out.split(separator: "\n").map { line in
                    try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                }
            }
        }

        /// The paths of the output files in all JSON objects.
        var outputs: [String] {
            get throws {
                try objects.flatMap { ($0["outputs"] as? [[String: Any]] ?? []).compactMap { $0["path"] as? String } }
            }
        }
    }

    /// The working directory of the tool.
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "webimage-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// The executable, which is located next to the test bundle.
    static var executable: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(
            path: "webimage")
    }

    func path(_ name: String) -> String { directory.appending(path: name).path(percentEncoded: false) }

    /// Writes a file, and creates its parent directories.
    func write(_ data: Data, _ name: String) throws {
        let file = directory.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }

    /// Returns the paths of the files in a directory and in its subdirectories, sorted.
    func files(_ name: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path(name)).filter { file in
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: path("\(name)/\(file)"), isDirectory: &isDirectory)
            return !isDirectory.boolValue
        }.sorted()
    }

    func read(_ name: String) throws -> Data { try Data(contentsOf: directory.appending(path: name)) }

    /// Runs the tool until it ends.
    func run(_ words: String..., input: String = "", environment: [String: String] = [:]) async throws -> Result {
        try await start(words, input: input, environment: environment).result
    }

    /// Starts the tool without waiting for its end. `shell` is text that a shell appends to the command line, such as a
    /// redirection.
    func start(
        _ words: [String], input: String = "", environment: [String: String] = [:], closesOutput: Bool = false,
        terminal: FileHandle? = nil, inputPipe: Pipe? = nil, inputFile: String? = nil, outputHandle: FileHandle? = nil,
        shell: String? = nil
    ) throws -> Running {
        var variables = ["PATH": "/usr/bin:/bin", "HOME": path("home"), "XDG_CACHE_HOME": path("cache-home")]
        // Sanitizer options of this process also apply to the tool.
        for name in ["ASAN_OPTIONS", "TSAN_OPTIONS"] { variables[name] = ProcessInfo.processInfo.environment[name] }
        let id = UUID().uuidString
        for name in ["in", "out", "error"] { try write(name == "in" ? Data(input.utf8) : Data(), "\(name)-\(id)") }
        var output = ChildProcess.Stream.file("out-\(id)")
        var error = ChildProcess.Stream.file("error-\(id)")
        let unread = Pipe()
        if let terminal {
            output = .descriptor(terminal.fileDescriptor)
            error = output
        } else if closesOutput {
            try unread.fileHandleForReading.close()
            output = .descriptor(unread.fileHandleForWriting.fileDescriptor)
        } else if let outputHandle {
            output = .descriptor(outputHandle.fileDescriptor)
        }
        let executable = Self.executable.path(percentEncoded: false)
        let process = try ChildProcess(
            shell == nil ? executable : "/bin/sh",
            shell.map { ["-c", "exec \"$0\" \"$@\" \($0)", executable] + words } ?? words, in: directory,
            environment: variables.merging(environment) { $1 },
            input: inputPipe.map { .descriptor($0.fileHandleForReading.fileDescriptor) }
                ?? .file(inputFile ?? "in-\(id)"),
            output: output, error: error)
        return Running(process, owner: self, id: id)
    }

    /// A process of the tool, which may still be running.
    final class Running: Sendable {
        private let process: ChildProcess
        private let owner: ToolProcess
        private let id: String

        init(_ process: ChildProcess, owner: ToolProcess, id: String) {
            self.process = process
            self.owner = owner
            self.id = id
        }

        func send(_ signal: Int32) { process.send(signal) }

        /// Waits until the tool ends, and returns its result.
        var result: Result {
            get async throws {
                let status = await process.end()
                let bytes = try owner.read("out-\(id)")
                return Result(
                    status: status, out: String(decoding: bytes, as: UTF8.self),
                    error: String(decoding: try owner.read("error-\(id)"), as: UTF8.self), bytes: bytes)
            }
        }
    }
}
