// SPDX-License-Identifier: MIT

import Testing
import WebImageCore
import WebImageTestSupport

@testable import WebImage
@testable import WebImageUI

@Suite("Player machine")
struct PlayerStateMachineTests {
    static let millisecond = 1_000_000

    /// Returns a playing machine after its tick at time zero, with every frame decoded.
    static func playing(
        _ durations: [Int], loops: Int = 0, mode: AnimationPlayer.Mode = .forward, rate: Double = 1,
        isComplete: Bool = true
    ) -> PlayerStateMachine {
        var machine = PlayerStateMachine(
            AnimationTimeline(loopCount: loops, durations: durations), mode: mode, isComplete: isComplete)
        machine.rate = rate
        machine.play()
        _ = machine.tick(at: 0) { _ in true }
        return machine
    }

    /// Returns the frames that are shown at ticks every `step` milliseconds until `end`. The first element is the
    /// frame after the tick at time zero, and each change is listed once.
    static func frames(_ machine: inout PlayerStateMachine, step: Int, until end: Int) -> [Int] {
        var shown = [machine.displayedIndex]
        for time in stride(from: step, through: end, by: step) {
            if let frame = machine.tick(at: time * millisecond, isAvailable: { _ in true }).frame {
                shown.append(frame)
            }
        }
        return shown
    }

    @Test("Frequent ticks show every frame in order")
    func order() {
        var machine = Self.playing([40, 40, 40])
        #expect(Self.frames(&machine, step: 10, until: 240) == [0, 1, 2, 0, 1, 2, 0])
    }

    @Test("Late frames are skipped")
    func skips() {
        var machine = Self.playing([20, 20, 20, 20, 20])
        // The due frames are 2 at 50 ms, 0 at 100 ms after a whole loop, and 2 at 150 ms.
        #expect(Self.frames(&machine, step: 50, until: 150) == [0, 2, 0, 2])
    }

    @Test("The rest of a tick carries over, so the player doesn't drift")
    func noDrift() {
        var machine = Self.playing([30, 30])
        for tick in 1...100 { _ = machine.tick(at: tick * 16_666_667) { _ in true } }
        // 1,666.7 ms are 55.6 frames, so the 56th frame is due, which is the second one of its loop.
        #expect(machine.displayedIndex == 1)
        #expect(machine.loopsCompleted == 27)
    }

    @Test("After a stall, the animation advances by at most one frame")
    func stall() {
        var machine = Self.playing([40, 40, 40, 40, 40])
        _ = machine.tick(at: 10 * Self.millisecond) { _ in true }
        let tick = machine.tick(at: 10_000 * Self.millisecond) { _ in true }
        #expect(tick.frame == 1)
        #expect(tick.deadline == 10_040 * Self.millisecond)
    }

    @Test("The last decoded frame before the due frame is shown until the due frame is decoded")
    func lateDecode() {
        var machine = Self.playing([40, 40, 40, 40])
        let none = machine.tick(at: 90 * Self.millisecond) { $0 == 0 }
        #expect(none.frame == nil)
        #expect(none.deadline == nil)
        #expect(machine.dueIndex == 2)
        #expect(machine.tick(at: 91 * Self.millisecond) { $0 <= 1 }.frame == 1)
        let due = machine.tick(at: 100 * Self.millisecond) { $0 <= 2 }
        #expect(due.frame == 2)
        #expect(due.deadline == 120 * Self.millisecond)
    }

    @Test("If decoding takes longer than a stall, the player waits for the first missing frame")
    func longDecode() {
        var machine = Self.playing([40, 40, 40, 40, 40, 40, 40, 40])
        for time in stride(from: 20, through: 400, by: 20) {
            #expect(machine.tick(at: time * Self.millisecond) { $0 == 0 }.frame == nil)
        }
        #expect(machine.dueIndex == 1)
        let tick = machine.tick(at: 500 * Self.millisecond) { $0 <= 1 }
        #expect(tick.frame == 1)
        #expect(tick.deadline == 540 * Self.millisecond)
    }

    @Test(
        "Each mode plays the frames in its order",
        arguments: [
            (AnimationPlayer.Mode.forward, [0, 1, 2, 3, 0, 1, 2]), (.reverse, [3, 2, 1, 0, 3, 2, 1]),
            (.bounce, [0, 1, 2, 3, 2, 1, 0]), (.reverseBounce, [3, 2, 1, 0, 1, 2, 3]),
        ])
    func modes(mode: AnimationPlayer.Mode, expected: [Int]) {
        var machine = Self.playing([20, 20, 20, 20], mode: mode)
        #expect(Self.frames(&machine, step: 20, until: 120) == expected)
    }

    @Test(
        "Playback stops on the last frame of the last loop",
        arguments: [(AnimationPlayer.Mode.forward, 3), (.reverse, 0), (.bounce, 0)])
    func ends(mode: AnimationPlayer.Mode, last: Int) {
        var machine = Self.playing([20, 20, 20, 20], loops: 2, mode: mode)
        var loops: [Int] = []
        var ends = 0
        for time in stride(from: 10, through: 1_000, by: 10) {
            let tick = machine.tick(at: time * Self.millisecond) { _ in true }
            if let count = tick.loops { loops.append(count) }
            if tick.hasFinished { ends += 1 }
            if machine.state == .finished { #expect(tick.deadline == nil) }
        }
        #expect(loops == [1, 2])
        #expect(ends == 1)
        #expect(machine.state == .finished)
        #expect(machine.displayedIndex == last)
        machine.play()
        #expect(machine.tick(at: 2_000 * Self.millisecond) { _ in true }.hasFinished == false)
        #expect(machine.loopsCompleted == 0)
    }

    @Test("The loop count of the player overrides the loop count of the image")
    func ownLoops() {
        var machine = Self.playing([20, 20], loops: 0)
        machine.loopCount = 1
        _ = Self.frames(&machine, step: 10, until: 100)
        #expect(machine.state == .finished)
        #expect(machine.loopsCompleted == 1)
    }

    @Test("The rate changes the speed, and a rate of 0 or less stops the animation")
    func rates() {
        var fast = Self.playing([40, 40, 40, 40], rate: 2)
        #expect(Self.frames(&fast, step: 20, until: 60) == [0, 1, 2, 3])
        var slow = Self.playing([40, 40, 40, 40], rate: 0.5)
        #expect(Self.frames(&slow, step: 40, until: 160) == [0, 1, 2])
        for rate in [0, -1, Double.nan, -Double.infinity] {
            var still = Self.playing([40, 40], rate: rate)
            #expect(still.tick(at: 200 * Self.millisecond) { _ in true } == PlayerStateMachine.Tick())
        }
    }

    @Test("A paused player keeps its frame and doesn't catch up")
    func pauses() {
        var machine = Self.playing([40, 40, 40])
        _ = machine.tick(at: 30 * Self.millisecond) { _ in true }
        machine.pause()
        #expect(machine.tick(at: 100 * Self.millisecond) { _ in true } == PlayerStateMachine.Tick())
        machine.play()
        #expect(machine.tick(at: 200 * Self.millisecond) { _ in true }.deadline == 210 * Self.millisecond)
    }

    @Test("Seeking to a frame or a time works while paused, and invalid frames are rejected")
    func seeks() {
        var machine = Self.playing([10, 20, 30])
        machine.pause()
        #expect(machine.seek(to: 2) == true)
        #expect(machine.tick(at: 0) { _ in true }.frame == 2)
        #expect(machine.seek(to: 3) == false)
        #expect(machine.seek(to: -1) == false)
        #expect(machine.displayedIndex == 2)
        machine.seek(toTime: 25 * Self.millisecond)
        machine.play()
        let tick = machine.tick(at: 0) { _ in true }
        #expect(tick.frame == 1)
        #expect(tick.deadline == 5 * Self.millisecond)
        machine.seek(toTime: 60 * 7 * Self.millisecond + 1)
        #expect(machine.dueIndex == 0)
    }

    @Test("Stopping keeps the frame or returns to the poster frame")
    func stops() {
        var machine = Self.playing([20, 20, 20], mode: .reverse)
        _ = Self.frames(&machine, step: 20, until: 20)
        machine.stop(resets: false)
        #expect(machine.tick(at: 0) { _ in true }.frame == nil)
        #expect(machine.displayedIndex == 1)
        machine.stop(resets: true)
        #expect(machine.displayedIndex == 0)
        #expect(machine.dueIndex == 0)
        machine.play()
        #expect(machine.tick(at: 0) { _ in true }.frame == 2)
    }

    @Test("The player waits at the end of an incomplete animation and continues when it grows")
    func grows() {
        var machine = Self.playing([20, 20], isComplete: false)
        #expect(Self.frames(&machine, step: 10, until: 200) == [0, 1])
        #expect(machine.tick(at: 210 * Self.millisecond) { _ in true }.deadline == nil)
        machine.grow(AnimationTimeline(loopCount: 1, durations: [20, 20, 20]), isComplete: false)
        #expect(machine.tick(at: 220 * Self.millisecond) { _ in true }.frame == 2)
        machine.grow(AnimationTimeline(loopCount: 1, durations: [20, 20, 20, 20]), isComplete: true)
        #expect(machine.tick(at: 240 * Self.millisecond) { _ in true }.frame == 3)
        #expect(machine.tick(at: 260 * Self.millisecond) { _ in true }.hasFinished)
    }

    @Test("With reduced motion, the poster frame is shown")
    func reducedMotion() {
        var machine = Self.playing([20, 20, 20])
        _ = Self.frames(&machine, step: 20, until: 20)
        machine.reducesMotion = true
        #expect(machine.displayedIndex == 0)
        #expect(machine.tick(at: 100 * Self.millisecond) { _ in true } == PlayerStateMachine.Tick())
        #expect(machine.upcoming(3).isEmpty)
    }

    @Test("Synchronized machines show the same frame regardless of their start times and missed ticks")
    func synchronised() {
        var machines = [0, 130, 777].map { start in
            var machine = PlayerStateMachine(AnimationTimeline(loopCount: 0, durations: [30, 50, 20]))
            machine.play()
            machine.follow(0)
            _ = machine.tick(at: start * Self.millisecond) { _ in true }
            return machine
        }
        for time in [1_000, 1_016, 5_000, 5_049, 5_099] {
            for index in machines.indices { _ = machines[index].tick(at: time * Self.millisecond) { _ in true } }
            #expect(Set(machines.map(\.displayedIndex)).count == 1)
            #expect(machines[0].displayedIndex == (time % 100 < 30 ? 0 : time % 100 < 80 ? 1 : 2))
        }
    }

    @Test("Clocks that go backward or reach their limits don't cause errors")
    func strangeClocks() {
        var machine = Self.playing([20, 20])
        for time in [-5, Int.min, Int.max, 0, Int.max - 1, Int.min] { _ = machine.tick(at: time) { _ in true } }
        machine.follow(Int.min)
        _ = machine.tick(at: Int.max) { _ in true }
        #expect((0..<2).contains(machine.displayedIndex))
    }

    /// Compares the machine with a calculation from the durations. Every frame is decoded.
    @Test("The machine follows the clock over random timelines, modes, and ticks", arguments: 0..<40)
    func model(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let durations = (0..<Int.random(in: 2...9, using: &random)).map { _ in Int.random(in: 11...90, using: &random) }
        let mode = AnimationPlayer.Mode.allCases[seed % 4]
        let steps: [Int] = {
            let forth = Array(durations.indices)
            switch mode {
            case .forward: return forth
            case .reverse: return forth.reversed()
            case .bounce: return forth + forth.dropFirst().dropLast().reversed()
            case .reverseBounce: return forth.reversed() + forth.dropFirst().dropLast()
            }
        }()
        let whole = steps.reduce(0) { $0 + durations[$1] }
        var machine = Self.playing(durations, mode: mode)
        var time = 0
        for _ in 0..<1_000 {
            time += Int.random(in: 1...240, using: &random)
            let tick = machine.tick(at: time * Self.millisecond) { _ in true }
            var rest = time % whole
            let expected = steps.first { index in
                rest -= durations[index]
                return rest < 0
            }
            #expect(machine.displayedIndex == expected)
            #expect(machine.loopsCompleted == time / whole)
            #expect((tick.deadline ?? 0) == (time - rest) * Self.millisecond)
        }
    }
}
