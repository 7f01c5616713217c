// SPDX-License-Identifier: MIT

import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTPTesting
import WebImageTestSupport

private typealias LivePriority = ObservableValue<RequestPriority>

@Suite("Shared jobs", .timeLimit(.minutes(5)))
struct SharedJobsTests {
    typealias Jobs = SharedJobs<String, Int, Int, RequestPriority, ImageError>

    @Test("A hundred concurrent subscribers share one run")
    func coalesces() async {
        let jobs = Jobs(cancelled: .cancelled)
        let gate = TestGate()
        let runs = Shared(0)
        let asked = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try? await jobs.value(for: "a", priority: LivePriority(.normal)) { _ in
                        runs.update { $0 += 1 }
                        await gate.wait()
                        return .success(42)
                    }
                }
            }
            group.addTask {
                await untilTrue { jobs.subscriberCount(of: "a") == 100 }
                gate.open()
                return nil
            }
            return await group.reduce(into: [Int]()) { if let value = $1 { $0.append(value) } }
        }
        #expect(asked == Array(repeating: 42, count: 100))
        #expect(runs.value == 1)
        #expect(jobs.count == 0)
    }

    @Test("If one of two subscribers cancels, it ends immediately and the other one receives the value")
    func oneLeaves() async throws {
        let jobs = Jobs(cancelled: .cancelled)
        let gate = TestGate()
        let body: Jobs.Body = { _ in
            await gate.wait()
            return .success(Task.isCancelled ? -1 : 1)
        }
        let first = Task { try await jobs.value(for: "a", priority: LivePriority(.normal), start: body) }
        await untilTrue { jobs.subscriberCount(of: "a") == 1 }
        let second = Task { try await jobs.value(for: "a", priority: LivePriority(.normal), start: body) }
        await untilTrue { jobs.subscriberCount(of: "a") == 2 }
        first.cancel()
        await #expect(throws: ImageError.cancelled) { try await first.value }
        #expect(jobs.subscriberCount(of: "a") == 1)
        gate.open()
        #expect(try await second.value == 1)
    }

    @Test("A reservation keeps a job running, raises its priority, and doesn't count as a shared job")
    func reservation() async throws {
        let jobs = Jobs(cancelled: .cancelled)
        let gate = TestGate()
        let live = Shared<LivePriority?>(nil)
        let body: Jobs.Body = { context in
            live.value = context.priority
            await gate.wait()
            return .success(Task.isCancelled ? -1 : 1)
        }
        #expect(jobs.reserve("a", priority: LivePriority(.normal)).map { _ in true } == nil)
        let first = Task { try await jobs.value(for: "a", priority: LivePriority(.low), start: body) }
        await untilTrue { jobs.subscriberCount(of: "a") == 1 }
        let priority = LivePriority(.normal)
        let reservation = try #require(jobs.reserve("a", priority: priority))
        #expect(live.value?.value == .normal && jobs.sharedCount == 0)
        priority.value = .high
        #expect(live.value?.value == .high)
        first.cancel()
        await #expect(throws: ImageError.cancelled) { try await first.value }
        #expect(jobs.count == 1)
        let second = Task {
            try await jobs.value(
                for: "a", priority: LivePriority(.low), onJoin: { jobs.release(reservation) }, start: body)
        }
        await untilTrue { jobs.sharedCount == 1 && jobs.subscriberCount(of: "a") == 1 }
        await untilTrue { live.value?.value == .low }
        gate.open()
        #expect(try await second.value == 1)
        jobs.release(reservation)
        #expect(jobs.count == 0)
    }

    @Test("If the only reservation of a job ends after its subscriber, the job is canceled")
    func reservationEnds() async throws {
        let jobs = Jobs(cancelled: .cancelled)
        let cancelled = TestGate()
        let first = Task {
            try await jobs.value(for: "a", priority: LivePriority(.low)) { _ in
                let never = TestGate()
                await never.wait()
                cancelled.open()
                return .success(1)
            }
        }
        await untilTrue { jobs.subscriberCount(of: "a") == 1 }
        let reservation = try #require(jobs.reserve("a", priority: LivePriority(.normal)))
        first.cancel()
        await #expect(throws: ImageError.cancelled) { try await first.value }
        #expect(jobs.count == 1 && !cancelled.isOpen)
        jobs.release(reservation)
        #expect(jobs.count == 0)
        await cancelled.wait()
    }

    @Test("If the only subscriber cancels, the work is canceled, and the next request starts a new run")
    func bothLeave() async throws {
        let jobs = Jobs(cancelled: .cancelled)
        let cancelled = TestGate()
        let waiting = Task {
            try await jobs.value(for: "a", priority: LivePriority(.normal)) { _ in
                let never = TestGate()
                await withTaskCancellationHandler {
                    await never.wait()
                } onCancel: {
                    cancelled.open()
                    never.open()
                }
                return .success(1)
            }
        }
        await untilTrue { jobs.subscriberCount(of: "a") == 1 }
        waiting.cancel()
        await #expect(throws: ImageError.cancelled) { try await waiting.value }
        #expect(jobs.count == 0)
        let again = try await jobs.value(for: "a", priority: LivePriority(.normal)) { _ in .success(2) }
        #expect(again == 2)
        await cancelled.wait()
    }

    @Test("The work sees the live priority of its subscriber")
    func priority() async throws {
        let jobs = Jobs(cancelled: .cancelled)
        let gate = TestGate()
        let seen = Shared<LivePriority?>(nil)
        let low = LivePriority(.low)
        let waiting = Task {
            try await jobs.value(for: "a", priority: low) { context in
                seen.value = context.priority
                await gate.wait()
                return .success(0)
            }
        }
        await untilTrue { seen.value != nil }
        let live = try #require(seen.value)
        #expect(live.value == .low)
        low.value = .veryHigh
        #expect(live.value == .veryHigh)
        low.value = .veryLow
        #expect(live.value == .veryLow)
        gate.open()
        _ = try await waiting.value
    }

    @Test(
        "N-08: The work runs at the highest priority of its subscribers, and at a lower one when that subscriber leaves"
    )
    func priorityOfSubscribers() async throws {
        let jobs = Jobs(cancelled: .cancelled)
        let (gate, running, seen) = (TestGate(), TestGate(), Shared<[RequestPriority]>([]))
        let body: Jobs.Body = { context in
            let token = context.priority.follow { priority in seen.update { $0.append(priority) } }
            running.open()
            await gate.wait()
            context.priority.stopObserving(token)
            return .success(1)
        }
        let low = Task { try await jobs.value(for: "a", priority: LivePriority(.low), start: body) }
        await running.wait()
        let high = Task { try await jobs.value(for: "a", priority: LivePriority(.veryHigh), start: body) }
        await untilTrue { seen.value.count == 2 }
        let normal = Task { try await jobs.value(for: "a", priority: LivePriority(.normal), start: body) }
        await untilTrue { jobs.subscriberCount(of: "a") == 3 }
        high.cancel()
        await untilTrue { seen.value.count == 3 }
        gate.open()
        #expect(try await low.value == 1)
        #expect(try await normal.value == 1)
        #expect(seen.value == [.low, .veryHigh, .normal])
    }

    @Test("All subscribers receive the error, and late subscribers receive the last update")
    func failsAndUpdates() async {
        let jobs = Jobs(cancelled: .cancelled)
        let reported = TestGate()
        let gate = TestGate()
        let heard = Shared<[Int]>([])
        let first = Task {
            try await jobs.value(for: "a", priority: LivePriority(.normal)) { context in
                context.report(5)
                reported.open()
                await gate.wait()
                return .failure(.decoding(.noData))
            }
        }
        await reported.wait()
        let second = Task {
            try await jobs.value(
                for: "a", priority: LivePriority(.normal), onUpdate: { update in heard.update { $0.append(update) } }
            ) { _ in .success(0) }
        }
        await untilTrue { jobs.subscriberCount(of: "a") == 2 }
        gate.open()
        await #expect(throws: ImageError.decoding(.noData)) { try await first.value }
        await #expect(throws: ImageError.decoding(.noData)) { try await second.value }
        #expect(heard.value == [5])
    }

    @Test("Ten thousand joins and cancellations leave no jobs in the table")
    func storm() async {
        let jobs = Jobs(cancelled: .cancelled)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<10_000 {
                group.addTask {
                    let asking = Task {
                        try await jobs.value(for: "\(index % 7)", priority: LivePriority(.normal)) { _ in
                            await Task.yield()
                            return .success(index)
                        }
                    }
                    if index % 3 != 0 { asking.cancel() }
                    _ = try? await asking.value
                }
            }
        }
        await untilTrue { jobs.count == 0 }
        #expect(jobs.count == 0)
    }

    @Test("Exactly one of the subscribers that share a job is marked as the first")
    func landing() async throws {
        let jobs = Jobs(cancelled: .cancelled)
        let gate = TestGate()
        let tasks = (0..<20).map { _ in
            Task {
                try await jobs.landing(for: "a", priority: LivePriority(.normal)) { _ in
                    await gate.wait()
                    return .success(7)
                }
            }
        }
        await untilTrue { jobs.subscriberCount(of: "a") == 20 }
        gate.open()
        var first = 0
        for task in tasks {
            let landing = try await task.value
            #expect(landing.value == 7)
            first += landing.isFirst ? 1 : 0
        }
        #expect(first == 1)
    }

    @Test("Launched work runs once regardless of the number of launches, and it continues when subscribers leave")
    func launching() async throws {
        let jobs = Jobs(cancelled: .cancelled)
        let (gate, runs, live) = (TestGate(), Shared(0), Shared<LivePriority?>(nil))
        for _ in 0..<10 {
            jobs.launch("a", priority: .low) { context in
                runs.update { $0 += 1 }
                live.value = context.priority
                await gate.wait()
                return .failure(Task.isCancelled ? .cancelled : .decoding(.noData))
            }
        }
        await untilTrue { live.value != nil }
        let leaving = Task { try await jobs.value(for: "a", priority: LivePriority(.high)) { _ in .success(1) } }
        await untilTrue { jobs.subscriberCount(of: "a") == 1 }
        #expect(live.value?.value == .high)
        leaving.cancel()
        await #expect(throws: ImageError.cancelled) { try await leaving.value }
        #expect(live.value?.value == .low)
        let waiting = Task { try await jobs.value(for: "a", priority: LivePriority(.normal)) { _ in .success(1) } }
        await untilTrue { jobs.subscriberCount(of: "a") == 1 }
        gate.open()
        await #expect(throws: ImageError.decoding(.noData)) { try await waiting.value }
        await jobs.waitUntilIdle { _ in true }
        #expect(runs.value == 1 && jobs.count == 0)
    }
}
