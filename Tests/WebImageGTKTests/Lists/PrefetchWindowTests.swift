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
