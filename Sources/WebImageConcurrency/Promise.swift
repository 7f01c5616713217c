// SPDX-License-Identifier: MIT

import Synchronization

/// One place to wait for one outcome. It is resolved at most once; later outcomes are ignored. One task waits at a time.
/// Thread-safe.
///
/// The members can be inlined: a promise is made for every request and every transfer, and calls of a generic class of
/// another module would otherwise go through its metadata.
package final class Promise<Outcome: Sendable>: Sendable {
    @usableFromInline
    enum State {
        case empty
        case waiting(CheckedContinuation<Outcome, Never>)
        case resolved(Outcome)
    }

    @usableFromInline let state: Lock<State>

    /// Creates a promise without an outcome.
    @inlinable
    package init() { state = Lock(State.empty) }

    /// Whether the outcome is decided: nothing that happens later is of interest.
    @inlinable
    package var isResolved: Bool {
        state.withLock { state in
            if case .resolved = state { true } else { false }
        }
    }

    /// Decides the outcome and ends the wait, now or when it begins. Only the first call does; it returns `true`.
    @inlinable
    @discardableResult
    package func resolve(_ outcome: Outcome) -> Bool {
        let (isFirst, waiting) = state.withLock { state -> (Bool, CheckedContinuation<Outcome, Never>?) in
            switch state {
            case .resolved: return (false, nil)
            case .empty:
                state = .resolved(outcome)
                return (true, nil)
            case .waiting(let continuation):
                state = .resolved(outcome)
                return (true, continuation)
            }
        }
        waiting?.resume(returning: outcome)
        return isFirst
    }

    /// Accepts the continuation of the task that waits. If the outcome is decided already, the task resumes
    /// immediately and the result is `false`: no work needs to be started for it.
    @inlinable
    @discardableResult
    package func install(_ continuation: CheckedContinuation<Outcome, Never>) -> Bool {
        let outcome = state.withLock { state -> Outcome? in
            if case .resolved(let outcome) = state { return outcome }
            state = .waiting(continuation)
            return nil
        }
        guard let outcome else { return true }
        continuation.resume(returning: outcome)
        return false
    }

    /// Waits for the outcome. When the calling task is canceled, `onCancel` is called immediately; it is expected to
    /// resolve the promise.
    @inlinable
    package func outcome(onCancel: @escaping @Sendable () -> Void) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in _ = install(continuation) }
        } onCancel: {
            onCancel()
        }
    }

    /// The value of the outcome. When the calling task is canceled, `onCancel` is called immediately; it is expected to
    /// resolve the promise.
    ///
    /// - Throws: The error of the outcome.
    @inlinable
    package func value<Value, Failure: Error>(
        onCancel: @escaping @Sendable () -> Void
    ) async throws(Failure) -> Value where Outcome == Result<Value, Failure> {
        try await outcome(onCancel: onCancel).get()
    }
}
