// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// The delays before retries and the hosts that sent `Retry-After`. Thread-safe.
package final class RetryScheduler: Sendable {
    private struct State {
        var isClosed = false
        var next: UInt64 = 0
        var sleepers: [UInt64: Task<Void, Never>] = [:]
        /// The time until which each origin must not be contacted, in seconds of the clock.
        var hosts: [String: Double] = [:]
    }

    /// The maximum number of origins to remember.
    private static let mostHosts = 256

    private let time: TimeSource
    private let state = Lock(State())

    /// Creates a scheduler without delays.
    package init(_ clock: any Clock<Duration>) { time = TimeSource(clock) }

    /// The current time of the clock, in seconds.
    package var now: Double { time.uptime() }

    var count: Int { state.withLock { $0.sleepers.count } }

    /// Ends all current and future delays with ``ImageError/RequestFailure/managerShutDown``.
    func close() {
        let sleepers = state.withLock { state in
            state.isClosed = true
            return Array(state.sleepers.values)
        }
        for sleeper in sleepers { sleeper.cancel() }
    }

    func leaveAlone(_ origin: String, for seconds: Double) {
        let now = now
        state.withLock { state in
            if state.hosts.count >= Self.mostHosts { state.hosts = state.hosts.filter { $0.value > now } }
            guard state.hosts.count < Self.mostHosts || state.hosts[origin] != nil else { return }
            // A later response doesn't shorten the time that an earlier one requested.
            state.hosts[origin] = max(state.hosts[origin] ?? 0, now + seconds)
        }
    }

    /// Waits up to the limit of the policy, and not at all without retries.
    func waitForHost(
        _ origin: String, _ policy: RetryPolicy, for session: any CancellableWork
    ) async throws(ImageError) {
        guard policy.maxAttempts > 1 else { return }
        // Few servers send `Retry-After`, so the usual case doesn't read the clock.
        guard state.withLock({ !$0.hosts.isEmpty }) else { return try check() }
        let now = now
        let left = state.withLock { state -> Double in
            guard let until = state.hosts[origin] else { return 0 }
            if until <= now { state.hosts[origin] = nil }
            return until - now
        }
        try await wait(min(left, policy.maxRetryAfter / .seconds(1)), for: session)
    }

    /// Waits for a number of seconds on the clock.
    ///
    /// - Throws: ``ImageError/cancelled`` if the task is canceled, and ``ImageError/RequestFailure/managerShutDown`` if
    ///   the delays are closed.
    package func wait(_ seconds: Double) async throws(ImageError) { try await wait(seconds, for: nil) }

    /// Waits like ``wait(_:)``, and ends the wait if `session` is canceled.
    func wait(_ seconds: Double, for session: (any CancellableWork)?) async throws(ImageError) {
        guard seconds > 0 else { return try check() }
        let sleeper = Task { [time] in await time.sleep(seconds: seconds) }
        let (number, isClosed) = state.withLock { state in
            state.next += 1
            if !state.isClosed { state.sleepers[state.next] = sleeper }
            return (state.next, state.isClosed)
        }
        // `close()` cancels only the delays that it finds.
        if isClosed { sleeper.cancel() }
        session?.onCancel { sleeper.cancel() }
        await withTaskCancellationHandler {
            await sleeper.value
        } onCancel: {
            sleeper.cancel()
        }
        state.withLock { $0.sleepers[number] = nil }
        try check()
        if session?.isCancelled == true { throw .cancelled }
    }

    private func check() throws(ImageError) {
        if state.withLock({ $0.isClosed }) { throw .request(.managerShutDown) }
        if Task.isCancelled { throw .cancelled }
    }
}
