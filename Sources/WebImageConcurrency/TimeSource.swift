// SPDX-License-Identifier: MIT

import Foundation

/// The source of the current time, which tests can replace.
///
/// Ages and expiration dates use the calendar time. Delays, batches, and timeouts use a monotonic clock.
package struct TimeSource: Sendable {
    /// A closure that returns the calendar time, which may jump in either direction.
    package var now: @Sendable () -> Date
    /// A closure that returns the seconds since a fixed moment, which never decrease.
    package var uptime: @Sendable () -> Double
    /// The clock that waits use to sleep.
    package var clock: any Clock<Duration>

    /// Creates a time source whose waits use the clock of the system.
    package init(now: @escaping @Sendable () -> Date, uptime: @escaping @Sendable () -> Double) {
        self.now = now
        self.uptime = uptime
        clock = ContinuousClock()
    }

    /// Creates a time source that derives all times from a clock. The elapsed time of the clock is added to `start`.
    package init(_ clock: any Clock<Duration>, start: Date = Date()) {
        let uptime = Self.seconds(on: clock)
        self.now = { start + uptime() }
        self.uptime = uptime
        self.clock = clock
    }

    /// The time source that uses the clocks of the system.
    package static let system = TimeSource(now: { Date() }, uptime: { SystemClock.seconds })

    /// Sleeps for a number of seconds or until the task is canceled. Returns immediately if the number isn't positive.
    package func sleep(seconds: Double) async {
        guard seconds > 0 else { return }
        // Limit the duration because longer durations trap.
        try? await clock.sleep(for: .seconds(min(seconds, Self.longestSleep)))
    }

    /// The maximum sleep in seconds (100 years).
    private static let longestSleep = 100 * 366 * 86_400.0

    private static func seconds(on clock: some Clock<Duration>) -> @Sendable () -> Double {
        let start = clock.now
        return { start.duration(to: clock.now) / .seconds(1) }
    }
}
