// SPDX-License-Identifier: MIT

import Testing
import WebImagePrograms

@Suite("Measurement of scrolling")
struct ScrollMeasurementTests {
    typealias Machine = ScrollMeasurementStateMachine

    private func layout(_ value: Double = 0) -> Machine.Layout {
        Machine.Layout(columns: 5, rowHeight: 200, viewport: 700, value: value)
    }

    @Test("Movements", arguments: [("pages", Machine.Movement.pages), ("fling:400", .fling(row: 400))])
    func movement(text: String, movement: Machine.Movement) { #expect(Machine.Movement(text) == movement) }

    @Test("Invalid movements", arguments: ["", "page", "fling", "fling:", "fling:0", "fling:-1", "fling:1e9"])
    func invalidMovement(text: String) { #expect(Machine.Movement(text) == nil) }

    @Test("Rows of which at least a point is visible count")
    func visible() {
        #expect(layout().visible(of: 100) == 0..<20)
        #expect(layout(100.5).visible(of: 100) == 0..<20)
        #expect(layout(103).visible(of: 100) == 0..<25)
        #expect(layout(199.5).visible(of: 100) == 5..<25)
        #expect(layout().visible(of: 7) == 0..<7)
        #expect(layout(5_000).visible(of: 7).isEmpty)
        #expect(Machine.Layout(columns: 0, rowHeight: 0, viewport: 700, value: 0).visible(of: 7).isEmpty)
    }

    @Test("The list is paged when all visible images have appeared")
    func pages() {
        var machine = Machine(.pages, count: 40)
        #expect(machine.frame(at: 0.1, layout: layout(), shown: []) == .stay)
        #expect(machine.times == Machine.Times())
        #expect(machine.frame(at: 0.2, layout: layout(), shown: [7]) == .stay)
        #expect(machine.frame(at: 0.3, layout: layout(), shown: Set(0..<20)) == .scroll(to: 600))
        #expect(machine.times == Machine.Times(first: 0.2, visible: 0.3))
        #expect(machine.frame(at: 0.4, layout: layout(600), shown: Set(0..<20)) == .stay)
        machine.recordFailure(of: 39)
        #expect(machine.frame(at: 0.5, layout: layout(600), shown: Set(15..<35)) == .scroll(to: 1_200))
        // The list ends here.
        #expect(machine.frame(at: 0.6, layout: layout(900), shown: Set(15..<40)) == .finish)
        #expect(machine.times.all == 0.6 && machine.failures == 1 && machine.frames == 6)
    }

    @Test("Empty cells count in the flight and at rest, but not before")
    func fling() {
        var machine = Machine(.fling(row: 50), count: 1_000)
        let all = Set(0..<1_000)
        var (value, farthest, time) = (0.0, 0.0, 0.0)
        var action = machine.frame(at: 0, layout: layout(), shown: all)
        #expect(machine.times.visible == 0 && action == .stay)
        while action != .finish, time < 20 {
            time += 1.0 / 64
            // Nothing is missing during the first rest, and one cell afterward.
            let missing = layout(value).visible(of: 1_000).first.map { Set([$0]) } ?? []
            action = machine.frame(at: time, layout: layout(value), shown: time <= 0.5 ? all : all.subtracting(missing))
            if case .scroll(let next) = action { value = next }
            farthest = max(farthest, value)
        }
        #expect(farthest == 10_000 && value == 0)
        #expect(abs(time - 11.5) < 0.2)
        #expect(abs(machine.blankWhileMoving - 8) < 0.1 && abs(machine.blankWhileResting - 3) < 0.1)
        #expect(machine.longestFrame == 1.0 / 64)
    }

    @Test("The movement begins fast and ends at its target")
    func curve() {
        #expect(Machine.part(0) == 0 && Machine.part(Machine.duration) == 1)
        #expect(abs(Machine.part(Machine.timeConstant) - 0.632) < 0.001)
    }
}
