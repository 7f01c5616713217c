// SPDX-License-Identifier: MIT

import Testing
import WebImageGTK
import WebImageTestSupport

@Suite("Prefetching in lists")
struct PrefetchWindowTests {
    @Test("Before the list has moved, prefetching goes forward")
    func first() {
        var window = PrefetchWindow(count: 100, pages: 1)
        let change = window.show(0..<10)
        #expect(change.start == Array(10..<20))
        #expect(change.drop.isEmpty)
        #expect(window.show(0..<10).isEmpty)
    }

    @Test("When a list changes direction, old prefetches stop and the nearest positions start first")
    func turning() {
        var window = PrefetchWindow(count: 100, pages: 0.5)
        _ = window.show(40..<50)
        let on = window.show(42..<52)
        #expect(window.direction == .forward && on.start == [55, 56] && on.drop.isEmpty)
        let back = window.show(40..<50)
        #expect(window.direction == .backward)
        // The list is laid out again, further up.
        _ = window.show(0..<0)
        _ = window.show(2..<8)
        #expect(window.direction == .backward)
        #expect(back.start == [39, 38, 37, 36, 35])
        #expect(back.drop == [50, 51, 52, 53, 54, 55, 56])
    }

    @Test("A position that becomes visible isn't started again and isn't dropped until it leaves the screen")
    func joining() {
        var window = PrefetchWindow(count: 100, pages: 1)
        _ = window.show(0..<4)
        let next = window.show(4..<8)
        #expect(next.start == [8, 9, 10, 11] && next.drop.isEmpty)
        #expect(window.show(8..<12).drop == [4, 5, 6, 7])
    }

    @Test("In flight, the middle of the landing starts first, and then the last positions before it")
    func landing() {
        var window = PrefetchWindow(count: 10_000, pages: 1, limit: 10)
        _ = window.show(0..<4)
        let far = window.show(100..<104, landing: 2_000..<2_004)
        #expect(far.drop == [4, 5, 6, 7])
        #expect(far.start == [2_001, 2_000, 2_002, 2_003, 1_999, 1_998, 1_997, 1_996, 1_995, 1_994])
        // Positions that the list has passed are dropped, and those that are visible are not.
        let near = window.show(1_994..<1_998, landing: 2_000..<2_004)
        #expect(near.isEmpty)
        #expect(window.show(1_996..<2_000, landing: 2_000..<2_004).drop == [1_994, 1_995])
        // At rest, prefetching continues beyond the landing.
        let rest = window.show(2_000..<2_004)
        #expect(rest.start == [2_004, 2_005, 2_006, 2_007] && rest.drop == [1_996, 1_997, 1_998, 1_999])
    }

    @Test("With a plan, the positions that can be loaded in time start in the order of their visibility")
    func plan() {
        var window = PrefetchWindow(count: 10_000, pages: 1, limit: 64)
        let plan = FlightPlan(rate: 2, pace: PrefetchPace(throughput: 300, latency: 0.03))
        _ = window.show(0..<20)
        let change = window.show(40..<60, landing: 1_980..<2_000, plan: plan)
        let first = change.start.first ?? 0
        #expect((1_488..<1_900).contains(first), "the limit is 512 positions")
        // Only a part waits in the queue, and the others follow when these are loaded.
        #expect(change.start == Array(first..<(first + plan.queueLength)))
        #expect(change.start.count < 200)
        let loaded = Set(change.start.prefix(30))
        let next = window.show(40..<60, landing: 1_980..<2_000, plan: plan) { loaded.contains($0) }
        #expect(next.start.contains(first + plan.queueLength) && next.drop.isEmpty)
        #expect(window.isStarted(first) && !window.isStarted(1_999))
        // Later, less can be loaded before the list passes it, and positions that were passed are dropped.
        let later = window.show(1_900..<1_920, landing: 1_980..<2_000, plan: plan) { loaded.contains($0) }
        #expect(later.drop.contains(first))
        #expect(later.start.first ?? 0 >= 1_920 && later.start.last == 1_920 + plan.queueLength - 1)
    }

    @Test("Backward, a plan begins with the highest positions")
    func planBackward() {
        var window = PrefetchWindow(count: 10_000, pages: 1, limit: 64)
        let plan = FlightPlan(rate: 2, pace: PrefetchPace(throughput: 30, latency: 0.1))
        _ = window.show(2_000..<2_020)
        let change = window.show(1_900..<1_920, landing: 0..<20, plan: plan)
        #expect(window.direction == .backward)
        let first = change.start.first ?? 0
        #expect(first > 20 && first < 200)
        #expect(change.start == (0...first).reversed().prefix(plan.queueLength).map { $0 })
    }

    @Test("On a connection that is too slow for any position before the landing, the landing is loaded")
    func slowPlan() {
        var window = PrefetchWindow(count: 10_000, pages: 1, limit: 64)
        let plan = FlightPlan(rate: 2, pace: PrefetchPace(throughput: 0.5, latency: 3))
        _ = window.show(0..<20)
        #expect(window.show(40..<60, landing: 1_980..<2_000, plan: plan).start == Array(1_980..<1_992))
        // A plan without sense counts as none.
        let none = FlightPlan(rate: .nan)
        #expect(window.show(40..<60, landing: 1_980..<2_000, plan: none).start.last ?? 0 < 1_980)
        var disabled = PrefetchWindow(count: 10_000, pages: 1, limit: 0)
        _ = disabled.show(0..<20)
        #expect(disabled.show(40..<60, landing: 1_980..<2_000, plan: plan).start.isEmpty)
    }

    @Test("Backward, the positions before the landing are the following ones")
    func landingBackward() {
        var window = PrefetchWindow(count: 100, pages: 1, limit: 7)
        _ = window.show(90..<94)
        let change = window.show(80..<84, landing: -3..<4)
        #expect(window.direction == .backward)
        #expect(change.start == [1, 0, 2, 3, 4, 5, 6])
    }

    @Test("If the landing is unknown, nothing is prefetched")
    func unknownLanding() {
        var window = PrefetchWindow(count: 100, pages: 1)
        _ = window.show(0..<4)
        let change = window.show(40..<44, landing: 0..<0)
        #expect(change.start.isEmpty && change.drop == [4, 5, 6, 7])
        #expect(window.show(40..<44).start == [44, 45, 46, 47])
    }

    @Test("While the list scrolls, more positions are prefetched", arguments: [(1.0, 4), (2, 8), (100, 32), (.nan, 4)])
    func reach(factor: Double, count: Int) {
        var window = PrefetchWindow(count: 100, pages: 1)
        #expect(window.show(0..<4, reach: factor).start == Array(4..<(4 + count)))
    }

    @Test("A jump drops all prefetches and starts new ones")
    func jump() {
        var window = PrefetchWindow(count: 10_000, pages: 1, limit: 8)
        _ = window.show(0..<20)
        let change = window.show(9_000..<9_020)
        #expect(change.drop == Array(20..<28))
        #expect(change.start == Array(9_020..<9_028))
        #expect(window.reset(count: 5).drop == Array(9_020..<9_028))
        #expect(window.started.isEmpty)
    }

    @Test("Prefetching stops at the ends of the list")
    func ends() {
        var window = PrefetchWindow(count: 12, pages: 2)
        #expect(window.show(4..<10).start == [10, 11])
        #expect(window.show(0..<4).start == [])
        #expect(window.show(-5..<99).start == [])
        #expect(window.show(20..<30).start == [])
        var empty = PrefetchWindow(count: -3, pages: .nan, limit: -1)
        #expect(empty.show(0..<10).isEmpty)
    }

    /// A simple model of the prefetcher: After each move, the started positions are those ahead and the visible ones
    /// that were started before.
    @Test("Random scrolling always matches the model", arguments: 0..<24)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 0...400, using: &random)
        var window = PrefetchWindow(
            count: count, pages: Double.random(in: 0...3, using: &random), limit: Int.random(in: 0...90, using: &random)
        )
        var running: Set<Int> = []
        for _ in 0..<400 {
            let lower = Int.random(in: -20...420, using: &random)
            let range = lower..<(lower + Int.random(in: 0...40, using: &random))
            let change = window.show(range)
            #expect(Set(change.start).isDisjoint(with: running) && Set(change.drop).isSubset(of: running))
            #expect(Set(change.start).count == change.start.count)
            running.formUnion(change.start)
            running.subtract(change.drop)
            #expect(running == window.started)
            let visible = range.clamped(to: 0..<count)
            #expect(running.isSubset(of: Set(window.ahead).union(visible)))
            #expect(Set(window.ahead).isSubset(of: running) || window.ahead.isEmpty)
            #expect(window.ahead.count <= window.limit && window.ahead.allSatisfy { 0..<count ~= $0 })
            #expect(Set(change.start).isDisjoint(with: visible))
        }
        running.subtract(window.reset(count: 3).drop)
        #expect(running.isEmpty)
    }

    @Test("An excessive number of pages is limited", arguments: [1e300, .greatestFiniteMagnitude])
    func hugePages(pages: Double) {
        var window = PrefetchWindow(count: 30, pages: pages, limit: .max)
        #expect(window.show(0..<10).start == Array(10..<30))
    }
}
