// SPDX-License-Identifier: MIT

import WebImageConcurrency

/// The monotonic clock for timeouts.
enum MonotonicTime {
    /// The current time, in nanoseconds.
    static var now: Int64 { SystemClock.nanoseconds }

    /// Converts a timeout from seconds to nanoseconds. Values above 3e9 seconds, including infinity, are clamped to
    /// about a century.
    static func nanoseconds(_ seconds: Double) -> Int64 {
        guard seconds < 3e9 else { return 3_000_000_000_000_000_000 }
        return Int64(max(seconds, 0) * 1e9)
    }
}
