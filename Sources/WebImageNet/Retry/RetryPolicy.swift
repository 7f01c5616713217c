// SPDX-License-Identifier: MIT

import WebImageCore

/// A policy that decides when and how often a failed load is retried.
///
/// Only transient failures are retried: interrupted connections, connection and inactivity timeouts, failed proxies,
/// and the status codes 408, 429, 500, 502, 503, and 504. Unknown hosts and refused connections are retried once.
/// Requests whose methods aren't idempotent are retried only if ``NetworkOptions/retry`` of the request isn't `nil`.
///
/// Policies with custom generators are equal if they're copies of each other.
public struct RetryPolicy: Sendable, Hashable {
    /// The number of attempts, including the first one. The default is 3.
    ///
    /// A request that fails because a reused connection was closed is repeated silently over a new connection, which
    /// counts as an attempt. One such repetition is made even if this property is 1, because the server can close an idle
    /// connection at any time. The same applies to a request that an HTTP/2 server declares unprocessed (RFC 9113 8.7). Only
    /// in the second case, a request whose method isn't idempotent is repeated.
    public var maxAttempts: Int
    /// The maximum delay before the second attempt. It doubles for each further attempt. The default is 0.5 seconds.
    public var baseDelay: Duration
    /// The maximum delay between two attempts if the server doesn't specify one. The default is 10 seconds.
    public var maxDelay: Duration
    /// The longest `Retry-After` period to wait for. If the server requests a longer one, the load fails and the error
    /// contains the period. The default is 30 seconds.
    public var maxRetryAfter = Duration.seconds(30)
    /// The retry budget, from the start of the first attempt. When it's used up, the loader makes no further attempts.
    /// The default is 60 seconds.
    public var maxElapsedTime = Duration.seconds(60)
    /// The generator of a random number in a range.
    ///
    /// The delay before an attempt is a random number between 0 and the maximum, so that many clients don't retry at
    /// the same time. The default is the generator of the system.
    package var random: @Sendable (ClosedRange<Double>) -> Double {
        get { generator.map(\.closure) ?? Self.systemGenerator }
        set { generator = IdentifiedClosure(newValue) }
    }
    /// The custom generator, or `nil` for the system's.
    private var generator: IdentifiedClosure<@Sendable (ClosedRange<Double>) -> Double>?

    /// Creates a policy.
    public init(
        maxAttempts: Int = 3, baseDelay: Duration = .milliseconds(500), maxDelay: Duration = .seconds(10)
    ) {
        self.maxAttempts = maxAttempts
        self.baseDelay = baseDelay
        self.maxDelay = maxDelay
    }

    /// The default policy: three attempts within one minute.
    public static let standard = RetryPolicy()
    /// A policy that makes only one attempt and doesn't wait for hosts that sent `Retry-After`.
    public static let never = RetryPolicy(maxAttempts: 1)

    private static let systemGenerator: @Sendable (ClosedRange<Double>) -> Double = { Double.random(in: $0) }

    static let statuses: Set<Int> = [408, 429, 500, 502, 503, 504]
}

/// How often a failure may be retried.
enum RetryAllowance: Equatable {
    case never
    case once
    case always

    init(_ error: ImageError.NetworkFailure) {
        switch error.reason {
        case .connectionLost, .proxyFailed: self = .always
        // The total timeout covers all attempts, and another attempt would wait in the same queue.
        case .timedOut: self = error.phase == .total || error.phase == .queued ? .never : .always
        case .unacceptableStatusCode: self = RetryPolicy.statuses.contains(error.statusCode ?? 0) ? .always : .never
        case .cannotFindHost, .cannotConnect: self = .once
        default: self = .never
        }
    }
}

/// The state of the attempts of one load. It's a pure state machine.
package struct RetryStateMachine {
    /// The decision after a failure.
    package enum Decision: Equatable {
        /// A decision to fail the load.
        case fail
        /// A decision to make another attempt after a delay in seconds.
        case again(after: Double)
    }

    private let policy: RetryPolicy
    private var failed = 0
    private var triedOnce: Set<ImageError.NetworkFailure.Reason> = []

    /// Creates the state before the first attempt.
    package init(_ policy: RetryPolicy) { self.policy = policy }

    /// The first attempt always may, because the server can close an idle connection at any time.
    var mayRepeat: Bool { failed == 0 || policy.maxAttempts - failed > 1 }

    /// Returns the decision after a failed attempt that sent its request `sends` times. `elapsed` is the time since the
    /// start of the first attempt, in seconds.
    package mutating func decide(_ error: ImageError.NetworkFailure, sends: Int = 1, elapsed: Double) -> Decision {
        // A silent repetition of the request counts as an attempt, too.
        failed += max(sends, 1)
        let chance = RetryAllowance(error)
        guard failed < policy.maxAttempts, chance != .never else { return .fail }
        if chance == .once, !triedOnce.insert(error.reason).inserted { return .fail }
        let delay = Self.delay(policy, failed: failed)
        var wait = draw(delay)
        if let reported = error.retryAfter.map({ $0 / .seconds(1) }) {
            guard reported <= policy.maxRetryAfter / .seconds(1) else { return .fail }
            // Add jitter, because all clients may have received the same time.
            wait = reported + draw(min(delay, 1))
        }
        guard elapsed + wait <= policy.maxElapsedTime / .seconds(1) else { return .fail }
        return .again(after: wait)
    }

    private func draw(_ most: Double) -> Double {
        guard most > 0 else { return 0 }
        return min(max(policy.random(0...most), 0), most)
    }

    /// Returns the maximum delay after `failed` attempts, in seconds.
    static func delay(_ policy: RetryPolicy, failed: Int) -> Double {
        let base: Double = policy.baseDelay / .seconds(1)
        // The shift is limited, because a policy can allow any number of attempts.
        let doubled = base * Double(UInt64(1) << UInt64(min(max(failed - 1, 0), 32)))
        let delay = min(doubled, policy.maxDelay / .seconds(1))
        return delay.isFinite ? max(delay, 0) : 0
    }
}
