// SPDX-License-Identifier: MIT

/// The decisions when the coders of a format may not be used in helpers, because they crashed too often.
///
/// It's a pure state machine without a clock. All times are in seconds since any fixed moment.
struct CrashBreakerStateMachine: Sendable {
    /// The limits of the crashes. The number and the time of the crashes are common defaults of process supervisors.
    struct Limits: Sendable, Hashable {
        /// The number of crashes within `window` that suspends a format.
        var crashes = 5
        /// The time in which crashes are counted.
        var window = 60.0
        /// The time for which a format is suspended first.
        var suspension = 60.0
        var maxSuspension = 3_600.0
    }

    /// A format that's suspended.
    struct Suspension: Error, Hashable {
        /// The number of crashes that suspended the format.
        let crashes: Int
        let seconds: Double
    }

    private struct Record {
        /// The times of the last crashes, in ascending order.
        var crashes: [Double] = []
        var end = -Double.infinity
        /// The duration of the last suspension, or 0.
        var duration = 0.0
        /// The number of crashes that caused the last suspension.
        var count = 0
    }

    /// The number of formats with crashes. Beyond it, the format whose last crash is the oldest is removed.
    private static let maxRecords = 64

    private let limits: Limits
    private var records: [String: Record] = [:]

    init(limits: Limits = Limits()) { self.limits = limits }

    /// After a suspension, one crash within the window is enough to suspend the format again, for twice as long.
    mutating func recordCrash(of format: String, at now: Double) {
        var record = records[format] ?? Record()
        // Crashes of requests that began before the suspension don't extend it.
        guard now >= record.end else { return }
        record.crashes.removeAll { now - $0 >= limits.window }
        record.crashes.append(now)
        let isProbation = record.duration > 0 && now - record.end < limits.window
        if !isProbation { record.duration = 0 }
        if isProbation || record.crashes.count >= limits.crashes {
            record.duration = min(limits.maxSuspension, max(limits.suspension, record.duration * 2))
            record.end = now + record.duration
            record.count = record.crashes.count
            record.crashes = []
        }
        records[format] = record
        if records.count > Self.maxRecords { removeOldest() }
    }

    /// Returns the suspension of a format, or `nil` if the format may be used.
    func suspension(of format: String, at now: Double) -> Suspension? {
        guard let record = records[format], now < record.end else { return nil }
        return Suspension(crashes: record.count, seconds: record.end - now)
    }

    var isEmpty: Bool { records.isEmpty }

    private mutating func removeOldest() {
        let oldest = records.min { first, second in
            max(first.value.end, first.value.crashes.last ?? 0) < max(second.value.end, second.value.crashes.last ?? 0)
        }
        if let oldest { records[oldest.key] = nil }
    }
}
