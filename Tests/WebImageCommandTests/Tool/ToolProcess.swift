// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing

/// The built executable, run as people run it. Its files and its cache are in a folder of its own.
final class ToolProcess: Sendable {
    /// What it said.
    struct Result: Sendable {
        let status: Int32
        let out: String
        let error: String

        /// Standard output as JSON, one object per line.
        var objects: [[String: Any]] {
            get throws {
                try out.split(separator: "\n").map { line in
                    try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                }
            }
        }
    }

    /// Where relative paths begin.
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "webimage-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Beside the test bundle.
    static var executable: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(
            path: "webimage")
    }

    func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }

    func write(_ data: Data, _ name: String) throws { try data.write(to: folder.appending(path: name)) }

    func read(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }

    /// Runs to the end.
    func run(_ words: String..., input: String = "", environment: [String: String] = [:]) async throws -> Result {
        try await start(words, input: input, environment: environment).result
    }

    /// Starts.
    func start(
        _ words: [String], input: String = "", environment: [String: String] = [:], closesOutput: Bool = false,
        terminal: FileHandle? = nil
    ) throws -> Running {
        let process = Process()
        process.executableURL = Self.executable
        process.arguments = words
        process.currentDirectoryURL = folder
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": path("home"), "XDG_CACHE_HOME": path("cache-home")]
            .merging(environment) { $1 }
        let id = UUID().uuidString
        for name in ["in", "out", "error"] { try write(name == "in" ? Data(input.utf8) : Data(), "\(name)-\(id)") }
        process.standardInput = try FileHandle(forReadingFrom: folder.appending(path: "in-\(id)"))
        process.standardError = try FileHandle(forWritingTo: folder.appending(path: "error-\(id)"))
        if let terminal {
            process.standardOutput = terminal
            process.standardError = terminal
        } else if closesOutput {
            let pipe = Pipe()
            try pipe.fileHandleForReading.close()
            process.standardOutput = pipe
        } else {
            process.standardOutput = try FileHandle(forWritingTo: folder.appending(path: "out-\(id)"))
        }
        return try Running(process, owner: self, id: id)
    }

    /// A process that may still run.
    final class Running: Sendable {
        private let identifier: Int32
        private let owner: ToolProcess
        private let id: String
        private let ended: AsyncStream<Int32>

        init(_ process: Process, owner: ToolProcess, id: String) throws {
            self.owner = owner
            self.id = id
            let (stream, continuation) = AsyncStream<Int32>.makeStream()
            ended = stream
            process.terminationHandler = { process in
                continuation.yield(process.terminationReason == .exit ? process.terminationStatus : -1)
                continuation.finish()
            }
            try process.run()
            identifier = process.processIdentifier
        }

        func send(_ signal: Int32) { kill(identifier, signal) }

        /// Waits for the end; to be asked once.
        var result: Result {
            get async throws {
                var status: Int32 = -1
                for await end in ended { status = end }
                return Result(
                    status: status, out: String(decoding: try owner.read("out-\(id)"), as: UTF8.self),
                    error: String(decoding: try owner.read("error-\(id)"), as: UTF8.self))
            }
        }
    }
}
