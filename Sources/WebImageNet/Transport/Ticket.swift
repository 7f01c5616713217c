// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// Links a waiting Swift task with its work on another thread: whoever resolves it first decides the
/// outcome, and the task is resumed exactly once. Thread-safe.
final class Ticket<Outcome: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Outcome, Never>?
        var outcome: Outcome?
    }

    let id: UInt64
    private let state = Lock(State())

    init() {
        id = TicketNumbers.next()
    }

    /// Whether the outcome is decided: nothing that happens later is of interest.
    var isResolved: Bool { state.withLock { $0.outcome != nil } }

    /// For the resumed task, before it looks at objects in the outcome: the thread sanitizer does not see that resuming
    /// orders memory, but sees locks.
    @inline(__always)
    func showOrder() {
        #if THREAD_SANITIZER
            _ = isResolved
        #endif
    }

    /// Takes the task's continuation. False where the outcome is decided already: the task goes on at once and no
    /// work is to be started.
    func install(_ continuation: CheckedContinuation<Outcome, Never>) -> Bool {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        guard let outcome else { return true }
        continuation.resume(returning: outcome)
        return false
    }

    /// Decides the outcome; only the first call does.
    func resolve(_ outcome: Outcome) {
        let continuation = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: outcome)
    }
}

/// Numbers that are given once in the process.
private enum TicketNumbers {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
