// SPDX-License-Identifier: MIT

/// A token bucket: every start takes a token, and tokens come back evenly. Pure; times are nanoseconds of a
/// monotonic clock.
struct StartLimiter {
    /// Nanoseconds for one token; nil for no limit.
    private let interval: Int64?
    private let burst: Int
    private var tokens: Int
    /// When the bucket was last filled up to ``tokens``.
    private var filled: Int64

    /// Full at `now`.
    init(_ rate: StartRate?, now: Int64) {
        interval = rate.flatMap { rate in
            let perSecond = rate.perSecond.isNaN ? StartRate().perSecond : rate.perSecond
            return perSecond == .infinity ? nil : Int64(1e9 / min(max(perSecond, 0.001), 1e9))
        }
        burst = max(rate?.burst ?? 1, 1)
        tokens = burst
        filled = now
    }

    /// Whether a transfer may start.
    mutating func allowsStart(now: Int64) -> Bool {
        guard let interval else { return true }
        let due = max(now - filled, 0) / interval
        if due >= Int64(burst - tokens) {
            tokens = burst
            filled = max(now, filled)
        } else {
            tokens += Int(due)
            filled += due * interval
        }
        return tokens > 0
    }

    /// A transfer started. Called after ``allowsStart(now:)`` allowed it.
    mutating func noteStart() { tokens = max(tokens - 1, 0) }

    /// When the next transfer may start; nil where one may start already.
    var nextStart: Int64? {
        guard let interval, tokens == 0 else { return nil }
        return filled + interval
    }
}
