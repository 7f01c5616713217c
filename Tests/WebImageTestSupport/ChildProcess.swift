// SPDX-License-Identifier: MIT

import CNetFaults
import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A program that was started. Foundation's `Process` copies whole `dirent` structures when it starts a program, and
/// sometimes reads past the end of its memory; it also waits on a run loop, which test threads do not have.
public final class ChildProcess: Sendable {
    /// What could not be started.
    public struct Failure: Error, CustomStringConvertible {
        /// The reason.
        public let description: String
    }

    /// Where a standard stream of the program leads.
    public enum Stream {
        /// To a file in the program's folder; written from its beginning.
        case file(String)
        /// To a descriptor of this process, which stays the caller's.
        case descriptor(Int32)
    }

    /// The process id.
    public let id: pid_t
    private let status = Lock<Int32?>(nil)

    /// Starts `path` with `arguments` in `folder`; its words go to the file `output` there.
    public convenience init(_ path: String, _ arguments: [String], in folder: URL, output: String) throws {
        try self.init(path, arguments, in: folder, output: .file(output), error: nil)
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: looked for in `$PATH` where it has no slash.
    ///   - folder: the program's working directory.
    ///   - environment: nil hands this process's on.
    ///   - input: nil is `/dev/null`.
    ///   - error: nil goes where `output` goes.
    ///   - inherits: whether it gets this process's descriptors that are not closed on exec. Default false.
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

        // Threads of libdispatch block signals, and what they start would inherit that.
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

    /// Sends a signal; does nothing once the process was waited for.
    public func send(_ signal: Int32) {
        status.withLock { if $0 == nil { _ = kill(id, signal) } }
    }

    /// Waits for the end on a thread of its own and gives the exit status; -1 after a signal.
    public func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.wait()) }
        }
    }

    /// Whether it has not ended.
    public var isRunning: Bool { result(waiting: false) == nil }

    /// Blocks until the end and gives the exit status; -1 after a signal.
    public func wait() -> Int32 {
        // Seen without being reaped, so that the lock is not held while waiting and the id stays ours until it is.
        var facts = siginfo_t()
        while waitid(P_PID, id_t(id), &facts, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return result(waiting: true) ?? -1
    }

    /// Kills it and waits for its end.
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
}
