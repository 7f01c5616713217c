// SPDX-License-Identifier: MIT

import CNetFaults
import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A running child process.
///
/// This type replaces Foundation's `Process`, which copies whole `dirent` structures when it starts a program and
/// sometimes reads past the end of its memory. `Process` also waits on a run loop, which test threads don't have.
public final class ChildProcess: Sendable {
    /// The error that is thrown when a program can't be started.
    public struct Failure: Error, CustomStringConvertible {
        /// The path of the program and the error number.
        public let description: String
    }

    /// A destination or source of a standard stream of the program.
    public enum Stream {
        /// A file in the program's working directory. Output files are truncated first.
        case file(String)
        /// A descriptor of this process. The caller keeps its ownership.
        case descriptor(Int32)
    }

    /// The process ID.
    public let id: pid_t
    private let status = Lock<Int32?>(nil)

    /// Starts the program at `path` with `arguments` in the directory `folder`, and writes its standard output and
    /// standard error to the file `output` in that directory.
    public convenience init(_ path: String, _ arguments: [String], in folder: URL, output: String) throws {
        try self.init(path, arguments, in: folder, output: .file(output), error: nil)
    }

    /// Starts a program in the directory `folder`.
    ///
    /// - Parameters:
    ///   - path: The path or name of the program. A name without a slash is looked up in `$PATH`.
    ///   - arguments: The arguments without the name of the program.
    ///   - environment: The environment variables. `nil` means those of this process.
    ///   - input: The standard input. `nil` means `/dev/null`.
    ///   - output: The standard output.
    ///   - error: The standard error. `nil` means the destination of `output`.
    ///   - inherits: A Boolean value that indicates whether the program inherits the descriptors of this process that
    ///     aren't marked close-on-exec. The default is `false`.
    public init(
        _ path: String, _ arguments: [String], in folder: URL, environment: [String: String]? = nil,
        input: Stream? = nil, output: Stream, error: Stream?, inherits: Bool = false
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        wi_spawn_in(&actions, folder.path(percentEncoded: false))
        Self.connect(0, to: input ?? .file("/dev/null"), &actions, O_RDONLY)
        Self.connect(1, to: output, &actions, O_WRONLY | O_CREAT | O_TRUNC)
        Self.connect(2, to: error ?? .descriptor(1), &actions, O_WRONLY | O_CREAT | O_TRUNC)
        if !inherits { wi_spawn_close_from(&actions, 3) }

        // Threads of libdispatch block signals, and child processes would inherit their signal mask.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

        let words = Self.strings([path] + arguments)
        defer { for word in words { free(word) } }
        let variables = Self.strings(
            (environment ?? ProcessInfo.processInfo.environment).map { "\($0.key)=\($0.value)" })
        defer { for variable in variables { free(variable) } }
        var id: pid_t = 0
        let code = posix_spawnp(&id, path, &actions, &attributes, words, variables)
        guard code == 0 else { throw Failure(description: "\(path): errno \(code)") }
        self.id = id
    }

    /// Runs a program until it ends, and returns its exit status, or -1 if a signal ended it, and its standard output. This
    /// method blocks.
    ///
    /// - Parameters:
    ///   - path: The path or name of the program.
    ///   - arguments: The arguments without the name of the program.
    ///   - environment: The environment variables. `nil` means those of this process.
    ///   - error: The standard error. The default is that of this process.
    public static func run(
        _ path: String, _ arguments: [String], environment: [String: String]? = nil, error: Stream = .descriptor(2)
    ) throws -> (status: Int32, output: Data) {
        let pipe = Pipe()
        let process = try ChildProcess(
            path, arguments, in: FileManager.default.temporaryDirectory, environment: environment,
            output: .descriptor(pipe.fileHandleForWriting.fileDescriptor), error: error)
        try pipe.fileHandleForWriting.close()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        return (process.wait(), output)
    }

    private static func connect(
        _ number: Int32, to stream: Stream, _ actions: inout posix_spawn_file_actions_t, _ flags: Int32
    ) {
        switch stream {
        case .file(let path): posix_spawn_file_actions_addopen(&actions, number, path, flags, 0o600)
        case .descriptor(let own): posix_spawn_file_actions_adddup2(&actions, own, number)
        }
    }

    private static func strings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0) } + [nil]
    }

    /// Sends a signal. This method does nothing after the process was reaped.
    public func send(_ signal: Int32) {
        status.withLock { if $0 == nil { _ = kill(id, signal) } }
    }

    /// Stops the process without ending it, and returns after all of its threads have stopped. The signal `SIGCONT`
    /// continues it.
    public func pause() {
        guard isRunning else { return }
        send(SIGSTOP)
        // `kill` returns while threads of the process may still run. Wait for the stop, or for the end of the process.
        var facts = siginfo_t()
        while waitid(P_PID, id_t(id), &facts, WSTOPPED | WEXITED | WNOWAIT) != 0, errno == EINTR {}
    }

    /// Waits on a dedicated thread until the process ends, and returns its exit status, or -1 if a signal ended it.
    public func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.wait()) }
        }
    }

    /// A Boolean value that indicates whether the process is running.
    public var isRunning: Bool { result(waiting: false) == nil }

    /// Blocks until the process ends, and returns its exit status, or -1 if a signal ended it.
    public func wait() -> Int32 {
        // Wait without reaping the process. The lock isn't held while this thread waits, and the process ID stays valid
        // until the process is reaped under the lock.
        var facts = siginfo_t()
        while waitid(P_PID, id_t(id), &facts, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return result(waiting: true) ?? -1
    }

    /// Kills the process and waits until it ends.
    public func stop() {
        send(SIGKILL)
        _ = wait()
    }

    private func result(waiting: Bool) -> Int32? {
        status.withLock { status in
            if let status { return status }
            var word: Int32 = 0
            guard waitpid(id, &word, waiting ? 0 : WNOHANG) == id else { return nil }
            status = word & 0x7f == 0 ? (word >> 8) & 0xff : -1
            return status
        }
    }

    /// Copies a program that the caller then starts.
    ///
    /// Another process writes the copy. If this process wrote it, a program that another thread starts at the same time
    /// could inherit the open file, and the kernel doesn't start a file that is open for writing (`ETXTBSY`).
    public static func copy(program: URL, to path: String) async throws {
        let copy = try ChildProcess(
            "cp", ["--", program.path(percentEncoded: false), path],
            in: URL(filePath: path).deletingLastPathComponent(), output: "cp-output")
        let status = await copy.end()
        guard status == 0 else { throw Failure(description: "cp to \(path): status \(status)") }
    }
}
