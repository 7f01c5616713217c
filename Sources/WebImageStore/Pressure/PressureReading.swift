// SPDX-License-Identifier: MIT

/// The values of the kernel's files at one moment. A value is `nil` if its file doesn't exist.
struct PressureSample: Equatable {
    /// The microseconds since boot during which some or all processes waited for memory (`total=` in the PSI file).
    struct Stall: Equatable {
        var some: UInt64
        var full: UInt64
    }

    /// The counters of `memory.events`.
    struct Events: Equatable {
        var high: UInt64 = 0
        var max: UInt64 = 0
        var oom: UInt64 = 0
    }

    /// The stalls per PSI file, first of the machine and then of the control group.
    var stalls: [Stall?] = []
    var events: Events?
    /// The number of bytes that can't simply be dropped, which is `memory.current` without inactive file pages.
    var workingSet: UInt64?
    /// The value of `memory.max`, or `nil` if there is no limit.
    var limit: UInt64?
    /// The value of `memory.high`, above which the kernel throttles the group, or `nil` if there is none.
    var throttle: UInt64?
}

/// The rules that derive a level from two samples.
enum PressureReading {
    /// Returns the level of a sample compared to the sample taken `seconds` seconds earlier.
    ///
    /// The following PSI values determine the level:
    ///
    /// - If some processes waited for 150 ms of 2 s, the level is low. If they waited for 400 ms, it's medium.
    /// - If all processes waited for 200 ms of 2 s, the level is critical.
    ///
    /// The following values of the control group determine the level:
    ///
    /// - If the working set exceeds 85% of the limit or exceeds `memory.high`, the level is medium. If it exceeds 95%
    ///   of the limit, or if the group ran out of memory, the level is critical.
    /// - If the group reached its limit, the level is critical if the working set exceeds 85% of the limit. Otherwise,
    ///   file pages filled the group, and reclaiming them is inexpensive, so the level is low.
    /// - If the group reached `memory.high`, the level is at least low.
    ///
    /// - Parameters:
    ///   - sample: The current sample.
    ///   - before: The earlier sample, or `nil` if there is none.
    ///   - seconds: The time between the samples in seconds. If it's 0, PSI is ignored.
    static func level(
        _ sample: PressureSample, before: PressureSample?, seconds: Double
    ) -> MemoryPressureLevel {
        var level = max(ofUse(sample), ofEvents(sample, before))
        guard let before, seconds > 0 else { return level }
        for (now, then) in zip(sample.stalls, before.stalls) {
            guard let now, let then, now.some >= then.some, now.full >= then.full else { continue }
            // Convert microseconds to a ratio of the elapsed time.
            level = max(
                level,
                ofStall(
                    some: Double(now.some - then.some) / 1e6 / seconds,
                    full: Double(now.full - then.full) / 1e6 / seconds))
        }
        return level
    }

    static func ofStall(some: Double, full: Double) -> MemoryPressureLevel {
        if full >= 0.1 { return .critical }
        return some >= 0.2 ? .medium : some >= 0.075 ? .low : .normal
    }

    private static func share(_ sample: PressureSample) -> Double? {
        guard let used = sample.workingSet, let limit = sample.limit, limit > 0 else { return nil }
        return Double(used) / Double(limit)
    }

    private static func ofUse(_ sample: PressureSample) -> MemoryPressureLevel {
        let share = share(sample) ?? 0
        if share > 0.95 { return .critical }
        if share > 0.85 { return .medium }
        if let used = sample.workingSet, let throttle = sample.throttle, used > throttle { return .medium }
        return .normal
    }

    private static func ofEvents(_ sample: PressureSample, _ before: PressureSample?) -> MemoryPressureLevel {
        guard let now = sample.events, let then = before?.events else { return .normal }
        if now.oom > then.oom { return .critical }
        if now.max > then.max { return (share(sample) ?? 1) > 0.85 ? .critical : .low }
        return now.high > then.high ? .low : .normal
    }
}
