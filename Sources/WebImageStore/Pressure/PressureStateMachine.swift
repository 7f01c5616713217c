// SPDX-License-Identifier: MIT

/// A state machine that turns readings into events.
///
/// The level rises immediately and falls after ten seconds without a reading of that level or above. This is a plain
/// value. All times are in seconds of a monotonic clock.
struct PressureStateMachine {
    /// The number of seconds that a level lasts after its last reading, and between two events that release memory at
    /// the same level.
    static let hysteresis = 10.0

    private(set) var level = MemoryPressureLevel.normal
    /// The time of the last reading of at least the level, indexed by level.
    private var seen = [Double](repeating: -.infinity, count: MemoryPressureLevel.allCases.count)
    private var shedAt = -Double.infinity

    /// The time by which ``receive(_:at:)`` must be called even without a new reading, or `nil` at the normal level.
    var deadline: Double? {
        level == .normal ? nil : seen[level.rawValue] + Self.hysteresis
    }

    /// Processes a reading. The reading `.normal` only updates the level for the current time.
    mutating func receive(_ reading: MemoryPressureLevel, at now: Double) -> MemoryPressureEvent? {
        for level in MemoryPressureLevel.allCases where level <= reading { seen[level.rawValue] = now }
        let lasting = MemoryPressureLevel.allCases.last {
            $0 == .normal || now - seen[$0.rawValue] < Self.hysteresis
        }
        let before = level
        level = lasting ?? .normal
        let isDue = reading == level && level > .normal && now - shedAt >= Self.hysteresis
        guard level != before || isDue else { return nil }
        let sheds = level > before || isDue
        if sheds { shedAt = now }
        return MemoryPressureEvent(level: level, sheds: sheds)
    }
}
