// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

@Suite("Budget for bodies in flight: decisions")
struct BodyBudgetStateMachineTests {
    private typealias Machine = BodyBudgetStateMachine

    @Test("At the limit, the oldest transfer continues, and the others wait until its body is released")
    func leader() {
        var machine = Machine(limit: 100)
        let ids = (0..<3).map { _ in machine.add(.normal) }
        for id in ids {
            #expect(machine.arrive(id, group: nil).decision == .receive)
            machine.charge(id, 40)
        }
        #expect(machine.used == 120)
        // The first transfer that asks leads, until an older one asks.
        #expect(machine.arrive(ids[1], group: nil).decision == .receive)
        #expect(machine.arrive(ids[0], group: nil).decision == .receive)
        #expect(machine.arrive(ids[1], group: nil).decision == .pause)
        #expect(machine.arrive(ids[2], group: nil).decision == .pause)
        machine.charge(ids[0], 90)
        #expect(machine.pausedCount == 2)
        // The body is still in use, but another transfer leads.
        #expect(machine.finish(ids[0]) == [ids[1]])
        #expect(machine.arrive(ids[1], group: nil).decision == .receive)
        #expect(machine.remove(ids[0]) == [ids[2]])
        #expect(machine.used == 80 && machine.pausedCount == 0)
    }

    @Test("A more urgent transfer becomes the leader, also if its priority changes while it's paused")
    func priority() {
        var machine = Machine(limit: 10)
        let (first, second, third) = (machine.add(.normal), machine.add(.low), machine.add(.high))
        machine.charge(first, 10)
        #expect(machine.arrive(first, group: nil).decision == .receive)
        #expect(machine.arrive(second, group: nil).decision == .pause)
        #expect(machine.arrive(third, group: nil).decision == .receive)
        #expect(machine.arrive(first, group: nil).decision == .pause)
        #expect(machine.setPriority(second, .veryHigh) == [second])
        #expect(machine.arrive(third, group: nil).decision == .pause)
    }

    @Test("Streams of the leader's connection continue, and fail at twice the limit")
    func groups() {
        var machine = Machine(limit: 100)
        let (alone, first, second) = (machine.add(.normal), machine.add(.normal), machine.add(.normal))
        machine.charge(alone, 100)
        #expect(machine.arrive(alone, group: nil).decision == .receive)
        #expect(machine.arrive(first, group: 7).decision == .pause)
        #expect(machine.arrive(second, group: 7).decision == .pause)
        // Both streams resume, because a paused stream blocks the others.
        #expect(machine.finish(alone) == [first, second])
        #expect(machine.arrive(second, group: 7).decision == .receive)
        machine.charge(second, 99)
        #expect(machine.arrive(second, group: 7).decision == .receive)
        machine.charge(second, 100)
        #expect(machine.arrive(second, group: 7).decision == .fail)
        #expect(machine.arrive(first, group: 7).decision == .receive)
    }

    @Test("Finished bodies in use that fill half of the budget stop all transfers until they're released")
    func finished() {
        let limit = 4 * Machine.leastFinishedLimit
        var machine = Machine(limit: limit)
        let (old, new) = (machine.add(.normal), machine.add(.normal))
        machine.charge(old, limit)
        _ = machine.finish(old)
        #expect(machine.arrive(new, group: nil).decision == .pause)
        #expect(machine.setPriority(new, .high) == [])
        #expect(machine.remove(old) == [new])
    }

    @Test(
        "In random orders, some transfer can always continue, all finish, and the memory is bounded",
        arguments: 0..<30)
    func model(_ seed: Int) {
        struct Transfer {
            let size: Int
            var received = 0
            let group: Int?
        }
        var generator = SeededGenerator(seed: UInt64(seed))
        let (limit, largest, chunk) = (64 << 20, 8 << 20, 1 << 20)
        var machine = Machine(limit: limit)
        var running: [Int: Transfer] = [:]
        var (paused, finished): (Set<Int>, [Int]) = ([], [])
        let priorities = RequestPriority.allCases
        for _ in 0..<40 {
            let priority = priorities.randomElement(using: &generator) ?? .normal
            let size = Int.random(in: 1...largest / chunk, using: &generator) * chunk
            running[machine.add(priority)] = Transfer(size: size, group: nil)
        }
        while !running.isEmpty {
            if !finished.isEmpty, Bool.random(using: &generator) {
                let id = finished.remove(at: Int.random(in: 0..<finished.count, using: &generator))
                paused.subtract(machine.remove(id))
            }
            let free = running.keys.filter { !paused.contains($0) }.sorted()
            guard let id = free.randomElement(using: &generator), var transfer = running[id] else {
                // Only bodies in use may stop all transfers, and their release resumes some.
                #expect(!finished.isEmpty)
                guard !finished.isEmpty else { return }
                continue
            }
            let (decision, resumed) = machine.arrive(id, group: transfer.group)
            paused.subtract(resumed)
            guard decision == .receive else {
                paused.insert(id)
                continue
            }
            transfer.received += chunk
            running[id] = transfer
            machine.charge(id, transfer.received)
            // Each priority can interrupt the leader once.
            #expect(machine.used <= limit + machine.finishedLimit + priorities.count * largest + chunk)
            #expect(machine.pausedCount == paused.count)
            guard transfer.received == transfer.size else { continue }
            running[id] = nil
            finished.append(id)
            paused.subtract(machine.finish(id))
        }
        for id in finished { #expect(machine.remove(id).isEmpty) }
        #expect(machine.used == 0 && machine.pausedCount == 0)
    }
}

@Suite("Budget for bodies in flight: downloads", .timeLimit(.minutes(5)))
struct BodyBudgetTests {
    @Test("Eight bodies that exceed the budget arrive completely, and the memory in flight is bounded")
    func bounded() async throws {
        let body = patternBytes(4 << 20)
        let server = try LoopbackServer { _ in .ok(body).with { $0.chunkSize = 64 << 10 } }
        // No other test uses the same budget.
        let limit = (6 << 20) + 1
        let downloader = makeDownloader { $0.maxBodyBytesInFlight = limit }
        let most = Shared(0)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<8 {
                group.addTask {
                    let context = LoadContext { _ in
                        let used = downloader.bodyBytesInFlight
                        most.update { $0 = max($0, used) }
                    }
                    let request = LoadRequest(url: server.url("/\(index)"))
                    return try await downloader.load(request, context: context).body == body
                }
            }
            for try await isEqual in group { #expect(isEqual) }
        }
        #expect(most.value > body.count && most.value <= limit + BodyBudgetStateMachine.leastFinishedLimit + body.count)
        await untilTrue { downloader.bodyBytesInFlight == 0 }
        #expect(downloader.pausedCount == 0)
    }

    @Test("At the limit, a younger transfer is paused beyond its timeouts, and then both bodies are complete")
    func paused() async throws {
        let gate = TestGate()
        let body = patternBytes(2 << 20)
        // The first chunk exceeds the budget, and the second one waits for the gate.
        let slow = LoopbackServer.Response.ok(body).with {
            $0.chunkSize = 3 << 19
            $0.chunkGates = [TestGate(), gate]
            $0.chunkGates[0].open()
        }
        let server = try LoopbackServer(routes: ["/slow": slow, "/fast": .ok(body)])
        let downloader = makeDownloader {
            $0.maxBodyBytesInFlight = (1 << 20) + 1
            $0.minimumSpeed = nil
        }
        let log = ReportLog()
        let first = Task {
            try await downloader.load(LoadRequest(url: server.url("/slow")), context: log.context()).body
        }
        await untilTrue { log.body.count == 3 << 19 }
        let later = ReportLog()
        let second = Task {
            try await downloader.load(LoadRequest(url: server.url("/fast")), context: later.context()).body
        }
        await untilTrue { downloader.pausedCount == 1 }
        #expect(later.body.count < body.count)
        gate.open()
        #expect(try await first.value == body)
        #expect(try await second.value == body)
        #expect(downloader.pausedCount == 0)
    }

    @Test("A paused transfer that is canceled releases its memory")
    func canceled() async throws {
        let gate = TestGate()
        let body = patternBytes(2 << 20)
        let slow = LoopbackServer.Response.ok(body).with {
            $0.chunkSize = 3 << 19
            $0.chunkGates = [TestGate(), gate]
            $0.chunkGates[0].open()
        }
        let server = try LoopbackServer(routes: ["/slow": slow, "/fast": .ok(body)])
        let downloader = makeDownloader { $0.maxBodyBytesInFlight = (1 << 20) + 3 }
        let log = ReportLog()
        let first = Task {
            try await downloader.load(LoadRequest(url: server.url("/slow")), context: log.context()).body
        }
        await untilTrue { log.body.count == 3 << 19 }
        let second = Task { try await downloader.load(server.url("/fast")).body }
        await untilTrue { downloader.pausedCount == 1 }
        second.cancel()
        await #expect(throws: ImageError.cancelled) { try await second.value }
        await untilTrue { downloader.pausedCount == 0 }
        gate.open()
        #expect(try await first.value == body)
        await untilTrue { downloader.bodyBytesInFlight == 0 }
    }
}
