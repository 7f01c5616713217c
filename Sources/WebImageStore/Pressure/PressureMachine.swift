// SPDX-License-Identifier: MIT

/// Turns readings into events: a level rises at once and falls when nothing of its kind was read for ten seconds. A
/// plain value; `now` is in seconds on a clock that never goes back.
struct PressureMachine {
    /// Seconds a level lasts after its last reading, and between two sheddings at the same level.
    static let hysteresis = 10.0

    private(set) var level = MemoryPressureLevel.normal
    /// When a reading of at least the level was last taken, by level.
    private var seen = [Double](repeating: -.infinity, count: MemoryPressureLevel.allCases.count)
    private var shedAt = -Double.infinity

    /// When ``take(_:at:)`` must be called although nothing was read; nil at the normal level.
    var deadline: Double? {
        level == .normal ? nil : seen[level.rawValue] + Self.hysteresis
    }

    /// Takes a reading in; `.normal` lets time pass.
    mutating func take(_ reading: MemoryPressureLevel, at now: Double) -> MemoryPressureEvent? {
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
