// SPDX-License-Identifier: MIT

import Testing

@testable import WebImageStore

@Suite("Levels of memory pressure over time")
struct PressureStateMachineTests {
    private func shed(_ level: MemoryPressureLevel) -> MemoryPressureEvent { .init(level: level, sheds: true) }
    private func fall(_ level: MemoryPressureLevel) -> MemoryPressureEvent { .init(level: level, sheds: false) }

    @Test("The level rises immediately, repeats after ten seconds, and falls ten seconds after the last reading")
    func table() {
        var machine = PressureStateMachine()
        let lines: [(time: Double, reading: MemoryPressureLevel, event: MemoryPressureEvent?)] = [
            (0, .normal, nil),
            (1, .low, shed(.low)),
            (2, .low, nil),
            (3, .medium, shed(.medium)),
            (4, .low, nil),
            (5, .critical, shed(.critical)),
            (9, .low, nil),
            (14.9, .normal, nil),
            // The last critical reading was at 5 seconds, the last medium one at 3, and the last low one at 9.
            (15, .normal, fall(.low)),
            (16, .low, shed(.low)),
            (25.9, .low, nil),
            (26, .low, shed(.low)),
            (35.9, .normal, nil),
            (36, .normal, fall(.normal)),
            (100, .normal, nil),
        ]
        for line in lines {
            #expect(machine.receive(line.reading, at: line.time) == line.event, "at \(line.time)")
        }
    }

    @Test("The deadline of the next check is set unless the level is normal")
    func deadline() {
        var machine = PressureStateMachine()
        #expect(machine.deadline == nil)
        _ = machine.receive(.medium, at: 7)
        #expect(machine.deadline == 17)
        _ = machine.receive(.medium, at: 9)
        #expect(machine.deadline == 19)
        _ = machine.receive(.normal, at: 19)
        #expect(machine.deadline == nil)
    }

    @Test("Random readings have the same results as with a list of all readings", arguments: 0..<8)
    func model(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var machine = PressureStateMachine()
        var readings: [(time: Double, level: MemoryPressureLevel)] = []
        var (time, before, shedAt) = (0.0, MemoryPressureLevel.normal, -100.0)
        for _ in 0..<1_000 {
            time += Double.random(in: 0...4, using: &random)
            let reading =
                Int.random(in: 0..<3, using: &random) == 0
                ? MemoryPressureLevel.allCases.randomElement(using: &random) ?? .normal : .normal
            readings.append((time, reading))
            let level = readings.filter { time - $0.time < 10 }.map(\.level).max() ?? .normal
            let event = machine.receive(reading, at: time)
            #expect(machine.level == level)
            #expect(machine.deadline == nil || level > .normal)
            let sheds = level > before || level > .normal && reading == level && time - shedAt >= 10
            #expect(event == (level != before || sheds ? MemoryPressureEvent(level: level, sheds: sheds) : nil))
            if sheds { shedAt = time }
            before = level
        }
    }

    @Test("Each level has the listed reactions, and levels of the desktop's memory monitor are mapped")
    func levels() {
        #expect(MemoryPressureLevel.allCases.map(\.cacheFraction) == [nil, 0.5, 0.1, 0])
        #expect(MemoryPressureLevel.allCases.map(\.dropsLookAhead) == [false, true, true, true])
        #expect(MemoryPressureLevel.allCases.map(\.pausesPrefetch) == [false, false, true, true])
        #expect(MemoryPressureLevel.allCases.map(\.decodeLimit) == [nil, nil, 1, 1])
        #expect(MemoryPressureLevel.allCases.map(\.returnsMemory) == [false, false, false, true])
        let reported = [-1, 0, 49, 50, 99, 100, 254, 255, 1_000].map(MemoryPressureLevel.init(monitorLevel:))
        #expect(reported == [.normal, .normal, .normal, .low, .low, .medium, .medium, .critical, .critical])
    }
}
