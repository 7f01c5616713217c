// SPDX-License-Identifier: MIT

import Synchronization
import WebImageCore

/// A clock without its type: seconds since it was taken up, and sleep.
struct RetryClock: Sendable {
    /// Seconds.
    let elapsed: @Sendable () -> Double
    /// Returns early when the task is cancelled.
    let sleep: @Sendable (Double) async -> Void

    /// Seconds; about 30 years.
    private static let longestSleep = 1e9

    init(_ clock: any Clock<Duration>) { self = Self.opened(clock) }

    private init(elapsed: @escaping @Sendable () -> Double, sleep: @escaping @Sendable (Double) async -> Void) {
        self.elapsed = elapsed
        self.sleep = sleep
    }

    private static func opened(_ clock: some Clock<Duration>) -> RetryClock {
        let start = clock.now
        return RetryClock(
            elapsed: { start.duration(to: clock.now) / .seconds(1) },
            sleep: { seconds in
                // A longer time can't be represented.
                let time = Duration.seconds(min(seconds, longestSleep))
                try? await clock.sleep(until: clock.now.advanced(by: time), tolerance: nil)
            })
    }
}

/// Who waits to try again, and which hosts want to be left alone for how long. Thread-safe.
final class RetryWaits: Sendable {
    private struct State {
        var isClosed = false
        var next: UInt64 = 0
        var sleepers: [UInt64: Task<Void, Never>] = [:]
        /// Origins and until when they want to be left alone, in seconds of the clock.
        var hosts: [String: Double] = [:]
    }

    /// Most hosts that are remembered.
    private static let mostHosts = 256

    private let clock: RetryClock
    private let state = Lock(State())

    init(_ clock: any Clock<Duration>) { self.clock = RetryClock(clock) }

    /// Seconds on the clock.
    var now: Double { clock.elapsed() }

    /// How many wait.
    var count: Int { state.withLock { $0.sleepers.count } }

    /// Ends every wait with 1010, and all later ones.
    func close() {
        let sleepers = state.withLock { state in
            state.isClosed = true
            return Array(state.sleepers.values)
        }
        for sleeper in sleepers { sleeper.cancel() }
    }

    /// Remembers that `origin` wants to be asked again only after `seconds`.
    func leaveAlone(_ origin: String, for seconds: Double) {
        let now = now
        state.withLock { state in
            if state.hosts.count >= Self.mostHosts { state.hosts = state.hosts.filter { $0.value > now } }
            guard state.hosts.count < Self.mostHosts || state.hosts[origin] != nil else { return }
            state.hosts[origin] = max(state.hosts[origin] ?? 0, now + seconds)
        }
    }

    /// Waits until `origin` may be asked; no longer than the policy allows, and not at all where it has no retries.
    func waitForHost(_ origin: String, _ policy: RetryPolicy) async throws(ImageError) {
        guard policy.attempts > 1 else { return }
        guard state.withLock({ !$0.hosts.isEmpty }) else { return try check() }
        let now = now
        let left = state.withLock { state -> Double in
            guard let until = state.hosts[origin] else { return 0 }
            if until <= now { state.hosts[origin] = nil }
            return until - now
        }
        try await wait(min(left, policy.maxRetryAfter))
    }

    /// Waits on the clock.
    ///
    /// - Throws: 1001 when the task is cancelled, 1010 when the waits are closed.
    func wait(_ seconds: Double) async throws(ImageError) {
        guard seconds > 0 else { return try check() }
        let sleeper = Task { [clock] in await clock.sleep(seconds) }
        let (number, isClosed) = state.withLock { state in
            state.next += 1
            if !state.isClosed { state.sleepers[state.next] = sleeper }
            return (state.next, state.isClosed)
        }
        if isClosed { sleeper.cancel() }
        await withTaskCancellationHandler {
            await sleeper.value
        } onCancel: {
            sleeper.cancel()
        }
        state.withLock { $0.sleepers[number] = nil }
        try check()
    }

    private func check() throws(ImageError) {
        if state.withLock({ $0.isClosed }) { throw .request(.managerClosed) }
        if Task.isCancelled { throw .request(.cancelled) }
    }
}
