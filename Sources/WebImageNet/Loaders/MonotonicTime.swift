// SPDX-License-Identifier: MIT

import Glibc

/// The clock of time limits.
enum MonotonicTime {
    /// Nanoseconds.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Nanoseconds of a time limit; beyond a century for what is infinite or absurd.
    static func nanoseconds(_ seconds: Double) -> Int64 {
        guard seconds < 3e9 else { return 3_000_000_000_000_000_000 }
        return Int64(max(seconds, 0) * 1e9)
    }
}
