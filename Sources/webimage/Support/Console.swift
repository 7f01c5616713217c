// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization
import WebImageCommand
import WebImageConcurrency
import WebImageCore

/// The standard output and standard error streams. All output is written in order on a dedicated queue, so that a slow
/// reader blocks neither the main actor nor the cooperative pool. The class is thread-safe.
final class Console: Sendable {
    private struct State {
        var out: TerminalStyle
        var error: TerminalStyle
        var color = ColorChoice.auto
        var isQuiet = false
    }

    private let state: Lock<State>
    private let queue = DispatchQueue(label: "webimage.console")
    private let isClosed = Atomic<Bool>(false)
    private let onClosed: @Sendable () -> Void

    /// Creates a console. `onClosed` is called once if the reader of standard output closes it.
    init(onClosed: @escaping @Sendable () -> Void) {
        let environment = ProcessInfo.processInfo.environment
        state = Lock(
            State(
                out: TerminalStyle(descriptor: STDOUT_FILENO, environment: environment),
                error: TerminalStyle(descriptor: STDERR_FILENO, environment: environment)))
        self.onClosed = onClosed
    }

    /// Applies the options `--color` and `--quiet`.
    func configure(color: ColorChoice, isQuiet: Bool) {
        let environment = ProcessInfo.processInfo.environment
        let out = TerminalStyle(descriptor: STDOUT_FILENO, environment: environment, color: color)
        let error = TerminalStyle(descriptor: STDERR_FILENO, environment: environment, color: color)
        state.withLock { $0 = State(out: out, error: error, color: color, isQuiet: isQuiet) }
    }

    /// The capabilities of standard output.
    var out: TerminalStyle { state.withLock { $0.out } }

    /// The capabilities of standard error.
    var error: TerminalStyle { state.withLock { $0.error } }

    /// The value of `--color`.
    var color: ColorChoice { state.withLock { $0.color } }

    /// A Boolean value that indicates whether only errors and requested data are printed.
    var isQuiet: Bool { state.withLock { $0.isQuiet } }

    /// Writes a line to standard output unless the console is quiet.
    func print(_ line: String) {
        if !isQuiet { write(line + "\n") }
    }

    /// Writes lines to standard output unless the console is quiet.
    func print(_ lines: [String]) {
        if !lines.isEmpty { print(lines.joined(separator: "\n")) }
    }

    /// Writes a JSON value to standard output, on one line.
    func printJSON(_ value: JSONValue) { write(value.text + "\n") }

    /// Writes a dimmed line to standard output, truncated to the width of the terminal.
    func remark(_ line: String) {
        print(out.apply(.dim, to: DisplayText.truncated(DisplayText.safe(line), to: out.columns)))
    }

    /// Writes a message to standard error with the prefix `webimage:`, after removing user names and passwords from
    /// URLs.
    func report(_ message: String) {
        let text = DisplayText.safe(URLCredentials.removed(from: message))
        writeError(error.apply(.red, to: "webimage:") + " \(text)\n")
    }

    /// Writes text to standard output.
    func write(_ text: String) { send(text, to: STDOUT_FILENO) }

    /// Writes text to standard output and waits until it's written, so that drawing doesn't get ahead of a slow
    /// terminal.
    func writeAndWait(_ text: String) {
        write(text)
        queue.sync {}
    }

    /// Writes text to standard error.
    func writeError(_ text: String) { send(text, to: STDERR_FILENO) }

    /// Waits until all output is written.
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
                // Another process may have set the terminal to non-blocking mode.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&ready, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
