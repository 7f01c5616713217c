// SPDX-License-Identifier: MIT

import Glibc

/// The monotonic clock for timeouts.
enum MonotonicTime {
    /// The current time, in nanoseconds.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Converts a timeout from seconds to nanoseconds. Values above 3e9 seconds, including infinity, are clamped to
    /// about a century.
    static func nanoseconds(_ seconds: Double) -> Int64 {
        guard seconds < 3e9 else { return 3_000_000_000_000_000_000 }
        return Int64(max(seconds, 0) * 1e9)
    }
}
