// SPDX-License-Identifier: MIT

import Foundation

/// Where everything reads the time, so that tests can set it. Ages and expiry dates follow the calendar; pauses, batches,
/// and limits of time follow a clock that never jumps.
package struct TimeSource: Sendable {
    /// The calendar time. May jump in either direction.
    package var now: @Sendable () -> Date
    /// Seconds since some fixed moment; never goes back.
    package var uptime: @Sendable () -> Double
    /// The clock on which waits sleep.
    package var clock: any Clock<Duration>

    /// Creates a time source whose waits sleep on the system's clock.
    package init(now: @escaping @Sendable () -> Date, uptime: @escaping @Sendable () -> Double) {
        self.now = now
        self.uptime = uptime
        clock = ContinuousClock()
    }

    /// Creates a time source that follows `clock` in all it shows.
    ///
    /// - Parameters:
    ///   - clock: The clock.
    ///   - start: The calendar time now; the clock's way from here is added to it.
    package init(_ clock: any Clock<Duration>, start: Date = Date()) {
        let uptime = Self.seconds(on: clock)
        self.now = { start + uptime() }
        self.uptime = uptime
        self.clock = clock
    }

    /// The clocks of the system.
    package static let system = TimeSource(now: { Date() }, uptime: { monotonicSeconds() })

    /// Sleeps for `seconds`, or until the task is canceled. Does not sleep if that is not a positive number.
    package func sleep(seconds: Double) async {
        guard seconds > 0 else { return }
        // A duration of more than this traps; nobody waits that long.
        try? await clock.sleep(for: .seconds(min(seconds, Self.longestSleep)))
    }

    /// A century.
    private static let longestSleep = 100 * 366 * 86_400.0

    private static func monotonicSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func seconds(on clock: some Clock<Duration>) -> @Sendable () -> Double {
        let start = clock.now
        return { start.duration(to: clock.now) / .seconds(1) }
    }
}
