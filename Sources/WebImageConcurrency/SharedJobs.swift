// SPDX-License-Identifier: MIT

import Synchronization

/// Runs work once for all who want the same thing at the same time. The work runs at the highest priority of its
/// subscribers and is canceled when the last of them leaves. Thread-safe.
///
/// Changes of the priority, updates, and results of a job are delivered in the order in which they happened, without
/// the lock.
package final class SharedJobs<
    Key: Hashable & Sendable, Value: Sendable, Update: Sendable, Priority: PriorityLevel, Failure: CancellableError
>: Sendable {
    /// What running work knows of its subscribers.
    package struct Context: Sendable {
        /// The highest priority of all subscribers, live.
        package let priority: ObservedValue<Priority>
        /// Reports the progress of the work to all subscribers.
        package let report: @Sendable (Update) -> Void
    }

    package typealias Body = @Sendable (Context) async -> Result<Value, Failure>
    private typealias Outcome = Promise<Result<Value, Failure>>

    private struct Subscriber {
        let outcome: Outcome
        let onUpdate: (@Sendable (Update) -> Void)?
    }

    private struct Job {
        let priority: ObservedValue<Priority>
        let deliveries = DeliveryQueue()
        /// `nil` until the work has been started.
        var task: Task<Void, Never>?
    }

    private struct State {
        var table = JobTable<Key, Update, Priority>()
        var subscribers: [Int: Subscriber] = [:]
        var jobs: [Int: Job] = [:]
        var shared = 0
        /// Those who wait until no job runs whose key they care for.
        var idle: [Promise<Void>] = []

        /// Removes those who wait for jobs to end; to be resolved after the lock.
        mutating func takeIdle() -> [Promise<Void>] {
            defer { idle = [] }
            return idle
        }
    }

    private let state = Lock(State())

    /// Creates an empty table of jobs.
    package init() {}

    /// The number of times that work in flight was joined.
    package var sharedCount: Int { state.withLock { $0.shared } }

    /// The number of jobs that run now; for tests and statistics.
    package var count: Int { state.withLock { $0.table.jobs.count } }

    /// The number of subscribers of the job of `key`; for tests.
    package func subscriberCount(of key: Key) -> Int { state.withLock { $0.table.subscriberCount(of: key) } }

    /// The value for `key`: joins the work that runs for it, or starts `body`.
    ///
    /// - Throws: The error of the work, or ``CancellableError/cancelled`` as soon as the calling Swift task is canceled.
    package func value(
        for key: Key, priority: ObservedValue<Priority>, onUpdate: (@Sendable (Update) -> Void)? = nil,
        start body: @escaping Body
    ) async throws(Failure) -> Value {
        try await landing(for: key, priority: priority, onUpdate: onUpdate, start: body).value
    }

    /// The value for `key`, and whether the caller started the work.
    ///
    /// - Throws: The error of the work, or ``CancellableError/cancelled`` as soon as the calling Swift task is canceled.
    package func landing(
        for key: Key, priority: ObservedValue<Priority>, onUpdate: (@Sendable (Update) -> Void)? = nil,
        start body: @escaping Body
    ) async throws(Failure) -> (value: Value, isFirst: Bool) {
        let outcome = Outcome()
        let known = priority.value
        let subscription = join(key, known, Subscriber(outcome: outcome, onUpdate: onUpdate), body)
        // What changed between joining and following is delivered first, and nothing after it out of order.
        let token = priority.follow(from: known) { [weak self] in self?.setPriority(subscription, $0) }
        defer { priority.stopObserving(token) }
        return (try await outcome.value { self.leave(subscription) }, subscription.isFirst)
    }

    /// Starts `body` for no subscriber, unless work for `key` runs. It runs to its end, whoever joins and leaves.
    package func launch(_ key: Key, priority: Priority, start body: @escaping Body) {
        let started = state.withLock { state -> (job: Int, priority: ObservedValue<Priority>)? in
            guard !state.table.isRunning(key) else { return nil }
            let job = state.table.open(key, priority)
            let live = ObservedValue(priority)
            state.jobs[job] = Job(priority: live)
            return (job, live)
        }
        if let started { launch(started.job, started.priority, body) }
    }

    /// Waits until no job runs whose key `matters`.
    package func waitUntilIdle(_ matters: @Sendable (Key) -> Bool) async {
        while true {
            let promise = Promise<Void>()
            let isIdle = state.withLock { state in
                guard state.table.jobs.values.contains(where: { matters($0.key) }) else { return true }
                state.idle.append(promise)
                return false
            }
            guard !isIdle else { return }
            await promise.outcome(onCancel: {})
        }
    }

    private struct Subscription {
        let job: Int
        let subscriber: Int
        let isFirst: Bool
    }

    private func join(
        _ key: Key, _ priority: Priority, _ subscriber: Subscriber, _ body: @escaping Body
    ) -> Subscription {
        let (subscription, job) = state.withLock { state -> (Subscription, Job) in
            let id = state.table.makeSubscriber()
            state.subscribers[id] = subscriber
            switch state.table.join(key, id, priority) {
            case .start(let number):
                let job = Job(priority: ObservedValue(priority))
                state.jobs[number] = job
                return (Subscription(job: number, subscriber: id, isFirst: true), job)
            case .joined(let number, let lastUpdate, let raise):
                state.shared += 1
                let job = state.jobs[number] ?? Job(priority: ObservedValue(priority))
                if let raise { job.deliveries.add { job.priority.value = raise } }
                if let lastUpdate, let onUpdate = subscriber.onUpdate { job.deliveries.add { onUpdate(lastUpdate) } }
                return (Subscription(job: number, subscriber: id, isFirst: false), job)
            }
        }
        if subscription.isFirst { launch(subscription.job, job.priority, body) } else { job.deliveries.deliver() }
        return subscription
    }

    private func launch(_ job: Int, _ priority: ObservedValue<Priority>, _ body: @escaping Body) {
        let context = Context(priority: priority) { [weak self] update in self?.report(job, update) }
        let task = Task.detached {
            let result = await body(context)
            self.finish(job, result)
        }
        let isWanted = state.withLock { state -> Bool in
            guard state.table.jobs[job] != nil else { return false }
            state.jobs[job]?.task = task
            return true
        }
        // Finished already, or everybody left between joining and here.
        if !isWanted { task.cancel() }
    }

    private func report(_ job: Int, _ update: Update) {
        let deliveries = state.withLock { state -> DeliveryQueue? in
            let handlers = state.table.update(job, update).compactMap { state.subscribers[$0]?.onUpdate }
            guard !handlers.isEmpty, let deliveries = state.jobs[job]?.deliveries else { return nil }
            deliveries.add { for handler in handlers { handler(update) } }
            return deliveries
        }
        deliveries?.deliver()
    }

    private func finish(_ job: Int, _ result: Result<Value, Failure>) {
        let (deliveries, idle) = state.withLock { state -> (DeliveryQueue?, [Promise<Void>]) in
            // Everybody may have left, and with them the job.
            guard let deliveries = state.jobs.removeValue(forKey: job)?.deliveries else { return (nil, []) }
            let outcomes = state.table.finish(job).compactMap { state.subscribers.removeValue(forKey: $0)?.outcome }
            // Behind the updates: no subscriber hears of the work after its result.
            deliveries.add { for outcome in outcomes { outcome.resolve(result) } }
            return (deliveries, state.takeIdle())
        }
        deliveries?.deliver()
        for promise in idle { promise.resolve(()) }
    }

    private func setPriority(_ subscription: Subscription, _ priority: Priority) {
        perform { $0.setPriority(subscription.job, subscription.subscriber, priority) }
    }

    private func leave(_ subscription: Subscription) {
        let left = state.withLock { $0.subscribers.removeValue(forKey: subscription.subscriber) }
        perform { $0.leave(subscription.job, subscription.subscriber) }
        left?.outcome.resolve(.failure(.cancelled))
    }

    private func perform(
        _ transition: (inout JobTable<Key, Update, Priority>) -> JobTable<Key, Update, Priority>.LeaveAction
    ) {
        var cancelled: Job?
        var deliveries: DeliveryQueue?
        var idle: [Promise<Void>] = []
        state.withLock { state in
            switch transition(&state.table) {
            case .nothing: break
            case .cancel(let job):
                cancelled = state.jobs.removeValue(forKey: job)
                idle = state.takeIdle()
            case .setPriority(let number, let priority):
                guard let job = state.jobs[number] else { return }
                job.deliveries.add { job.priority.value = priority }
                deliveries = job.deliveries
            }
        }
        cancelled?.task?.cancel()
        deliveries?.deliver()
        for promise in idle { promise.resolve(()) }
    }
}
