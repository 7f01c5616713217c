// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@testable import WebImageNet

@Suite("Queues")
struct QueueTests {
    private func starts(_ queue: inout TransferQueue, _ count: Int) -> [UInt64?] {
        (0..<count).map { _ in queue.next() }
    }

    @Test("Each origin has its slots, HTTP/2 origins have more, and the total is limited")
    func places() {
        var queue = TransferQueue(perOrigin: 2, perMultiplexedOrigin: 4, total: 3)
        for id in 1...6 { queue.enqueue(UInt64(id), origin: "a", priority: .normal) }
        for id in 11...13 { queue.enqueue(UInt64(id), origin: "b", priority: .low) }
        #expect(starts(&queue, [1, 2, 11, nil].count) == [1, 2, 11, nil])
        queue.setMultiplexed("a")
        // The two streams of origin a now share one connection. One connection is free for b, and a has two more slots.
        #expect(starts(&queue, [3, 4, 12, nil].count) == [3, 4, 12, nil])
        for _ in 0..<4 { queue.release(origin: "a") }
        #expect(starts(&queue, [5, 6, nil].count) == [5, 6, nil])
        queue.release(origin: "b")
        #expect(starts(&queue, 1) == [13])
        #expect(queue.waitingCount == 0)
    }

    @Test("Origins of equal priority take turns, and a higher priority goes first")
    func turns() {
        var queue = TransferQueue(perOrigin: 10, perMultiplexedOrigin: 10, total: 100)
        for id in 1...3 { queue.enqueue(UInt64(id), origin: "a", priority: .normal) }
        for id in 11...12 { queue.enqueue(UInt64(id), origin: "b", priority: .normal) }
        queue.setPriority(12, .high)
        #expect(starts(&queue, 6) == [12, 1, 11, 2, 3, nil])
        #expect(queue.waitingCount == 0)
    }

    @Test("Random operations keep all limits, lose no entry, and start every entry that can start")
    func admissionModel() {
        var generator = SeededGenerator(seed: 11)
        var queue = TransferQueue(perOrigin: 3, perMultiplexedOrigin: 8, total: 7)
        var model = AdmissionModel(perOrigin: 3, perMultiplexedOrigin: 8, total: 7)
        let origins = ["a", "b", "c", "d", "e"]
        for id in 1...30_000 {
            let priority = RequestPriority(rawValue: Int.random(in: 0..<5, using: &generator)) ?? .normal
            let origin = origins[Int.random(in: 0..<5, using: &generator)]
            switch Int.random(in: 0..<10, using: &generator) {
            case 0...3:
                queue.enqueue(UInt64(id), origin: origin, priority: priority)
                model.waiting[UInt64(id)] = (origin, priority)
            case 4:
                guard let victim = model.waiting.keys.min() else { break }
                let isRemoved = queue.remove(victim)
                #expect(isRemoved)
                model.waiting[victim] = nil
            case 5:
                guard let changed = model.waiting.keys.max() else { break }
                let isChanged = queue.setPriority(changed, priority)
                #expect(isChanged)
                model.waiting[changed]?.priority = priority
            case 6 where id % 1_000 == 0:
                queue.setMultiplexed(origin)
                model.multiplexed.insert(origin)
            default:
                if model.running[origin, default: 0] > 0 {
                    queue.release(origin: origin)
                    model.running[origin, default: 0] -= 1
                }
                let best = model.bestPriority
                guard let started = queue.next() else {
                    #expect(best == nil, "a waiting request can start")
                    break
                }
                guard let entry = model.waiting.removeValue(forKey: started) else {
                    Issue.record("\(started) didn't wait")
                    return
                }
                #expect(entry.priority == best)
                model.running[entry.origin, default: 0] += 1
                #expect(model.isWithinBounds)
            }
            #expect(queue.waitingCount == model.waiting.count)
        }
    }
}

/// A simple model of an admission queue.
private struct AdmissionModel {
    let perOrigin: Int
    let perMultiplexedOrigin: Int
    let total: Int
    var waiting: [UInt64: (origin: String, priority: RequestPriority)] = [:]
    var running: [String: Int] = [:]
    var multiplexed: Set<String> = []

    private func slots(_ origin: String) -> Int { multiplexed.contains(origin) ? perMultiplexedOrigin : perOrigin }

    private var connections: Int {
        running.reduce(0) { $0 + (multiplexed.contains($1.key) ? min($1.value, 1) : $1.value) }
    }

    var isWithinBounds: Bool {
        connections <= total && running.allSatisfy { $0.value <= slots($0.key) }
    }

    /// The highest priority among the entries that may start.
    var bestPriority: RequestPriority? {
        waiting.values.filter { entry in
            let count = running[entry.origin, default: 0]
            let rides = multiplexed.contains(entry.origin) && count > 0
            return count < slots(entry.origin) && (rides || connections < total)
        }.map(\.priority).max()
    }
}
