// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization
import WebImage
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
        /// The name of the command, for JSON objects.
        var command = ""
        /// Whether the command has the option `--no-clobber`.
        var canSkip = false
    }

    private let state: Lock<State>
    private let queue = DispatchQueue(label: "webimage.console")
    private let isClosed = Atomic<Bool>(false)
    private let isSilent: @Sendable () -> Bool
    private let onClosed: @Sendable (Int32) -> Void

    /// Creates a console. It writes nothing while `isSilent` returns `true`. `onClosed` is called once with the error
    /// number if standard output can't be written, which is `EPIPE` if the reader closed it.
    init(isSilent: @escaping @Sendable () -> Bool = { false }, onClosed: @escaping @Sendable (Int32) -> Void) {
        let environment = ProcessInfo.processInfo.environment
        state = Lock(
            State(
                out: TerminalStyle(descriptor: STDOUT_FILENO, environment: environment),
                error: TerminalStyle(descriptor: STDERR_FILENO, environment: environment)))
        self.isSilent = isSilent
        self.onClosed = onClosed
    }

    /// Applies the name of the command, the existence of `--no-clobber`, and the options `--color` and `--quiet`.
    func configure(_ command: CommandSpec, color: ColorChoice, isQuiet: Bool) {
        let environment = ProcessInfo.processInfo.environment
        let out = TerminalStyle(descriptor: STDOUT_FILENO, environment: environment, color: color)
        let error = TerminalStyle(descriptor: STDERR_FILENO, environment: environment, color: color)
        let canSkip = command.options.contains { $0.name == "no-clobber" }
        state.withLock {
            $0 = State(
                out: out, error: error, color: color, isQuiet: isQuiet, command: command.name, canSkip: canSkip)
        }
    }

    /// The capabilities of standard output.
    var out: TerminalStyle { state.withLock { $0.out } }

    /// The capabilities of standard error.
    var error: TerminalStyle { state.withLock { $0.error } }

    /// The value of `--color`.
    var color: ColorChoice { state.withLock { $0.color } }

    /// Whether only errors and requested data are printed.
    var isQuiet: Bool { state.withLock { $0.isQuiet } }

    /// Writes a line to standard output unless the console is quiet.
    func print(_ line: String) {
        if !isQuiet { write(line + "\n") }
    }

    func print(_ lines: [String]) {
        if !lines.isEmpty { print(lines.joined(separator: "\n")) }
    }

    /// Writes a JSON object to standard output, on one line, with the name of the command as its first member.
    func printJSON(_ value: JSONValue) {
        let command = JSONValue.Member("command", .string(state.withLock { $0.command }))
        guard case .object(let members) = value else { return write(value.text + "\n") }
        write(JSONValue.object([command] + members).text + "\n")
    }

    /// Writes a dimmed line to standard output, truncated to the width of the terminal.
    func remark(_ line: String) {
        print(out.apply(.dim, to: DisplayText.truncated(DisplayText.safe(line), to: out.columns)))
    }

    /// Writes a message to standard error with the prefix `webimage:`, after removing secrets from URLs.
    func report(_ message: String) {
        let text = DisplayText.safe(Redaction.text(message).replacing("?…", with: ""))
        writeError(error.apply(.red, to: "webimage:") + " \(text)\n")
    }

    /// Reports an error. `label` is the short form of the input, or `nil` if the error doesn't concern an input.
    func report(_ label: String?, _ failure: ImageError) {
        var text = "\(label == nil ? failure.toolMessage : failure.shortToolMessage) (\(failure.code))"
        if case .cache(.systemCallFailed(_, let path, EEXIST)) = failure {
            let skips = state.withLock { $0.canSkip }
            text =
                "The file \(path) exists. Use -y to overwrite it\(skips ? ", or -n to skip it" : ""). (\(failure.code))"
        }
        report((label.map { "\($0): " } ?? "") + text)
    }

    /// Writes a note to standard error, unless the console is quiet.
    func note(_ message: String) {
        if !isQuiet { report("note: \(message)") }
    }

    func write(_ text: String) { send(text, to: STDOUT_FILENO) }

    /// Writes text to standard output and waits until it's written, so that drawing doesn't get ahead of a slow
    /// terminal.
    func writeAndWait(_ text: String) {
        write(text)
        queue.sync {}
    }

    func writeError(_ text: String) { send(text, to: STDERR_FILENO) }

    /// Waits until all output is written.
    func flush() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    private func send(_ text: String, to descriptor: Int32) {
        queue.async { [self] in
            guard !isSilent(), !isClosed.load(ordering: .relaxed) || descriptor == STDERR_FILENO else { return }
            let code = DescriptorWriting.write(Array(text.utf8), to: descriptor)
            guard code != 0, descriptor == STDOUT_FILENO, !isClosed.exchange(true, ordering: .relaxed) else { return }
            if code != EPIPE {
                let failure = ImageError.cache(
                    .systemCallFailed(operation: "Writing", path: "standard output", errno: code))
                // Write the message now, because the process can end after this block.
                _ = DescriptorWriting.write(Array("webimage: \(failure)\n".utf8), to: STDERR_FILENO)
            }
            onClosed(code)
        }
    }
}
