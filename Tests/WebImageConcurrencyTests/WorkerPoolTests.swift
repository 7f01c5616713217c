// SPDX-License-Identifier: MIT

import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTPTesting
import WebImageTestSupport

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

    /// Lends threads in work that runs until `gate` opens, and returns their number.
    private func borrow(_ count: Int, cost: Int = 0, from pool: Pool, until gate: TestGate) async -> Int {
        await withCheckedContinuation { continuation in
            _ = try? pool.submit(.normal) { _ in
                pool.withIdleThreads(upTo: count, cost: cost) { lent in
                    continuation.resume(returning: lent)
                    gate.blockingWait()
                }
            }
        }
    }

    @Test("Running and lent threads together never exceed the threads of the pool when threads are lent")
    func lends() async {
        let pool = Pool(name: "test", threads: 4) { Place(Shared(0)) }
        let gate = TestGate()
        #expect(await borrow(2, from: pool, until: gate) == 2)
        // Two threads run, and two are lent.
        #expect(await borrow(3, from: pool, until: gate) == 0)
        #expect(pool.lentThreadCount == 2)
        gate.open()
        await untilTrue { pool.load == 0 }
        #expect(pool.lentThreadCount == 0)
        let second = TestGate()
        #expect(await borrow(8, from: pool, until: second) == 3)
        // Lent threads don't delay work.
        #expect(await pool.run(.low) { _ in 1 } == 1)
        second.open()
        await untilTrue { pool.load == 0 }
    }

    @Test("The cost of lent threads is charged, and the cost limit and the limit of threads bound their number")
    func chargesLentThreads() async {
        let pool = Pool(name: "test", threads: 8, costLimit: 35) { Place(Shared(0)) }
        let (first, second) = (TestGate(), TestGate())
        #expect(await borrow(8, cost: 10, from: pool, until: first) == 3)
        #expect(pool.costInFlight == 30)
        first.open()
        await untilTrue { pool.load == 0 }
        #expect(pool.costInFlight == 0)
        pool.limit(toThreads: 2)
        #expect(await borrow(8, from: pool, until: second) == 1)
        second.open()
    }

    @Test("While work waits, no thread is lent")
    func lendsNothingToWaitingWork() async {
        let pool = Pool(name: "test", threads: 3, costLimit: 10) { Place(Shared(0)) }
        let (running, gate) = (TestGate(), TestGate())
        let lent = Shared<Int?>(nil)
        _ = try? pool.submit(.normal, cost: 10) { _ in
            running.open()
            gate.blockingWait()
            pool.withIdleThreads(upTo: 1) { count in lent.update { $0 = count } }
        }
        await running.wait()
        // Both exceed the cost limit, so they wait although two threads are idle.
        for _ in 0..<2 { _ = try? pool.submit(.normal, cost: 10) { _ in } }
        gate.open()
        await untilTrue { pool.load == 0 }
        #expect(lent.value == 0)
    }

    @Test("Work that waits for other processes occupies neither the threads of other work nor all processes")
    func lanes() async {
        let pool = Pool(name: "test", threads: 1, waitingThreads: 3) { Place(Shared(0)) }
        let (gate, running) = (TestGate(), Shared<[Pool.Lane: Int]>([:]))
        for lane in [Pool.Lane.waitingLong, .waiting] {
            for _ in 0..<5 {
                _ = try? pool.submit(.veryHigh, lane: lane) { _ in
                    running.update { $0[lane, default: 0] += 1 }
                    gate.blockingWait()
                }
            }
        }
        await untilTrue { running.value == [.waitingLong: 2, .waiting: 3] }
        for number in 0..<3 { #expect(await pool.run(.veryLow) { _ in number } == number) }
        // The result of work arrives before its thread is free.
        await untilTrue { pool.load == 10 }
        #expect(running.value == [.waitingLong: 2, .waiting: 3] && pool.waitingCount == 5)
        gate.open()
        await untilTrue { pool.load == 0 }
        #expect(running.value == [.waitingLong: 5, .waiting: 5])
    }

    @Test("Work that waits has at most half of the cost, and costs delay no other lane longer than one work item")
    func costOfLanes() async {
        let pool = Pool(name: "test", threads: 4, waitingThreads: 4, costLimit: 100) { Place(Shared(0)) }
        let (gate, running) = (TestGate(), Shared<[String]>([]))
        func start(_ name: String, _ cost: Int, _ lane: Pool.Lane) {
            _ = try? pool.submit(.normal, cost: cost, lane: lane) { _ in
                running.update { $0.append(name) }
                gate.blockingWait()
            }
        }
        start("first", 40, .waiting)
        start("second", 20, .waiting)
        // It would fit, but the work before it doesn't.
        start("third", 1, .waiting)
        await untilTrue { running.value == ["first"] }
        start("computing", 60, .computing)
        await untilTrue { running.value == ["first", "computing"] }
        // One work item of each lane starts regardless of the costs.
        start("long", 30, .waitingLong)
        await untilTrue { running.value == ["first", "computing", "long"] }
        start("last", 1, .computing)
        #expect(pool.waitingCount == 3 && pool.costInFlight == 130)
        gate.open()
        await untilTrue { pool.load == 0 }
        #expect(pool.costInFlight == 0 && running.value.count == 6)
    }

    @Test("Waiting work of each lane can be withdrawn, moved by priority, and finished by a closed pool")
    func controlOfLanes() async throws {
        for lane in Pool.Lane.allCases {
            let pool = Pool(name: "test", threads: 1, waitingThreads: 1) { Place(Shared(0)) }
            let (gate, log) = (TestGate(), Shared<[Int]>([]))
            let first = try pool.submit(.normal, lane: lane) { _ in gate.blockingWait() }
            await untilTrue { pool.waitingCount == 0 }
            let numbers = try (0..<3).map { number in
                try pool.submit(.normal, lane: lane) { _ in log.update { $0.append(number) } }
            }
            pool.setPriority(numbers[2], .high)
            #expect(pool.withdraw(numbers[0]) && !pool.withdraw(numbers[0]) && !pool.withdraw(first))
            pool.close()
            gate.open()
            await untilTrue { pool.load == 0 }
            #expect(log.value == [2, 1], "\(lane)")
        }
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
