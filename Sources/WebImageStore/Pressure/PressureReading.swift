// SPDX-License-Identifier: MIT

/// What the kernel's files said at one moment. Nil where a file is not there.
struct PressureSample: Equatable {
    /// Microseconds since boot in which some, and in which all, processes waited for memory (`total=` of the PSI file).
    struct Stall: Equatable {
        var some: UInt64
        var full: UInt64
    }

    /// Counters of `memory.events`.
    struct Events: Equatable {
        var high: UInt64 = 0
        var max: UInt64 = 0
        var oom: UInt64 = 0
    }

    /// One per PSI file: the machine's, the control group's.
    var stalls: [Stall?] = []
    var events: Events?
    /// Bytes that cannot simply be dropped: `memory.current` without the file pages that were not used lately.
    var workingSet: UInt64?
    /// `memory.max`; nil for none.
    var limit: UInt64?
    /// `memory.high`: above it the group is slowed down; nil for none.
    var throttle: UInt64?
}

/// What two samples mean.
enum PressureReading {
    /// The level that `sample` tells, compared to the one `seconds` before.
    ///
    /// PSI: some processes waited 150 ms of 2 s: low; 400 ms: medium; all waited 200 ms of 2 s: critical.
    /// Control group: the working set above 85 % of the limit, or above the throttle: medium; above 95 %: critical; the
    /// group ran out of memory: critical. Reaching the limit is critical too where the working set is what filled it;
    /// where it was file pages, reclaiming them costs little: low.
    ///
    /// - Parameter seconds: zero leaves PSI out.
    static func level(
        _ sample: PressureSample, before: PressureSample?, seconds: Double
    ) -> MemoryPressureLevel {
        var level = max(ofUse(sample), ofEvents(sample, before))
        guard let before, seconds > 0 else { return level }
        for (now, then) in zip(sample.stalls, before.stalls) {
            guard let now, let then, now.some >= then.some, now.full >= then.full else { continue }
            // Microseconds to the share of the time that passed.
            level = max(
                level,
                ofStall(
                    some: Double(now.some - then.some) / 1e6 / seconds,
                    full: Double(now.full - then.full) / 1e6 / seconds))
        }
        return level
    }

    /// `some` and `full` as shares of time.
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
