// SPDX-License-Identifier: MIT

import Testing
import WebImageCore
import WebImageTestSupport

@testable import WebImage

@Suite("Work queue")
struct WorkQueueTests {
    private func entry(_ id: Int, cost: Int = 0) -> WorkQueue<Int>.Entry { .init(id: id, cost: cost, item: id) }

    @Test("urgent before ordinary, first come first served within a level")
    func order() {
        var queue = WorkQueue<Int>()
        queue.push(entry(1), .normal)
        queue.push(entry(2), .low)
        queue.push(entry(3), .normal)
        queue.push(entry(4), .veryHigh)
        queue.setPriority(2, .high)
        let order = (0..<4).compactMap { _ in queue.popFirst { _ in true }?.id }
        #expect(order == [4, 2, 1, 3])
        #expect(queue.isEmpty)
    }

    @Test("what does not fit the budget holds back what is behind it")
    func budget() {
        var queue = WorkQueue<Int>()
        queue.push(entry(1, cost: 100), .normal)
        queue.push(entry(2, cost: 1), .normal)
        #expect(queue.popFirst { $0.cost < 50 } == nil)
        #expect(queue.count == 2)
        #expect(queue.popFirst { _ in true }?.id == 1)
    }

    @Test("random pushes, moves, removals and pops agree with a sorted list", arguments: [11, 12, 13] as [UInt64])
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = WorkQueue<Int>()
        var list: [(id: Int, priority: RequestPriority, since: Int)] = []
        for step in 0..<5_000 {
            let priority = RequestPriority.allCases.randomElement(using: &random) ?? .normal
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                queue.push(entry(step), priority)
                list.append((step, priority, step))
            case 2:
                guard let index = list.indices.randomElement(using: &random) else { continue }
                queue.setPriority(list[index].id, priority)
                if list[index].priority != priority { list[index] = (list[index].id, priority, step) }
            case 3:
                guard let index = list.indices.randomElement(using: &random) else { continue }
                #expect(queue.remove(list[index].id) != nil)
                list.remove(at: index)
            default:
                let first = list.min { $0.priority == $1.priority ? $0.since < $1.since : $0.priority > $1.priority }
                #expect(queue.popFirst { _ in true }?.id == first?.id)
                list.removeAll { $0.id == first?.id }
            }
            #expect(queue.count == list.count)
        }
    }
}
