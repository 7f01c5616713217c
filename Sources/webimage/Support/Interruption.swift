// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImagePrograms

/// Ends the running command early and in order: on SIGINT, on SIGTERM, or when nobody reads the output. A second
/// signal ends the process at once. Thread-safe.
final class Interruption: Sendable {
    private struct State {
        var status: Int32?
        var handlers: [@Sendable () -> Void] = []
        var beforeForcedEnd: (@Sendable () -> Void)?
    }

    private let state = Lock(State())
    // Sources may be used from any thread (dispatch_source_create(3)); these are only kept alive here.
    nonisolated(unsafe) private let sources: [any DispatchSourceSignal]

    init() {
        let queue = DispatchQueue(label: "webimage.signals")
        // libdispatch installs a handler of its own; until then a signal ends the process, as it should.
        sources = [SIGINT, SIGTERM].map { DispatchSource.makeSignalSource(signal: $0, queue: queue) }
        let registered = DispatchSemaphore(value: 0)
        for (source, status) in zip(sources, [ExitStatus.interrupted, ExitStatus.terminated]) {
            source.setEventHandler { [weak self] in
                if self?.trigger(status) == true { return }
                self?.state.withLock { $0.beforeForcedEnd }?()
                _exit(status)
            }
            source.setRegistrationHandler { registered.signal() }
            source.resume()
        }
        for _ in sources { registered.wait() }
    }

    /// What the process is to end with; nil while nothing has happened.
    var status: Int32? { state.withLock { $0.status } }

    /// Interrupts; false when that had happened before.
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

    /// `action` runs before a second signal ends the process; nil for none. It must not wait for anything.
    func beforeForcedEnd(_ action: (@Sendable () -> Void)?) { state.withLock { $0.beforeForcedEnd = action } }

    /// For commands that leave nothing half done: an interruption ends the process where it stands.
    func endAtOnce() {
        let status = state.withLock { state -> Int32? in
            state.handlers.append { [weak self] in _exit(self?.status ?? ExitStatus.interrupted) }
            return state.status
        }
        if let status { _exit(status) }
    }

    /// Runs `body` as a Swift task that is cancelled by an interruption.
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
