// SPDX-License-Identifier: MIT

extension ImageDownloader.Configuration {
    /// The minimum average speed of a response body.
    ///
    /// A body that is slower for the duration ends its transfer with ``ImageError/NetworkFailure/Reason/timedOut``.
    /// Without a minimum, a server could occupy a connection until the total timeout with single bytes.
    public struct MinimumSpeed: Sendable, Hashable {
        /// The speed in bytes per second, as transferred.
        public var bytesPerSecond: Int
        /// The duration over which the speed is measured.
        public var duration: Duration

        /// Creates a minimum speed.
        public init(bytesPerSecond: Int, duration: Duration) {
            self.bytesPerSecond = bytesPerSecond
            self.duration = duration
        }
    }
}

/// A meter that detects transfers below a minimum speed. It measures one period after the other.
///
/// It's a pure state machine. Times are in nanoseconds of a monotonic clock.
struct TransferSpeedMeter: Sendable {
    /// The bytes that must arrive in each period.
    private let required: Double
    private let period: Int64
    /// This value is `nil` before the body.
    private var begin: Int64?
    private var bytesAtBegin = 0
    /// The time at which the transfer was paused, or `nil` if it isn't paused.
    private var paused: Int64?

    /// Creates a meter. Returns `nil` if the minimum requires no bytes.
    init?(_ minimum: ImageDownloader.Configuration.MinimumSpeed) {
        let seconds = minimum.duration / .seconds(1)
        guard minimum.bytesPerSecond > 0, seconds > 0 else { return nil }
        required = Double(minimum.bytesPerSecond) * seconds
        period = MonotonicTime.nanoseconds(seconds)
    }

    /// The next time to call ``isTooSlow(at:bytes:)``, or `nil` if the speed isn't measured.
    var deadline: Int64? { paused == nil ? begin.map { $0 + period } : nil }

    mutating func start(at now: Int64) {
        begin = now
        bytesAtBegin = 0
    }

    /// Stops the measurement, because the client itself receives no data.
    mutating func pause(at now: Int64) { if paused == nil { paused = now } }

    /// Continues the measurement. The pause doesn't count.
    mutating func resume(at now: Int64) {
        guard let paused else { return }
        begin = begin.map { $0 + max(now - paused, 0) }
        self.paused = nil
    }

    /// Returns whether the period that has ended was too slow. Otherwise, a new period begins.
    mutating func isTooSlow(at now: Int64, bytes: Int) -> Bool {
        guard let begin, let deadline, now >= deadline else { return false }
        // The loop may be late, so compare with the time that really elapsed.
        let elapsed = Double(now - begin) / Double(period)
        guard Double(bytes - bytesAtBegin) >= required * elapsed else { return true }
        self.begin = now
        bytesAtBegin = bytes
        return false
    }
}
