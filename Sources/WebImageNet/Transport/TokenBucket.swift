// SPDX-License-Identifier: MIT

/// A token bucket for the start rate. Each start takes a token, and tokens are added at a constant rate.
///
/// The limiter is a pure state machine. Times are in nanoseconds of a monotonic clock.
struct TokenBucket {
    /// The time between two tokens in nanoseconds, or `nil` for no limit.
    private let interval: Int64?
    private let burst: Int
    private var tokens: Int
    /// The time up to which ``tokens`` includes the added tokens.
    private var filled: Int64

    /// The start rate that replaces a rate that isn't a number.
    private static let defaultRate = 80.0

    /// Creates a limiter whose bucket is full at the time `now`. Without a rate, there is no limit.
    init(perSecond rate: Double?, burst: Int, now: Int64) {
        interval = rate.flatMap { rate in
            let perSecond = rate.isNaN ? Self.defaultRate : rate
            return perSecond == .infinity ? nil : Int64(1e9 / min(max(perSecond, 0.001), 1e9))
        }
        self.burst = max(burst, 1)
        tokens = self.burst
        filled = now
    }

    mutating func allowsStart(now: Int64) -> Bool {
        guard let interval else { return true }
        let due = max(now - filled, 0) / interval
        if due >= Int64(burst - tokens) {
            tokens = burst
            filled = max(now, filled)
        } else {
            tokens += Int(due)
            // Keep the rest of the interval, so that the rate is exact over time.
            filled += due * interval
        }
        return tokens > 0
    }

    /// Records the start of a transfer. Call it only after ``allowsStart(now:)`` returned `true`.
    mutating func recordStart() { tokens = max(tokens - 1, 0) }

    /// The time at which the next transfer may start, or `nil` if one may start immediately.
    var nextStart: Int64? {
        guard let interval, tokens == 0 else { return nil }
        return filled + interval
    }
}
