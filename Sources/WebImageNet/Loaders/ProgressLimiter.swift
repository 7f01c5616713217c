// SPDX-License-Identifier: MIT

/// A limiter for progress reports. It allows at most one report per interval, and always the first and the last
/// report.
package struct ProgressLimiter: Sendable, Hashable {
    /// The minimum interval between reports, in seconds. 0 means no limit.
    package let interval: Double
    private var last: Double?

    /// Creates a limiter. By default, it allows ten reports per second.
    package init(interval: Double = 0.1) { self.interval = interval.isNaN ? 0 : max(interval, 0) }

    /// Returns whether to send a report. `time` is in seconds of a monotonic clock. `isFinal` means that the report
    /// must not be omitted, such as that of the last byte.
    package mutating func allows(at time: Double, isFinal: Bool = false) -> Bool {
        if !isFinal, let last, time - last < interval { return false }
        last = time
        return true
    }
}
