// SPDX-License-Identifier: MIT

import Glibc

/// The clocks of the system (`clock_gettime(2)`).
package enum SystemClock {
    /// The current time of the monotonic clock, in nanoseconds.
    package static var nanoseconds: Int64 { nanoseconds(of: CLOCK_MONOTONIC) ?? 0 }

    /// The current time of the monotonic clock, in seconds.
    package static var seconds: Double { Double(nanoseconds) / 1e9 }

    /// Returns the time of a clock in nanoseconds, or `nil` if the clock doesn't exist, such as the one of a thread that has
    /// ended.
    package static func nanoseconds(of clock: clockid_t) -> Int64? {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return nil }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
