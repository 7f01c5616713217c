// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A gate that is opened once and then stays open. This class is thread-safe.
///
/// Tests use gates instead of sleeping to delay work.
public final class TestGate: Sendable {
    private struct State {
        var isOpen = false
        var nextWaiter = 0
        var waiters: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Lock(State())

    /// Creates a closed gate.
    public init() {}

    /// A Boolean value that indicates whether the gate is open.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Opens the gate and resumes all waiters in the order of their arrival. Later calls have no effect.
    public func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters.sorted { $0.key < $1.key }.map(\.value)
        }
        for waiter in waiters { waiter() }
    }

    /// Calls a closure once. If the gate is open, this method calls it immediately. Otherwise, the thread that opens
    /// the gate calls it.
    package func whenOpen(_ action: @escaping @Sendable () -> Void) {
        if register(action) == nil { action() }
    }

    /// Suspends the current task until the gate is open. Returns early if the task is canceled.
    public func wait() async {
        let promise = Promise<Void>()
        whenOpen { promise.resolve(()) }
        await promise.outcome { promise.resolve(()) }
    }

    /// Blocks the calling thread until the gate is open. Don't call this method from a Swift task.
    package func blockingWait() {
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
