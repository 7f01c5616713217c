// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A door that is opened once and stays open. Tests hold work back with it instead of sleeping. Thread-safe.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var nextWaiter = 0
        var waiters: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Lock(State())

    /// Creates a closed gate.
    public init() {}

    /// Whether it has been opened.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Opens the gate and lets everything through, in the order of arrival. Opening again does nothing.
    public func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters.sorted { $0.key < $1.key }.map(\.value)
        }
        for waiter in waiters { waiter() }
    }

    /// Calls `action` once: now where the gate is open, else on the thread that opens it.
    public func whenOpen(_ action: @escaping @Sendable () -> Void) {
        if register(action) == nil { action() }
    }

    /// Waits without holding a thread. Returns early when the surrounding task is cancelled.
    public func wait() async {
        let promise = Promise<Void>()
        whenOpen { promise.resolve(()) }
        await promise.outcome { promise.resolve(()) }
    }

    /// Waits and holds the calling thread. Never to be called from a Swift task.
    public func blockingWait() {
        let semaphore = DispatchSemaphore(value: 0)
        whenOpen { semaphore.signal() }
        semaphore.wait()
    }

    private func register(_ action: @escaping @Sendable () -> Void) -> Int? {
        state.withLock { state in
            guard !state.isOpen else { return nil }
            state.nextWaiter += 1
            state.waiters[state.nextWaiter] = action
            return state.nextWaiter
        }
    }
}
