// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImagePrograms

/// A handler that cancels the running command on SIGINT, on SIGTERM, or if the reader closes the output. A second
/// signal ends the process immediately. The class is thread-safe.
final class SignalHandler: Sendable {
    private struct State {
        var status: Int32?
        var isEnding = false
        var handlers: [@Sendable () -> Void] = []
        var beforeForcedEnd: (@Sendable () -> Void)?
    }

    private let state = Lock(State())
    // Safe: dispatch sources can be used from any thread (dispatch_source_create(3)), and this array only retains them.
    nonisolated(unsafe) private let sources: [any DispatchSourceSignal]

    init() {
        let queue = DispatchQueue(label: "webimage.signals")
        // libdispatch installs its own signal handlers. Until then, a signal ends the process, which is correct.
        sources = [SIGINT, SIGTERM].map { DispatchSource.makeSignalSource(signal: $0, queue: queue) }
        let registered = DispatchSemaphore(value: 0)
        for (source, status) in zip(sources, [ExitStatus.interrupted, ExitStatus.terminated]) {
            source.setEventHandler { [weak self] in
                if self?.trigger(status) == true { return }
                self?.state.withLock { $0.beforeForcedEnd }?()
                PendingFiles.removeAll()
                _exit(status)
            }
            source.setRegistrationHandler { registered.signal() }
            source.resume()
        }
        for _ in sources { registered.wait() }
    }

    /// The exit status after an interruption, or `nil` if there was none.
    var status: Int32? { state.withLock { $0.status } }

    /// Whether SIGINT or SIGTERM interrupted the command.
    var isBySignal: Bool { [ExitStatus.interrupted, ExitStatus.terminated].contains(status) }

    /// Whether the process is about to end, so that the command must not end it.
    var isEnding: Bool { state.withLock { $0.isEnding } }

    /// Interrupts the command. Returns `false` if it was already interrupted.
    @discardableResult
    func trigger(_ status: Int32) -> Bool {
        let handlers = state.withLock { state -> [@Sendable () -> Void]? in
            guard state.status == nil else { return nil }
            state.status = status
            return state.handlers
        }
        for handler in handlers ?? [] { handler() }
        return handlers != nil
    }

    /// Sets an action that runs before a second signal ends the process, or removes it if `action` is `nil`. The action
    /// must not wait for anything.
    func beforeForcedEnd(_ action: (@Sendable () -> Void)?) { state.withLock { $0.beforeForcedEnd = action } }

    /// Makes an interruption end the process without waiting for the command, after deleting files that aren't complete.
    /// `message` returns the text for standard error after a signal. It may store resume data before. Meanwhile, a second
    /// signal ends the process immediately.
    func endAtOnce(_ message: @escaping @Sendable () async -> String = { "" }) {
        let end = { @Sendable [weak self] in
            self?.state.withLock { $0.isEnding = true }
            Task {
                let text = Array(await message().utf8)
                PendingFiles.removeAll()
                // If standard output can't be written, the reason has been reported, or it's the reader's decision.
                if self?.isBySignal != false { _ = DescriptorWriting.write(text, to: STDERR_FILENO) }
                _exit(self?.status ?? ExitStatus.interrupted)
            }
            return
        }
        let isOver = state.withLock { state -> Bool in
            state.handlers.append(end)
            return state.status != nil
        }
        if isOver { end() }
    }

    /// Suspends the caller forever if the process is about to end.
    func yieldToEnd() async {
        if isEnding { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    }

    /// Runs `body` as a Swift task that an interruption cancels.
    func cancelling<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        let task = Task { await body() }
        let isOver = state.withLock { state -> Bool in
            state.handlers.append { task.cancel() }
            return state.status != nil
        }
        if isOver { task.cancel() }
        return await task.value
    }
}
