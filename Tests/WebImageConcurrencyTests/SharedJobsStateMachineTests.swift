// SPDX-License-Identifier: MIT

import Testing
import WebImageCore
import WebImageTestSupport

@testable import WebImageConcurrency

@Suite("Job table")
struct SharedJobsStateMachineTests {
    typealias Table = SharedJobsStateMachine<String, Int, RequestPriority>

    private func start(_ table: inout Table, _ key: String, _ priority: RequestPriority = .normal) -> (
        job: Int, subscriber: Int
    )? {
        let subscriber = table.makeSubscriber()
        guard case .start(let job) = table.join(key, subscriber, priority) else { return nil }
        return (job, subscriber)
    }

    @Test("The first subscriber starts the job, and the second one joins it")
    func joins() throws {
        var table = Table()
        let first = try #require(start(&table, "a"))
        let second = table.makeSubscriber()
        guard case .joined(let job, _, let raise) = table.join("a", second, .normal) else {
            Issue.record("the table started a second job")
            return
        }
        #expect(job == first.job)
        #expect(raise == nil)
        #expect(Set(table.finish(job)) == [first.subscriber, second])
    }

    @Test("A late subscriber receives the most recent update")
    func replays() throws {
        var table = Table()
        let first = try #require(start(&table, "a"))
        #expect(table.update(first.job, 7) == [first.subscriber])
        guard case .joined(_, let update, _) = table.join("a", table.makeSubscriber(), .normal) else {
            Issue.record("the caller didn't join the job")
            return
        }
        #expect(update == 7)
    }

    @Test("The priority of a job is the highest of its subscribers and rises and falls with them")
    func priorities() throws {
        var table = Table()
        let first = try #require(start(&table, "a", .low))
        let second = table.makeSubscriber()
        guard case .joined(_, _, let raise) = table.join("a", second, .high) else {
            Issue.record("the caller didn't join the job")
            return
        }
        #expect(raise == .high)
        #expect(table.setPriority(first.job, first.subscriber, .veryHigh) == .setPriority(first.job, .veryHigh))
        #expect(table.setPriority(first.job, second, .veryLow) == .nothing)
        #expect(table.leave(first.job, first.subscriber) == .setPriority(first.job, .veryLow))
    }

    @Test("When the last subscriber leaves, the job is canceled and its key is free immediately")
    func cancels() throws {
        var table = Table()
        let first = try #require(start(&table, "a"))
        #expect(table.leave(first.job, first.subscriber) == .cancel(first.job))
        #expect(table.leave(first.job, first.subscriber) == .nothing)
        let second = try #require(start(&table, "a"))
        #expect(second.job != first.job)
        // The old job finishes after its cancellation. It has no subscribers left, and the new job continues.
        #expect(table.finish(first.job).isEmpty)
        #expect(table.finish(second.job) == [second.subscriber])
        #expect(table.jobs.isEmpty)
    }

    /// A straightforward reference implementation of the table.
    private struct Model {
        var job: [Int: (key: String, subscribers: [Int: RequestPriority])] = [:]

        func current(_ key: String) -> Int? { job.filter { $0.value.key == key }.keys.max() }
    }

    @Test(
        "Random joins, leaves, priority changes, and completions match a reference model",
        arguments: [1, 2, 3, 4, 5] as [UInt64])
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = Table()
        var model = Model()
        for _ in 0..<4_000 {
            let key = ["a", "b", "c"].randomElement(using: &random) ?? "a"
            let priority = RequestPriority.allCases.randomElement(using: &random) ?? .normal
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1: join(&table, &model, key, priority)
            case 2: leave(&table, &model, &random)
            case 3: change(&table, &model, priority, &random)
            default:
                guard let job = model.job.keys.sorted().randomElement(using: &random) else { continue }
                let notified = Set(table.finish(job))
                let ended = model.job.removeValue(forKey: job)
                #expect(notified == Set(ended.map { Array($0.subscribers.keys) } ?? []))
            }
            #expect(Set(table.jobs.keys) == Set(model.job.keys))
            for (id, job) in model.job {
                #expect(table.jobs[id]?.priority == job.subscribers.values.max())
            }
        }
    }

    private func join(_ table: inout Table, _ model: inout Model, _ key: String, _ priority: RequestPriority) {
        let subscriber = table.makeSubscriber()
        let running = model.current(key)
        switch table.join(key, subscriber, priority) {
        case .start(let job):
            #expect(running == nil)
            model.job[job] = (key, [subscriber: priority])
        case .joined(let job, _, let raise):
            #expect(running == job)
            let before = model.job[job]?.subscribers.values.max()
            model.job[job]?.subscribers[subscriber] = priority
            #expect(raise == (priority > before ?? .veryLow ? priority : nil))
        }
    }

    private func leave(_ table: inout Table, _ model: inout Model, _ random: inout SeededGenerator) {
        guard let job = model.job.keys.sorted().randomElement(using: &random),
            let subscriber = model.job[job]?.subscribers.keys.sorted().randomElement(using: &random)
        else { return }
        let action = table.leave(job, subscriber)
        model.job[job]?.subscribers[subscriber] = nil
        if model.job[job]?.subscribers.isEmpty == true {
            #expect(action == .cancel(job))
            model.job[job] = nil
        }
    }

    private func change(
        _ table: inout Table, _ model: inout Model, _ priority: RequestPriority, _ random: inout SeededGenerator
    ) {
        guard let job = model.job.keys.sorted().randomElement(using: &random),
            let subscriber = model.job[job]?.subscribers.keys.sorted().randomElement(using: &random)
        else { return }
        let before = model.job[job]?.subscribers.values.max()
        model.job[job]?.subscribers[subscriber] = priority
        let after = model.job[job]?.subscribers.values.max() ?? priority
        let action = table.setPriority(job, subscriber, priority)
        #expect(action == (before == after ? .nothing : .setPriority(job, after)))
    }
}
