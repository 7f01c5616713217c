// SPDX-License-Identifier: MIT

import Testing
import WebImageConcurrency
import WebImageCore
import WebImageTestSupport

@Suite("Priority queue")
struct PriorityQueueTests {
    @Test("The queue returns the highest priority first, and the oldest element first within a priority")
    func levels() {
        var queue = PriorityQueue<String, RequestPriority>()
        queue.push("a", .normal)
        queue.push("b", .high)
        queue.push("c", .normal)
        queue.push("d", .veryLow)
        queue.push("a", .normal)
        #expect(queue.topPriority == .high && queue.count == 4)
        queue.push("d", .veryHigh)
        let removals = [queue.remove("b"), queue.remove("b")]
        #expect(removals == [true, false])
        let order = [queue.pop(), queue.pop(), queue.pop(), queue.pop()]
        #expect(order == ["d", "a", "c", nil])
        #expect(queue.isEmpty && queue.topPriority == nil)
    }

    @Test("Random operations match a plain list")
    func levelModel() {
        var generator = SeededGenerator(seed: 3)
        var queue = PriorityQueue<Int, RequestPriority>()
        var model: [(element: Int, priority: RequestPriority)] = []
        for _ in 0..<50_000 {
            let element = Int.random(in: 0..<40, using: &generator)
            let priority = RequestPriority(rawValue: Int.random(in: 0..<5, using: &generator)) ?? .normal
            switch Int.random(in: 0..<4, using: &generator) {
            case 0, 1:
                queue.push(element, priority)
                if model.first(where: { $0.element == element })?.priority == priority { break }
                model.removeAll { $0.element == element }
                model.append((element, priority))
            case 2:
                let isRemoved = queue.remove(element)
                #expect(isRemoved == model.contains { $0.element == element })
                model.removeAll { $0.element == element }
            default:
                let top = model.map(\.priority).max()
                let expected = model.first { $0.priority == top }?.element
                #expect(queue.topPriority == top)
                #expect(queue.first == expected)
                let popped = queue.pop()
                #expect(popped == expected)
                model.removeAll { $0.element == expected }
            }
            #expect(queue.count == model.count)
        }
    }

    @Test("A last-in, first-out queue returns the newest element first within a priority")
    func lastInFirstOut() {
        var queue = PriorityQueue<Int, RequestPriority>(order: .lastInFirstOut)
        queue.push(1, .normal)
        queue.push(2, .normal)
        queue.push(3, .low)
        queue.push(4, .low)
        let order = (0..<4).map { _ in queue.pop() }
        #expect(order == [2, 1, 4, 3])
    }

    @Test("A FIFO returns all elements in order, also after many pushes and pops")
    func fifo() {
        var queue = FIFOQueue<Int>()
        var taken: [Int] = []
        for number in 0..<1_000 {
            queue.push(number)
            if number % 3 != 0, let element = queue.pop() { taken.append(element) }
        }
        while let element = queue.pop() { taken.append(element) }
        #expect(taken == Array(0..<1_000))
        #expect(queue.isEmpty && queue.pop() == nil)
    }
}
