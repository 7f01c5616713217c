// SPDX-License-Identifier: MIT

import Testing
import WebImageConcurrency
import WebImageCore
import WebImageTestSupport
import WebImageTesting

@Suite("Worker pool: threads and order", .timeLimit(.minutes(5)))
struct WorkerPoolTests {
    private final class Place: Sendable {
        let made: Shared<Int>
        let left: TestGate

        init(_ made: Shared<Int>, _ left: TestGate = TestGate()) {
            self.made = made
            self.left = left
            made.update { $0 += 1 }
        }

        deinit { left.open() }
    }

    private typealias Pool = WorkerPool<Place, RequestPriority>

    @Test("Threads start when there is work for them, and idle threads are reused")
    func threadsStartLate() async {
        let made = Shared(0)
        let pool = Pool(name: "test", threads: 4) { Place(made) }
        #expect(made.value == 0)
        for number in 0..<10 {
            #expect(await pool.run(.normal) { _ in number } == number)
            // The thread has finished its work. It's idle again or will be soon.
            await untilTrue { pool.load == 0 }
        }
        #expect(made.value >= 1 && made.value <= 4)
        let (gate, running) = (TestGate(), Shared(0))
        async let results = withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    await pool.run(.normal) { _ in
                        running.update { $0 += 1 }
                        gate.blockingWait()
                    }
                }
            }
        }
        await untilTrue { running.value == 4 }
        #expect(made.value == 4)
        gate.open()
        await results
    }

    @Test("Work runs by priority, which can change while it waits, and in order within one priority")
    func order() async {
        let pool = Pool(name: "test", threads: 1) { Place(Shared(0)) }
        let (gate, running, log) = (TestGate(), TestGate(), Shared<[Int]>([]))
        _ = try? pool.submit(.veryHigh) { _ in
            running.open()
            gate.blockingWait()
        }
        await running.wait()
        let ids = [RequestPriority.normal, .low, .normal, .high].enumerated().compactMap { number, priority in
            try? pool.submit(priority) { _ in log.update { $0.append(number) } }
        }
        #expect(ids.count == 4 && pool.waitingCount == 4)
        pool.setPriority(ids[1], .veryHigh)
        #expect(pool.withdraw(ids[2]))
        #expect(!pool.withdraw(ids[2]))
        gate.open()
        await untilTrue { pool.load == 0 }
        #expect(log.value == [1, 3, 0])
    }

    @Test("A closed pool finishes the waiting work, rejects new work, and releases its contexts")
    func closing() async throws {
        let (gate, running, left) = (TestGate(), TestGate(), TestGate())
        let pool = Pool(name: "test", threads: 1) { Place(Shared(0), left) }
        try pool.submit(.normal) { _ in
            running.open()
            gate.blockingWait()
        }
        await running.wait()
        async let waiting = pool.run(.normal) { _ in 7 }
        await untilTrue { pool.waitingCount == 1 }
        pool.close()
        #expect(throws: Pool.Refusal.closed) { try pool.submit(.normal) { _ in } }
        #expect(await pool.run(.normal) { _ in 8 } == nil)
        gate.open()
        #expect(await waiting == 7)
        await left.wait()
    }

    @Test("Work beyond the waiting limit is rejected")
    func full() async throws {
        let pool = Pool(name: "test", threads: 1, waitingLimit: 1) { Place(Shared(0)) }
        let (gate, running) = (TestGate(), TestGate())
        try pool.submit(.normal) { _ in
            running.open()
            gate.blockingWait()
        }
        await running.wait()
        try pool.submit(.normal) { _ in }
        #expect(throws: Pool.Refusal.full(limit: 1)) { try pool.submit(.normal) { _ in } }
        gate.open()
    }
}
