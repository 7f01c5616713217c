// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageCore

/// A program that was started. Foundation's `Process` waits on a run loop, which test threads do not have.
public final class ChildProcess: Sendable {
    /// What could not be started.
    public struct Failure: Error, CustomStringConvertible {
        /// The reason.
        public let description: String
    }

    private let id: pid_t
    private let status = Lock<Int32?>(nil)

    /// Starts `path` with `arguments` in `folder`; its words go to the file `output` there.
    public init(_ path: String, _ arguments: [String], in folder: URL, output: String) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        let log = folder.appending(path: output).path()
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // posix_spawn cannot change the folder everywhere; a shell can, and then becomes the program.
        let shell = ["sh", "-c", "cd \"$0\" && exec \"$@\""]
        var words: [UnsafeMutablePointer<CChar>?] = (shell + [folder.path(), path] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        words.append(nil)
        var id: pid_t = 0
        let code = posix_spawn(&id, "/bin/sh", &actions, nil, words, environ)
        guard code == 0 else { throw Failure(description: "\(path): errno \(code)") }
        self.id = id
    }

    /// Whether it has not ended.
    public var isRunning: Bool { result(waiting: false) == nil }

    /// Waits for the end and gives the exit status.
    public func wait() -> Int32 { result(waiting: true) ?? -1 }

    /// Kills it and waits for its end. Other signals may not reach it: threads of libdispatch block them, and
    /// what they start inherits that.
    public func stop() {
        guard isRunning else { return }
        kill(id, SIGKILL)
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
