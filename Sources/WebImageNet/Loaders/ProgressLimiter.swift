// SPDX-License-Identifier: MIT

/// Thins out progress: at most one report in an interval, but the first and the last one always. A pure value.
public struct ProgressLimiter: Sendable, Hashable {
    /// Seconds between reports; 0 for no limit.
    public let interval: Double
    private var last: Double?

    /// Creates a limiter. Default ten reports a second.
    public init(interval: Double = 0.1) { self.interval = interval.isNaN ? 0 : max(interval, 0) }

    /// Whether a report at `time` (seconds of a monotonic clock) is to be made; `isFinal` for one that must not be
    /// missing, as that of the last byte.
    public mutating func allows(at time: Double, isFinal: Bool = false) -> Bool {
        if !isFinal, let last, time - last < interval { return false }
        last = time
        return true
    }
}
