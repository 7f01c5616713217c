// SPDX-License-Identifier: MIT

import Testing
import WebImageConcurrency
import WebImageCore
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Worker pool", .timeLimit(.minutes(5)))
struct WorkerPoolTests {
    private typealias WorkerPool = WebImage.WorkerPool

    /// Blocks the pool's only thread until `gate` opens.
    private func block(_ pool: WorkerPool, _ gate: TestGate) async -> Task<Void, any Error> {
        let running = TestGate()
        let task = Task {
            try await pool.run(cost: 0, priority: SharedPriority(.veryHigh), limits: .unlimited) { _ in
                running.open()
                gate.blockingWait()
            }
        }
        await running.wait()
        return task
    }

    @Test("Work with a raised priority overtakes other waiting work")
    func overtakes() async throws {
        let pool = WorkerPool(threads: 1)
        let gate = TestGate()
        let blocker = await block(pool, gate)
        let log = Shared<[String]>([])
        let late = SharedPriority(.low)
        let tasks = [("a", SharedPriority(.normal)), ("b", late)].map { name, priority in
            Task {
                try await pool.run(cost: 0, priority: priority, limits: .unlimited) { _ in
                    log.update { $0.append(name) }
                }
            }
        }
        await untilTrue { pool.load == 3 }
        late.value = .high
        gate.open()
        try await blocker.value
        for task in tasks { try await task.value }
        #expect(log.value == ["b", "a"])
    }

    @Test("A closed pool finishes the waiting work and rejects new work immediately")
    func closed() async throws {
        let pool = WorkerPool(threads: 1)
        let gate = TestGate()
        let blocker = await block(pool, gate)
        let waiting = Task {
            try await pool.run(cost: 0, priority: SharedPriority(.normal), limits: .unlimited) { _ in 1 }
        }
        await untilTrue { pool.load == 2 }
        pool.close()
        await #expect(throws: ImageError.request(.managerShutDown)) {
            try await pool.run(cost: 0, priority: SharedPriority(.normal), limits: .unlimited) { _ in 2 }
        }
        gate.open()
        try await blocker.value
        #expect(try await waiting.value == 1)
    }

    @Test("Waiting work that is canceled never runs and throws immediately")
    func cancelWaiting() async throws {
        let pool = WorkerPool(threads: 1)
        let gate = TestGate()
        let blocker = await block(pool, gate)
        let log = Shared<[String]>([])
        let waiting = Task {
            try await pool.run(cost: 0, priority: SharedPriority(.normal), limits: .unlimited) { _ in
                log.update { $0.append("ran") }
            }
        }
        await untilTrue { pool.load == 2 }
        waiting.cancel()
        await #expect(throws: ImageError.cancelled) { try await waiting.value }
        #expect(pool.load == 1)
        gate.open()
        try await blocker.value
        #expect(log.value.isEmpty)
    }

    @Test("Running work that is canceled ends at its next checkpoint")
    func cancelRunning() async throws {
        let pool = WorkerPool(threads: 1)
        let running = TestGate()
        let task = Task {
            try await pool.run(cost: 0, priority: SharedPriority(.normal), limits: .unlimited) {
                context throws(ImageError) in
                running.open()
                while true { try context.checkCancellation() }
            }
        }
        await running.wait()
        task.cancel()
        await #expect(throws: ImageError.cancelled) { try await task.value }
    }

    @Test("Work beyond the byte budget waits, but a single item may exceed the budget")
    func budget() async throws {
        let pool = WorkerPool(threads: 4, byteBudget: 100)
        let now = Shared(0)
        let most = Shared(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                let cost = index == 7 ? 500 : 50
                group.addTask {
                    try await pool.run(cost: cost, priority: SharedPriority(.normal), limits: .unlimited) { _ in
                        let running = now.update { running in
                            running += cost
                            return running
                        }
                        most.update { $0 = max($0, running) }
                        now.update { $0 -= cost }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(most.value == 500)
        await untilTrue { pool.load == 0 }
    }

    @Test("The context contains the idle threads, and two concurrent decodes share them")
    func extraThreads() async throws {
        let pool = WorkerPool(threads: 3)
        let gate = TestGate()
        let counts = Shared<[Int]>([])
        var tasks: [Task<Void, any Error>] = []
        for number in 1...2 {
            tasks.append(
                Task {
                    try await pool.run(
                        cost: 0, priority: SharedPriority(.normal), limits: .unlimited,
                        extraThreads: ExtraThreads(limit: 1)
                    ) { context in
                        counts.update { $0.append(context.threadCount) }
                        gate.blockingWait()
                    }
                })
            await untilTrue { counts.value.count == number }
        }
        // Two jobs and one more thread are the three threads of the pool.
        #expect(counts.value == [2, 1] && pool.lentThreadCount == 1)
        gate.open()
        for task in tasks { try await task.value }
        // The threads are returned before the requester continues.
        #expect(pool.lentThreadCount == 0)
    }

    @Test("Only large images of some formats request threads, up to the limit of the configuration")
    func threadRequests() throws {
        func info(_ format: ImageFormat, _ width: Int, _ height: Int) -> ImageInfo {
            ImageInfo(format: format, storedSize: PixelSize(width: width, height: height))
        }
        let large = info(.jxl, 4_000, 3_000)
        #expect(ExtraThreads(for: large, limit: 4).limit == 3)
        #expect(ExtraThreads(for: large, limit: 64).limit == 7)
        #expect(ExtraThreads(for: large, limit: 1).limit == 0 && ExtraThreads(for: large, limit: 0).limit == 0)
        #expect(ExtraThreads(for: info(.avif, 1_999, 2_000), limit: 4).limit == 0)
        #expect(ExtraThreads(for: info(.webp, 4_000, 3_000), limit: 4).limit == 0)
        #expect(ExtraThreads(for: nil, limit: 4) == ExtraThreads())
        // The second thread of a PNG image holds rows with up to 4 bytes per pixel.
        #expect(ExtraThreads(for: info(.png, 2_000, 1_000), limit: 4) == ExtraThreads(limit: 1, byteCount: 8_000_000))
        #expect(ExtraThreads(for: info(.png, 1_999, 1_000), limit: 4) == ExtraThreads())
        #expect(ExtraThreads(for: info(.png, 5_000, 4_000), limit: 4) == ExtraThreads())
    }

    @Test("Work beyond the waiting limit is rejected as overloaded")
    func overloaded() async throws {
        let pool = WorkerPool(threads: 1, waitingLimit: 1)
        let gate = TestGate()
        let blocker = await block(pool, gate)
        let waiting = Task {
            try await pool.run(cost: 0, priority: SharedPriority(.normal), limits: .unlimited) { _ in }
        }
        await untilTrue { pool.load == 2 }
        await #expect(throws: ImageError.limitExceeded(ImageError.LimitFailure(.overloaded, limit: 1, actual: 2))) {
            try await pool.run(cost: 0, priority: SharedPriority(.normal), limits: .unlimited) { _ in }
        }
        gate.open()
        try await blocker.value
        try await waiting.value
    }

    @Test("A thread limit runs one item at a time, and removing it lets the others run")
    func threadLimit() async throws {
        let pool = WorkerPool(threads: 3)
        pool.limit(toThreads: 1)
        let gate = TestGate()
        let blocker = await block(pool, gate)
        let log = Shared<[String]>([])
        let (bothRun, mayEnd) = (TestGate(), TestGate())
        let tasks = ["a", "b"].map { name in
            Task {
                try await pool.run(cost: 0, priority: SharedPriority(.normal), limits: .unlimited) { _ in
                    if log.update({
                        $0.append(name); return $0.count
                    }) == 2 {
                        bothRun.open()
                    }
                    mayEnd.blockingWait()
                }
            }
        }
        await untilTrue { pool.load == 3 }
        #expect(log.value.isEmpty)
        pool.limit(toThreads: nil)
        await bothRun.wait()
        gate.open()
        mayEnd.open()
        try await blocker.value
        for task in tasks { try await task.value }
    }
}
