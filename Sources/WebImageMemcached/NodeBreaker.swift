// SPDX-License-Identifier: MIT

/// A circuit breaker for one server, as a pure state machine.
///
/// A closed breaker allows operations. If ``Policy/failureLimit`` operations fail within ``Policy/window``, the breaker
/// opens, and the tier ejects the server from the ring. After a delay, the breaker requests one probe. A probe that
/// succeeds closes the breaker, and a probe that fails opens it for twice the previous delay.
package struct NodeBreaker: Sendable, Hashable {
    /// The thresholds of a breaker. All times are in seconds.
    package struct Policy: Sendable, Hashable {
        /// The number of failures that opens the breaker.
        package var failureLimit: Int
        /// The period in which the failures count.
        package var window: Double
        /// The first delay between opening and the probe.
        package var retryDelay: Double
        /// The longest delay between opening and the probe.
        package var longestRetryDelay: Double

        /// Creates a policy and replaces values below the allowed minimum.
        package init(failureLimit: Int, window: Double, retryDelay: Double, longestRetryDelay: Double) {
            self.failureLimit = max(1, failureLimit)
            self.window = max(0, window)
            self.retryDelay = max(0, retryDelay)
            self.longestRetryDelay = max(self.retryDelay, longestRetryDelay)
        }
    }

    /// The condition of the server.
    package enum State: Sendable, Hashable {
        /// Operations are allowed.
        case closed
        /// The server is ejected. The tier may probe it from this time on.
        case open(probeAt: Double)
        /// The server is ejected, and a probe is running.
        case probing
    }

    /// The thresholds.
    package let policy: Policy
    /// The current state.
    package private(set) var state = State.closed
    /// The times of the failures that count, oldest first.
    private var failures: [Double] = []
    private var delay: Double

    /// Creates a closed breaker.
    package init(policy: Policy) {
        self.policy = policy
        delay = policy.retryDelay
    }

    /// Whether operations are allowed.
    package var isClosed: Bool { state == .closed }

    /// Records the result of an operation, and returns whether the breaker opened. Results that arrive afterward have
    /// no effect.
    package mutating func record(success: Bool, at now: Double) -> Bool {
        guard state == .closed else { return false }
        // Successes don't clear the failures. Otherwise, a server that fails every second time would stay in use.
        guard !success else { return false }
        failures.removeAll { $0 <= now - policy.window }
        failures.append(now)
        guard failures.count >= policy.failureLimit else { return false }
        failures = []
        delay = policy.retryDelay
        state = .open(probeAt: now + delay)
        return true
    }

    /// Starts a probe if one is due. Returns whether the caller must probe the server and call
    /// ``finishProbe(success:at:)``.
    package mutating func beginProbe(at now: Double) -> Bool {
        guard case .open(let probeAt) = state, now >= probeAt else { return false }
        state = .probing
        return true
    }

    /// Ends a probe. Returns whether the breaker closed.
    package mutating func finishProbe(success: Bool, at now: Double) -> Bool {
        guard state == .probing else { return false }
        if success {
            state = .closed
            return true
        }
        delay = min(delay * 2, policy.longestRetryDelay)
        state = .open(probeAt: now + delay)
        return false
    }
}
