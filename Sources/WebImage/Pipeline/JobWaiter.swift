// SPDX-License-Identifier: MIT

import Synchronization
import WebImageCore

/// One place to wait for one result. Resolved at most once; later results are ignored. Thread-safe.
final class JobWaiter<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Result<Value, ImageError>, Never>)
        case resolved(Result<Value, ImageError>)
    }

    private let state = Lock(State.empty)

    /// Waits. When the calling Swift task is cancelled, `onCancel` is called at once; it is expected to resolve.
    func value(onCancel: @escaping @Sendable () -> Void) async throws(ImageError) -> Value {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Result<Value, ImageError>? in
                    if case .resolved(let result) = state { return result }
                    state = .waiting(continuation)
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            onCancel()
        }
        return try result.get()
    }

    /// Ends the wait, now or when it begins.
    func resolve(_ result: Result<Value, ImageError>) {
        let waiting = state.withLock { state -> CheckedContinuation<Result<Value, ImageError>, Never>? in
            switch state {
            case .resolved: return nil
            case .empty:
                state = .resolved(result)
                return nil
            case .waiting(let continuation):
                state = .resolved(result)
                return continuation
            }
        }
        waiting?.resume(returning: result)
    }
}
