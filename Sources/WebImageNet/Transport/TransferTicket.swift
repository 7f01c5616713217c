// SPDX-License-Identifier: MIT

import Synchronization

/// Links a waiting Swift task with its transfer on the network thread: whoever resolves it first decides the
/// outcome, and the task is resumed exactly once. Thread-safe.
final class TransferTicket: Sendable {
    private struct State {
        var continuation: CheckedContinuation<TransferOutcome, Never>?
        var outcome: TransferOutcome?
    }

    let id: UInt64
    private let state = Mutex(State())

    private static let lastID = Atomic<UInt64>(0)

    init() {
        id = Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// Whether the outcome is decided: nothing that happens later is of interest.
    var isResolved: Bool { state.withLock { $0.outcome != nil } }

    /// Takes the task's continuation. False where the outcome is decided already: the task goes on at once and no
    /// transfer is to be started.
    func install(_ continuation: CheckedContinuation<TransferOutcome, Never>) -> Bool {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        guard let outcome else { return true }
        continuation.resume(returning: outcome)
        return false
    }

    /// Decides the outcome; only the first call does.
    func resolve(_ outcome: TransferOutcome) {
        let continuation = state.withLock { state -> CheckedContinuation<TransferOutcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: outcome)
    }
}
