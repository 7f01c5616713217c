// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// The state of one load across its attempts, redirects, and alternatives. It passes reports on to the context of the
/// load. Thread-safe.
final class LoadSession: CancellableWork {
    private struct State {
        var hasStarted = false
        /// The time at which the exchange left the queue.
        var exchangeStart: Int64?
        var spent = 0.0
        var queued = Duration.zero
        var head: HTTPResponseHead?
        /// The number of bytes of this body that were reported.
        var reported = 0
        /// The number of bytes received of the current body.
        var position = 0
        var attempts = 0
        var failures: [ImageError.NetworkFailure] = []
        var isCancelled = false
        /// The closure that ends the current wait of the load.
        var endWait: (@Sendable () -> Void)?
    }

    let context: LoadContext
    private let state = Lock(State())

    init(_ context: LoadContext) { self.context = context }

    /// The time spent in transfers so far, in seconds.
    var spent: Double { state.withLock { $0.spent } }
    var failures: [ImageError.NetworkFailure] { state.withLock { $0.failures } }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Ends the current wait of the load and prevents further waits, so that the load fails with
    /// ``ImageError/cancelled``. The Swift task of the caller isn't canceled.
    func cancel() {
        let endWait = state.withLock { state in
            state.isCancelled = true
            return state.endWait
        }
        // The closure takes other locks, so call it after unlocking.
        endWait?()
    }

    func onCancel(_ endWait: @escaping @Sendable () -> Void) {
        // Release the previous closure after unlocking.
        let (isCancelled, previous) = state.withLock { state in
            defer { state.endWait = endWait }
            return (state.isCancelled, state.endWait)
        }
        withExtendedLifetime(previous) {}
        if isCancelled { endWait() }
    }

    func add(_ outcome: TransferOutcome) {
        let now = MonotonicTime.now
        state.withLock { state in
            if case .success(let response) = outcome {
                state.spent += response.metrics.total / .seconds(1)
                state.queued += response.metrics.queue
            } else if let start = state.exchangeStart {
                state.spent += Double(now - start) / 1e9
            }
            state.exchangeStart = nil
        }
    }

    /// Starts counting attempts and failures for the next source, because they're counted per source.
    func beginSource() {
        state.withLock { state in
            state.attempts = 0
            state.failures = []
        }
    }

    /// The number of attempts in the result is that of the current source.
    func add(_ error: ImageError.NetworkFailure) -> ImageError.NetworkFailure {
        state.withLock { state in
            var error = error
            state.attempts += error.attempt
            error.attempt = state.attempts
            state.failures.append(error)
            return error
        }
    }

    /// Returns the response of the last attempt with the measurements of the earlier ones.
    func finished(_ response: LoadResponse) -> LoadResponse {
        var response = response
        var metrics = response.metrics
        state.withLock { state in
            metrics.queue = state.queued
            metrics.attemptCount += state.attempts
            metrics.failures = state.failures
        }
        response.metrics = metrics
        return response
    }

    func report(_ event: TransferEvent) {
        switch event {
        case .waiting(let reason): report(reason)
        case .started: reportStart()
        case .head(let head, let expected, let isContinued): report(head, expected, isContinued)
        case .body(let part): report(part)
        }
    }

    /// After a load has started, don't report that its redirects or further attempts wait.
    private func report(_ reason: WaitReason) {
        if !state.withLock({ $0.hasStarted }) { context.report(.waiting(reason)) }
    }

    private func reportStart() {
        let now = MonotonicTime.now
        let isFirst = state.withLock { state in
            state.exchangeStart = now
            defer { state.hasStarted = true }
            return !state.hasStarted
        }
        if isFirst { context.report(.started) }
    }

    private func report(_ head: HTTPResponseHead, _ expected: Int?, _ isContinued: Bool) {
        let isKnown = state.withLock { state in
            state.position = 0
            if isContinued, state.reported > 0, Self.isSameBody(head, state.head) { return true }
            state.head = head
            state.reported = 0
            return false
        }
        if !isKnown { context.report(.head(head, expected: expected)) }
    }

    /// With the same strong validator, the bytes are identical and aren't reported again.
    private static func isSameBody(_ head: HTTPResponseHead, _ earlier: HTTPResponseHead?) -> Bool {
        guard let earlier, let validator = PartialDownload.Validator.validator(head.headers) else { return false }
        return validator == PartialDownload.Validator.validator(earlier.headers)
    }

    private func report(_ part: Data) {
        let known = state.withLock { state in
            let known = min(max(state.reported - state.position, 0), part.count)
            state.position += part.count
            state.reported = max(state.reported, state.position)
            return known
        }
        if known < part.count { context.report(.body(known == 0 ? part : part.dropFirst(known))) }
    }
}
