// SPDX-License-Identifier: MIT

import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTPTesting
import WebImageTestSupport

@Suite("Worker watchdog: decisions")
struct WorkerWatchStateMachineTests {
    private typealias Machine = WorkerWatchStateMachine

    /// Returns the second at which work with a limit of 5 seconds is lost, or `nil` if it isn't lost in 1,000 seconds.
    /// `rate` is the processor time per second.
    private func secondOfLoss(rate: Double?) -> Int? {
        var machine = Machine()
        machine.begin(1, subject: "a", limit: 5, processor: rate.map { _ in 100 }, now: 50)
        for second in 1...1_000 {
            let losses = machine.check(now: 50 + Double(second)) { _ in rate.map { 100 + $0 * Double(second) } }
            if !losses.isEmpty { return second }
        }
        return nil
    }

    @Test("Work that computes is lost at twice its limit, also on a busy machine, and blocked work at the same time")
    func losses() {
        #expect(secondOfLoss(rate: 1) == 10)
        #expect(secondOfLoss(rate: 0) == 10)
        // Each of four threads per core gets a quarter of the time.
        #expect(secondOfLoss(rate: 0.25) == 40)
        // Slow progress isn't a block, but it can't last indefinitely.
        #expect(secondOfLoss(rate: 0.02) == 100)
        // Without a processor clock, only a long time counts.
        #expect(secondOfLoss(rate: nil) == 100)
    }

    @Test("The patience is at least two seconds more than the limit")
    func patience() {
        #expect(Machine.patience(limit: 10) == 20)
        #expect(Machine.patience(limit: 0.5) == 2.5)
        #expect(Machine.patience(limit: -1) == 2)
        #expect(Machine.patience(limit: -.infinity) == 2)
    }

    @Test("A process that was stopped for an hour loses no work")
    func stopped() {
        var machine = Machine()
        machine.begin(1, subject: nil, limit: 5, processor: 0, now: 0)
        #expect(machine.check(now: 1) { _ in 0.5 }.isEmpty)
        #expect(machine.check(now: 3_601) { _ in 0.5 }.isEmpty)
        #expect(machine.check(now: 3_602) { _ in 1.5 }.isEmpty)
        #expect(!machine.end(1) && !machine.needsChecks)
    }

    @Test("After two lost threads, a subject is rejected until a thread returns, and other subjects continue")
    func refusal() {
        var machine = Machine()
        for id in 1...3 {
            machine.begin(id, subject: id == 3 ? "b" : "a", limit: 1, processor: 0, now: 0)
        }
        for second in 1...3 { _ = machine.check(now: Double(second)) { $0 == 3 ? nil : 0 } }
        #expect(machine.lostCount == 2)
        #expect(machine.refusal(of: "a")?.actual == 2 && machine.refusal(of: "a")?.limit == 2)
        #expect(machine.refusal(of: "b") == nil && machine.refusal(of: nil) == nil)
        let isLost = machine.end(1)
        #expect(isLost && machine.refusal(of: "a") == nil)
    }

    @Test("Random work matches a model, and every work item ends or is lost once", arguments: 0..<20)
    func model(_ seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        var limits = Machine.Limits()
        limits.total = 4
        var machine = Machine(limits: limits)
        var now = 0.0
        var subjects: [Int: String] = [:]
        var processor: [Int: Double] = [:]
        var (running, lost): (Set<Int>, Set<Int>) = ([], [])
        for id in 0..<400 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                let subject = ["a", "b", "c"].randomElement(using: &generator) ?? "a"
                let isFull = lost.count >= 4 || lost.count { subjects[$0] == subject } >= 2
                #expect((machine.refusal(of: subject) != nil) == isFull)
                guard !isFull else { continue }
                subjects[id] = subject
                processor[id] = 0
                machine.begin(id, subject: subject, limit: 3, processor: 0, now: now)
                running.insert(id)
            case 1:
                guard let id = (running.union(lost)).sorted().randomElement(using: &generator) else { continue }
                let wasLost = machine.end(id)
                #expect(wasLost == lost.contains(id))
                running.remove(id)
                lost.remove(id)
            default:
                now += 1
                for id in running { processor[id]? += id.isMultiple(of: 3) ? 1 : 0.5 }
                let losses = machine.check(now: now) { processor[$0] }
                let expected = running.filter { (processor[$0] ?? 0) >= Machine.patience(limit: 3) }
                #expect(Set(losses.map(\.id)) == expected)
                running.subtract(expected)
                lost.formUnion(expected)
            }
            #expect(machine.lostCount == lost.count && machine.needsChecks == !running.isEmpty)
        }
    }
}

@Suite("Worker pool: unresponsive work", .timeLimit(.minutes(5)))
struct WorkerPoolWatchTests {
    private typealias Pool = WorkerPool<Int, RequestPriority>

    private let clock = TestClock()

    private func pool(threads: Int, costLimit: Int = .max) -> Pool {
        Pool(name: "test", threads: threads, costLimit: costLimit, time: TimeSource(clock)) { 0 }
    }

    private func watch(
        _ subject: String?, lost: TestGate, refused: TestGate = TestGate()
    ) -> Pool.Watch {
        Pool.Watch(subject: subject, limit: 1, whenLost: { _ in lost.open() }, whenRefused: { _ in refused.open() })
    }

    /// Blocks a thread until `gate` opens, and returns after the watchdog gave it up.
    private func lose(_ pool: Pool, _ subject: String, cost: Int = 0, until gate: TestGate) async throws {
        let (begun, lost) = (TestGate(), TestGate())
        try pool.submit(.normal, cost: cost, watch: watch(subject, lost: lost)) { _ in
            begun.open()
            gate.blockingWait()
        }
        await begun.wait()
        while !lost.isOpen {
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(1))
            await untilTrue { lost.isOpen || clock.sleeperCount > 0 }
        }
    }

    @Test("A thread that blocks is replaced, so the only thread of a pool runs later work")
    func replaced() async throws {
        let pool = pool(threads: 1)
        let gate = TestGate()
        try await lose(pool, "a", until: gate)
        #expect(pool.lostThreadCount == 1 && pool.load == 0)
        #expect(await pool.run(.normal) { _ in 7 } == 7)
        gate.open()
        await untilTrue { pool.lostThreadCount == 0 }
        #expect(await pool.run(.normal) { _ in 8 } == 8)
    }

    @Test("Work that waits behind a blocked thread runs after the loss")
    func waiting() async throws {
        let pool = pool(threads: 1)
        let (gate, begun, lost) = (TestGate(), TestGate(), TestGate())
        defer { gate.open() }
        try pool.submit(.normal, watch: watch("a", lost: lost)) { _ in
            begun.open()
            gate.blockingWait()
        }
        await begun.wait()
        let later = Task { await pool.run(.normal) { _ in 7 } }
        await untilTrue { pool.waitingCount == 1 }
        while !lost.isOpen {
            clock.advance(by: .seconds(1))
            await untilTrue { lost.isOpen || clock.sleeperCount > 0 }
        }
        #expect(await later.value == 7)
    }

    @Test("The cost of lost work remains charged until its thread returns")
    func cost() async throws {
        let pool = pool(threads: 2, costLimit: 100)
        let gate = TestGate()
        try await lose(pool, "a", cost: 80, until: gate)
        #expect(pool.costInFlight == 80)
        gate.open()
        await untilTrue { pool.costInFlight == 0 }
    }

    @Test("After two lost threads, work on the same subject is rejected, and other work runs")
    func refused() async throws {
        let pool = pool(threads: 2)
        let gate = TestGate()
        for _ in 0..<2 { try await lose(pool, "a", until: gate) }
        let (refused, ran) = (TestGate(), Shared(false))
        try pool.submit(.normal, watch: watch("a", lost: TestGate(), refused: refused)) { _ in ran.value = true }
        await refused.wait()
        #expect(!ran.value)
        #expect(await pool.run(.normal) { _ in 7 } == 7)
        gate.open()
        await untilTrue { pool.lostThreadCount == 0 }
        let again = TestGate()
        try pool.submit(.normal, watch: watch("a", lost: TestGate(), refused: TestGate())) { _ in again.open() }
        await again.wait()
    }

    @Test("The watchdog ends when no watched work runs, and unwatched work never starts it")
    func idle() async throws {
        let pool = pool(threads: 1)
        #expect(await pool.run(.normal) { _ in 7 } == 7)
        #expect(clock.sleeperCount == 0)
        let done = TestGate()
        try pool.submit(.normal, watch: watch(nil, lost: TestGate())) { _ in done.open() }
        await done.wait()
        await untilTrue { pool.load == 0 }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        // A second watchdog would sleep, too.
        let next = TestGate()
        await untilTrue { clock.sleeperCount == 0 }
        try pool.submit(.normal, watch: watch(nil, lost: TestGate())) { _ in next.blockingWait() }
        await clock.waitForSleepers(count: 1)
        #expect(clock.sleeperCount == 1)
        next.open()
    }
}
