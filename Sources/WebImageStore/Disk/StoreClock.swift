// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// Where the stores read the time. Ages and access times follow the calendar; pauses and batches follow a clock
/// that never jumps.
public struct StoreClock: Sendable {
    /// The calendar time. May jump in either direction.
    public var now: @Sendable () -> Date
    /// Seconds since some fixed moment; never goes back.
    public var uptime: @Sendable () -> Double

    /// Creates a clock.
    public init(now: @escaping @Sendable () -> Date, uptime: @escaping @Sendable () -> Double) {
        self.now = now
        self.uptime = uptime
    }

    /// The system's clocks.
    public static let system = StoreClock(now: { Date() }, uptime: { StoreClock.monotonicSeconds() })

    private static func monotonicSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
