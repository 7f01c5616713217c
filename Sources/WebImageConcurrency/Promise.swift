// SPDX-License-Identifier: MIT

import Synchronization

/// A result that one task can wait for at a time. This class is thread-safe.
///
/// A promise is resolved at most once and ignores later outcomes.
///
/// The continuation is an unsafe one because the state guarantees that it's resumed exactly once, and a checked one
/// would allocate memory for each wait.
///
/// The members are inlinable because every request and every transfer creates a promise. Otherwise, calls of a generic
/// class in another module go through its metadata.
public final class Promise<Outcome: Sendable>: Sendable {
    @usableFromInline
    enum State {
        case empty
        case waiting(UnsafeContinuation<Outcome, Never>)
        case resolved(Outcome)
    }

    @usableFromInline let state: Lock<State>

    /// Creates a promise without an outcome.
    @inlinable
    public init() { state = Lock(State.empty) }

    /// A Boolean value that indicates whether the promise has an outcome. Later outcomes are ignored.
    @inlinable
    public var isResolved: Bool {
        state.withLock { state in
            if case .resolved = state { true } else { false }
        }
    }

    /// Sets the outcome and resumes the current or future waiting task.
    ///
    /// - Returns: `true` for the first call. Later calls have no effect and return `false`.
    @inlinable
    @discardableResult
    public func resolve(_ outcome: Outcome) -> Bool {
        let (isFirst, waiting) = state.withLock { state -> (Bool, UnsafeContinuation<Outcome, Never>?) in
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

    /// Stores the continuation of the waiting task. No other task may be waiting.
    ///
    /// - Returns: `false` if the promise already has an outcome. In this case, the task resumes immediately, so the
    ///   caller doesn't need to start any work for it.
    @inlinable
    @discardableResult
    public func install(_ continuation: UnsafeContinuation<Outcome, Never>) -> Bool {
        let outcome = state.withLock { state -> Outcome? in
            switch state {
            case .resolved(let outcome): return outcome
            case .waiting: assertionFailure("Two tasks wait for a promise, so the first one never resumes.")
            case .empty: break
            }
            state = .waiting(continuation)
            return nil
        }
        guard let outcome else { return true }
        continuation.resume(returning: outcome)
        return false
    }

    /// Waits for the outcome.
    ///
    /// If the calling task is canceled, the promise immediately calls `onCancel`, which is expected to resolve the
    /// promise.
    @inlinable
    public func outcome(onCancel: @escaping @Sendable () -> Void) async -> Outcome {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in _ = install(continuation) }
        } onCancel: {
            #if DEBUG
                callHandler(onCancel)
            #else
                onCancel()
            #endif
        }
    }

    /// Waits for the outcome and returns its value.
    ///
    /// If the calling task is canceled, the promise immediately calls `onCancel`, which is expected to resolve the
    /// promise.
    ///
    /// - Throws: The error of the outcome.
    @inlinable
    public func value<Value, Failure: Error>(
        onCancel: @escaping @Sendable () -> Void
    ) async throws(Failure) -> Value where Outcome == Result<Value, Failure> {
        try await outcome(onCancel: onCancel).get()
    }

    #if DEBUG
        /// The runtime calls handlers while it holds the lock of the canceled task, which isn't a lock of a simulation.
        /// So no other thread of the simulation may run, because it could wait for that lock.
        @usableFromInline
        func callHandler(_ handler: () -> Void) {
            if let scheduler = Simulation.current { return scheduler.withoutSwitching(handler) }
            handler()
        }
    #endif
}
