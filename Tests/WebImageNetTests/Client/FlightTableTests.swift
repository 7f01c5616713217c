// SPDX-License-Identifier: MIT

import Testing
import WebImageCore
import WebImageTestSupport
import WebImageTesting

@testable import WebImageNet

@Suite("Work that is shared by equal requests")
struct FlightTableTests {
    private let table = FlightTable<String, Int>()

    @Test("All who come while it runs share it, and one of them started it")
    func sharing() async throws {
        let gate = Gate()
        let runs = Shared(0)
        let body: FlightTable<String, Int>.Body = { _ in
            runs.update { $0 += 1 }
            await gate.wait()
            return 7
        }
        let tasks = (0..<20).map { _ in Task { try await table.value(for: "a", body) } }
        await untilTrue { table.waiterCount(of: "a") == 20 }
        gate.open()
        var first = 0
        for task in tasks {
            let landing = try await task.value
            #expect(landing.value == 7)
            first += landing.isFirst ? 1 : 0
        }
        #expect(first == 1 && runs.value == 1 && table.count == 0)
    }

    @Test("A caller that leaves does not disturb the others; the last one ends the work")
    func leaving() async throws {
        let gate = Gate()
        let ended = Gate()
        let body: FlightTable<String, Int>.Body = { _ in
            await gate.wait()
            if Task.isCancelled { ended.open() }
            return 1
        }
        let one = Task { try await table.value(for: "a", body) }
        let two = Task { try await table.value(for: "a", body) }
        await untilTrue { table.waiterCount(of: "a") == 2 }
        one.cancel()
        await #expect(throws: ImageError.request(.cancelled)) { try await one.value }
        #expect(table.waiterCount(of: "a") == 1 && !ended.isOpen)
        two.cancel()
        await #expect(throws: ImageError.request(.cancelled)) { try await two.value }
        await ended.wait()
        #expect(table.count == 0)
    }

    @Test("Work for nobody runs once however often it is launched, and errors reach all")
    func launching() async throws {
        let gate = Gate()
        let runs = Shared(0)
        for _ in 0..<10 {
            table.launch("a") { _ async throws(ImageError) -> Int in
                runs.update { $0 += 1 }
                await gate.wait()
                throw .request(.managerClosed)
            }
        }
        let waiter = Task { try await table.value(for: "a") { _ async throws(ImageError) -> Int in 3 } }
        await untilTrue { table.waiterCount(of: "a") == 1 }
        gate.open()
        await #expect(throws: ImageError.request(.managerClosed)) { try await waiter.value }
        await table.waitUntilIdle { _ in true }
        #expect(runs.value == 1)
    }

    @Test("The work has the highest priority of its callers, and a lower one when that caller leaves")
    func priorities() async throws {
        let gate = Gate()
        let seen = Shared<[RequestPriority]>([])
        let running = Gate()
        let body: FlightTable<String, Int>.Body = { context in
            seen.update { $0.append(context.priority) }
            context.observePriority { priority in seen.update { $0.append(priority) } }
            running.open()
            await gate.wait()
            return 1
        }
        let low = Task { try await table.value(for: "a", priority: .low, body) }
        await running.wait()
        let high = Task { try await table.value(for: "a", priority: .veryHigh, body) }
        await untilTrue { seen.value.count == 2 }
        let normal = Task { try await table.value(for: "a", priority: .normal, body) }
        await untilTrue { table.waiterCount(of: "a") == 3 }
        high.cancel()
        await untilTrue { seen.value.count == 3 }
        gate.open()
        #expect(try await low.value.value == 1)
        #expect(try await normal.value.value == 1)
        #expect(seen.value == [.low, .veryHigh, .normal])
    }
}
