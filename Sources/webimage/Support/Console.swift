// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization
import WebImageCommand
import WebImageCore

/// Standard output and standard error. Everything is written in order on a queue of its own, so that a slow reader
/// holds up neither the main actor nor the cooperative pool. Thread-safe.
final class Console: Sendable {
    /// What standard output can show.
    let out: TerminalStyle
    /// What standard error can show.
    let error: TerminalStyle
    private let queue = DispatchQueue(label: "webimage.console")
    private let isClosed = Atomic<Bool>(false)
    private let onClosed: @Sendable () -> Void

    /// `onClosed` is called once, when the reader of standard output has gone.
    init(onClosed: @escaping @Sendable () -> Void) {
        let environment = ProcessInfo.processInfo.environment
        out = TerminalStyle(descriptor: STDOUT_FILENO, environment: environment)
        error = TerminalStyle(descriptor: STDERR_FILENO, environment: environment)
        self.onClosed = onClosed
    }

    /// A line on standard output.
    func print(_ line: String) { write(line + "\n") }

    /// Lines on standard output.
    func print(_ lines: [String]) {
        if !lines.isEmpty { write(lines.joined(separator: "\n") + "\n") }
    }

    /// A line of less weight on standard output, cut to the terminal's width.
    func remark(_ line: String) {
        print(out.apply(.dim, to: DisplayText.truncated(DisplayText.safe(line), to: out.columns)))
    }

    /// A message on standard error, in the usual form, without the user names and passwords of URLs.
    func report(_ message: String) {
        let text = DisplayText.safe(URLCredentials.removed(from: message))
        writeError(error.apply(.red, to: "webimage:") + " \(text)\n")
    }

    /// Text on standard output.
    func write(_ text: String) { send(text, to: STDOUT_FILENO) }

    /// Text on standard output, and waiting until it is written: what is drawn must not run ahead of a slow terminal.
    func writeAndWait(_ text: String) {
        write(text)
        queue.sync {}
    }

    /// Text on standard error.
    func writeError(_ text: String) { send(text, to: STDERR_FILENO) }

    /// Waits until everything is written.
    func flush() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    private func send(_ text: String, to descriptor: Int32) {
        queue.async { [self] in
            guard !isClosed.load(ordering: .relaxed) || descriptor == STDERR_FILENO else { return }
            guard !Self.writeAll(Array(text.utf8), to: descriptor), descriptor == STDOUT_FILENO else { return }
            if !isClosed.exchange(true, ordering: .relaxed) { onClosed() }
        }
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // A terminal that somebody else has switched to non-blocking.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&ready, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
