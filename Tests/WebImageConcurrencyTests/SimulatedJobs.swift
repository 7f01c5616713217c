// SPDX-License-Identifier: MIT

#if DEBUG && !THREAD_SANITIZER
    import Synchronization
    import WebImageConcurrency
    import WebImageTestSupport

    /// Random subscribers of shared jobs, whose work waits for timers and uses the threads of a pool, and the invariants of
    /// the tools between them. The methods run on the first thread of a simulation.
    final class SimulatedJobs: @unchecked Sendable {
        // Safe: Only the current thread of the simulation uses the properties without a lock.
        enum Level: Int, CaseIterable, PriorityLevel {
            case low, normal, high
            static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
        }

        struct Canceled: Error {}
        typealias Jobs = SharedJobs<Int, Int, Int, Level, Canceled>

        private struct Subscriber {
            let key: Int
            let priority: ObservableValue<Level>
            let task: Task<Void, Never>
        }

        private struct Records {
            var complaints: [String] = []
            var ends: [Int] = []
            /// The priorities that the work of each running job has received last.
            var applied: [Int: (key: Int, level: Level)] = [:]
            var started = 0
        }

        private let scheduler: DeterministicScheduler
        private let jobs = Jobs(cancelled: Canceled())
        private let starter = BatchedTaskStarter()
        private var pool: WorkerPool<Int, Level>?
        private var subscribers: [Subscriber] = []
        private let records = Lock(Records())
        private static let keyCount = 3

        var complaints: [String] { records.withLock { $0.complaints } }

        init(_ scheduler: DeterministicScheduler) {
            self.scheduler = scheduler
            pool = WorkerPool(name: "simulated", threads: 2) { 0 }
        }

        func run(steps: Int) {
            for _ in 0..<steps {
                switch scheduler.number(0..<8) {
                case 0..<4: subscribe()
                case 4: if let subscriber = anySubscriber { subscriber.task.cancel() }
                case 5: if let subscriber = anySubscriber { subscriber.priority.value = anyLevel }
                case 6: checkPriorities()
                default: for _ in 0..<scheduler.number(0..<10) { scheduler.pause() }
                }
            }
            scheduler.areTimersFrozen = false
            scheduler.waitUntilQuiet()
            if records.withLock({ $0.ends.contains { $0 != 1 } }) { complain("a subscriber has no end or several") }
            if jobs.count != 0 { complain("a job remains") }
            if let load = pool?.load, load != 0 { complain("work remains") }
            pool?.close()
            scheduler.waitUntilQuiet()
        }

        private var anySubscriber: Subscriber? {
            subscribers.isEmpty ? nil : subscribers[scheduler.number(0..<subscribers.count)]
        }
        private var anyLevel: Level { Level.allCases[scheduler.number(0..<3)] }
        private func complain(_ text: String) { records.withLock { $0.complaints.append(text) } }

        private func subscribe() {
            let key = scheduler.number(0..<Self.keyCount)
            let priority = ObservableValue(anyLevel)
            let id = records.withLock { records in
                records.ends.append(0)
                return records.ends.count - 1
            }
            let last = Lock(0)
            let subscription = Task.detached { [self] in
                // A request starts through a starter, like the requests of a manager.
                let begun = Promise<Void>()
                starter.start { begun.resolve(()) }
                await begun.outcome { begun.resolve(()) }
                do {
                    let value = try await jobs.value(for: key, priority: priority) { update in
                        let before = last.withLock { last in
                            defer { last = update }
                            return last
                        }
                        if update < before { self.complain("an update is older than the one before") }
                    } start: { context in
                        await self.work(key, context)
                    }
                    if value != key { complain("the value \(value) for the key \(key)") }
                } catch {
                    if !Task.isCancelled { complain("an error without a cancellation") }
                }
                records.withLock { $0.ends[id] += 1 }
            }
            subscribers.append(Subscriber(key: key, priority: priority, task: subscription))
        }

        private func work(_ key: Int, _ context: Jobs.Context) async -> Result<Int, Canceled> {
            let number = records.withLock { records in
                records.started += 1
                return records.started
            }
            let apply: @Sendable (Level) -> Void = { level in
                self.records.withLock { $0.applied[number] = (key, level) }
            }
            let token = context.priority.follow { apply($0) }
            defer {
                context.priority.stopObserving(token)
                records.withLock { $0.applied[number] = nil }
            }
            for update in 1...3 {
                await scheduler.sleep(Double(scheduler.number(1..<5)) / 10)
                context.report(update)
            }
            guard let pool else { return .failure(Canceled()) }
            return .success(await pool.run(context.priority.value) { _ in key } ?? -1)
        }

        /// Stops the time, waits until all work waits for a timer, and compares the priorities of the jobs with those of
        /// their subscribers.
        private func checkPriorities() {
            scheduler.areTimersFrozen = true
            scheduler.waitUntilQuiet()
            let (applied, ends) = records.withLock { ($0.applied, $0.ends) }
            for (key, level) in applied.values where applied.values.filter({ $0.key == key }).count == 1 {
                let waiting = subscribers.enumerated().filter { ends[$0.offset] == 0 && $0.element.key == key }
                guard let highest = waiting.map(\.element.priority.value).max() else { continue }
                if level != highest { complain("the priority \(level) instead of \(highest)") }
            }
            scheduler.areTimersFrozen = false
        }
    }
#endif
