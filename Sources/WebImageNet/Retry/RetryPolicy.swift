// SPDX-License-Identifier: MIT

import WebImageCore

/// A policy that decides when and how often a failed load is retried.
///
/// Only failures that can pass are retried: lost connections, timeouts of connecting and of silence, failed proxies,
/// and the status codes 408, 429, 500, 502, 503, and 504. Unknown hosts and refused connections are retried once.
///
/// Policies with custom generators are equal if they're copies of each other.
public struct RetryPolicy: Sendable, Hashable {
    /// The number of attempts, including the first one. The default is 3.
    ///
    /// A request that is lost with a kept connection is repeated silently, which counts as an attempt. One such
    /// repetition is made even if this is 1, because a kept connection can end at any time.
    public var attempts: Int
    /// Seconds before the second attempt, at most; doubled for each one after it. Default 0.5.
    public var baseDelay: Double
    /// Seconds between two attempts, at most, where the server does not tell. Default 10.
    public var maxDelay: Double
    /// The longest Retry-After that is waited for, in seconds; with a longer one the load fails and the error tells
    /// it. Default 30.
    public var maxRetryAfter: Double
    /// Seconds since the first attempt after which none is begun. Default 60.
    public var budget: Double
    /// The generator of a random number in a range.
    ///
    /// The wait before an attempt is a random number between 0 and the delay, so that many clients don't return at the
    /// same moment. The default is the generator of the system.
    public var random: @Sendable (ClosedRange<Double>) -> Double {
        get { generator.map(\.closure) ?? Self.systemGenerator }
        set { generator = IdentifiedClosure(newValue) }
    }
    /// The generator that replaces the system's, or `nil` for the system's.
    private var generator: IdentifiedClosure<@Sendable (ClosedRange<Double>) -> Double>?

    /// Creates a policy.
    public init(
        attempts: Int = 3, baseDelay: Double = 0.5, maxDelay: Double = 10, maxRetryAfter: Double = 30,
        budget: Double = 60
    ) {
        self.attempts = attempts
        self.baseDelay = baseDelay
        self.maxDelay = maxDelay
        self.maxRetryAfter = maxRetryAfter
        self.budget = budget
    }

    /// Three attempts within a minute.
    public static let standard = RetryPolicy()
    /// One attempt; and no waiting for hosts that want to be left alone.
    public static let never = RetryPolicy(attempts: 1)

    private static let systemGenerator: @Sendable (ClosedRange<Double>) -> Double = { Double.random(in: $0) }

    /// Statuses that can pass.
    static let statuses: Set<Int> = [408, 429, 500, 502, 503, 504]
}

/// How often a failure may be tried again.
enum RetryChance: Equatable {
    case never
    case once
    case always

    init(_ error: NetworkError) {
        switch error.reason {
        case .connectionLost, .proxyFailed: self = .always
        case .timedOut: self = error.phase == .total || error.phase == .queue ? .never : .always
        case .status: self = RetryPolicy.statuses.contains(error.status ?? 0) ? .always : .never
        case .cannotFindHost, .cannotConnect: self = .once
        default: self = .never
        }
    }
}

/// The attempts of one load. A pure state machine.
struct RetryState {
    /// What follows a failure.
    enum Decision: Equatable {
        /// The load has failed.
        case fail
        /// Another attempt after so many seconds.
        case again(after: Double)
    }

    private let policy: RetryPolicy
    private var failed = 0
    private var triedOnce: Set<NetworkError.Reason> = []

    init(_ policy: RetryPolicy) { self.policy = policy }

    /// A Boolean value that indicates whether the next attempt may send its request twice.
    ///
    /// A kept connection can end at any time, so that the first attempt always may.
    var mayRepeat: Bool { failed == 0 || policy.attempts - failed > 1 }

    /// An attempt failed, `elapsed` seconds after the first one began; `sends` is how often it sent its request.
    mutating func decide(_ error: NetworkError, sends: Int = 1, elapsed: Double) -> Decision {
        failed += max(sends, 1)
        let chance = RetryChance(error)
        guard failed < policy.attempts, chance != .never else { return .fail }
        if chance == .once, !triedOnce.insert(error.reason).inserted { return .fail }
        let delay = Self.delay(policy, failed: failed)
        var wait = draw(delay)
        if let told = error.retryAfter {
            guard told <= policy.maxRetryAfter else { return .fail }
            // Everybody was told the same moment.
            wait = told + draw(min(delay, 1))
        }
        guard elapsed + wait <= policy.budget else { return .fail }
        return .again(after: wait)
    }

    private func draw(_ most: Double) -> Double {
        guard most > 0 else { return 0 }
        return min(max(policy.random(0...most), 0), most)
    }

    /// The longest wait after `failed` attempts.
    static func delay(_ policy: RetryPolicy, failed: Int) -> Double {
        let doubled = policy.baseDelay * Double(UInt64(1) << UInt64(min(max(failed - 1, 0), 32)))
        let delay = min(doubled, policy.maxDelay)
        return delay.isFinite ? max(delay, 0) : 0
    }
}
