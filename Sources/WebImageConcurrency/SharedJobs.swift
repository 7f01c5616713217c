// SPDX-License-Identifier: MIT

import Synchronization

/// A table of jobs that coalesces concurrent requests for the same key into one job. This class is thread-safe.
///
/// A job runs at the highest priority of its subscribers and is canceled when the last subscriber leaves. The table
/// delivers changes of the priority, updates, and results of a job in order and without holding the lock.
///
/// Like ``ObservableValue``, the class is public and its members are inlinable so that the compiler specializes them,
/// because every download joins a table of jobs.
public final class SharedJobs<
    Key: Hashable & Sendable, Value: Sendable, Update: Sendable, Priority: PriorityLevel, Failure: Error
>: Sendable {
    /// The context of a running job.
    public struct Context: Sendable {
        /// The highest priority of all subscribers, which changes while the job runs.
        public let priority: ObservableValue<Priority>
        /// A closure that reports the progress of the job to all subscribers.
        public let report: @Sendable (Update) -> Void

        @inlinable
        init(priority: ObservableValue<Priority>, report: @escaping @Sendable (Update) -> Void) {
            self.priority = priority
            self.report = report
        }
    }

    /// The work of a job.
    public typealias Body = @Sendable (Context) async -> Result<Value, Failure>
    @usableFromInline typealias Outcome = Promise<Result<Value, Failure>>

    @usableFromInline
    struct Subscriber: Sendable {
        @usableFromInline let outcome: Outcome
        @usableFromInline let onUpdate: (@Sendable (Update) -> Void)?

        @inlinable
        init(outcome: Outcome, onUpdate: (@Sendable (Update) -> Void)?) {
            self.outcome = outcome
            self.onUpdate = onUpdate
        }
    }

    @usableFromInline
    struct Job: Sendable {
        @usableFromInline let priority: ObservableValue<Priority>
        @usableFromInline let deliveries = DeliveryQueue()
        @usableFromInline var task: Task<Void, Never>?

        @inlinable
        init(priority: ObservableValue<Priority>) { self.priority = priority }
    }

    @usableFromInline
    struct State: Sendable {
        @usableFromInline var table = SharedJobsStateMachine<Key, Update, Priority>()
        @usableFromInline var subscribers: [Int: Subscriber] = [:]
        @usableFromInline var jobs: [Int: Job] = [:]
        @usableFromInline var shared = 0
        /// The promises of the callers that wait until no job with certain keys is running.
        @usableFromInline var idle: [Promise<Void>] = []

        @inlinable
        init() {}

        /// Removes and returns the promises of the callers that wait for jobs to end. Resolve them after unlocking.
        @inlinable
        mutating func dequeueIdle() -> [Promise<Void>] {
            defer { idle = [] }
            return idle
        }
    }

    @usableFromInline let state = Lock(State())

    /// The error of a wait whose Swift task was canceled.
    @usableFromInline let cancelled: Failure

    /// Creates an empty table of jobs.
    ///
    /// - Parameter cancelled: The error of a wait whose Swift task was canceled.
    @inlinable
    public init(cancelled: Failure) { self.cancelled = cancelled }

    /// The number of times that a caller joined a running job.
    @inlinable
    public var sharedCount: Int { state.withLock { $0.shared } }

    /// The number of running jobs, for tests and statistics.
    @inlinable
    public var count: Int { state.withLock { $0.table.jobs.count } }

    /// Returns the number of subscribers of the job for a key, for tests.
    @inlinable
    public func subscriberCount(of key: Key) -> Int { state.withLock { $0.table.subscriberCount(of: key) } }

    /// Returns the number of observers of the priority of the job for a key, for tests.
    @inlinable
    public func priorityObserverCount(of key: Key) -> Int {
        state.withLock { state in
            guard let job = state.table.byKey[key] else { return 0 }
            return state.jobs[job]?.priority.observerCount ?? 0
        }
    }

    /// The interest in a running job of a caller that doesn't wait for its result yet.
    public struct Reservation: Sendable {
        @usableFromInline let subscription: Subscription
        @usableFromInline let priority: ObservableValue<Priority>
        @usableFromInline let token: Int

        @inlinable
        init(subscription: Subscription, priority: ObservableValue<Priority>, token: Int) {
            self.subscription = subscription
            self.priority = priority
            self.token = token
        }
    }

    /// Keeps the running job for a key from being canceled before the caller joins it, and applies the priority of the
    /// caller to it. The job doesn't count as shared.
    ///
    /// - Returns: The reservation, which ``release(_:)`` must end, or `nil` if no job is running.
    @inlinable
    public func reserve(_ key: Key, priority: ObservableValue<Priority>) -> Reservation? {
        let known = priority.value
        let reserved = state.withLock { state -> (subscription: Subscription, raised: Job?)? in
            guard state.table.isRunning(key) else { return nil }
            let id = state.table.makeSubscriber()
            guard case .joined(let number, _, let raise) = state.table.join(key, id, known) else { return nil }
            let job = state.jobs[number]
            if let raise, let job { job.deliveries.add { job.priority.value = raise } }
            return (Subscription(job: number, subscriber: id, isFirst: false), raise == nil ? nil : job)
        }
        guard let (subscription, raised) = reserved else { return nil }
        raised?.deliveries.deliver()
        let token = follow(priority, from: known, for: subscription)
        return Reservation(subscription: subscription, priority: priority, token: token)
    }

    /// Ends a reservation. If the job has no other subscribers, it's canceled. Further calls have no effect.
    @inlinable
    public func release(_ reservation: Reservation) {
        reservation.priority.stopObserving(reservation.token)
        leave(reservation.subscription)
    }

    /// Returns the value for a key by joining the running job or starting a new one.
    ///
    /// - Parameters:
    ///   - key: The key of the job.
    ///   - priority: The priority of the caller, which the job follows.
    ///   - onUpdate: A closure that receives the updates of the job.
    ///   - onJoin: A closure that is called after the caller joined the job and before it waits.
    ///   - body: The work of a new job.
    /// - Throws: The error of the work. If the calling Swift task is canceled, this method immediately throws the error
    ///   for canceled waits.
    @inlinable
    public func value(
        for key: Key, priority: ObservableValue<Priority>, onUpdate: (@Sendable (Update) -> Void)? = nil,
        onJoin: () -> Void = {}, start body: @escaping Body
    ) async throws(Failure) -> Value {
        let wait = subscribe(to: key, priority, onUpdate, body)
        onJoin()
        defer { priority.stopObserving(wait.token) }
        return try await value(of: wait.outcome, for: wait.subscription)
    }

    /// Returns the value for a key and whether the caller started the work.
    ///
    /// - Throws: The error of the work. If the calling Swift task is canceled, this method immediately throws the error
    ///   for canceled waits.
    @inlinable
    public func landing(
        for key: Key, priority: ObservableValue<Priority>, onUpdate: (@Sendable (Update) -> Void)? = nil,
        start body: @escaping Body
    ) async throws(Failure) -> (value: Value, isFirst: Bool) {
        let wait = subscribe(to: key, priority, onUpdate, body)
        defer { priority.stopObserving(wait.token) }
        return (try await value(of: wait.outcome, for: wait.subscription), wait.subscription.isFirst)
    }

    /// Waits for the result. Inlined so that its stack frame isn't part of each waiting task.
    @inlinable @inline(__always)
    func value(of outcome: Outcome, for subscription: Subscription) async throws(Failure) -> Value {
        let result = await outcome.outcome { self.leave(subscription) }
        // The job may have finished between the cancellation of the caller and the start of its wait.
        guard !Task.isCancelled else { throw cancelled }
        return try result.get()
    }

    /// Follows the priority of the caller. This method is synchronous, so its variables take no space in the frames of
    /// waiting tasks.
    @inlinable
    func subscribe(
        to key: Key, _ priority: ObservableValue<Priority>, _ onUpdate: (@Sendable (Update) -> Void)?,
        _ body: @escaping Body
    ) -> (outcome: Outcome, subscription: Subscription, token: Int) {
        let outcome = Outcome()
        let known = priority.value
        let subscription = join(key, known, Subscriber(outcome: outcome, onUpdate: onUpdate), body)
        return (outcome, subscription, follow(priority, from: known, for: subscription))
    }

    /// Changes between joining with the priority `known` and following are delivered first, so that all changes arrive
    /// in order.
    @inlinable
    func follow(
        _ priority: ObservableValue<Priority>, from known: Priority, for subscription: Subscription
    ) -> Int {
        priority.follow(from: known) { [weak self] in self?.setPriority(subscription, $0) }
    }

    /// Starts a job without subscribers unless a job for the key is running. The job runs to completion regardless of
    /// its subscribers.
    @inlinable
    public func launch(_ key: Key, priority: Priority, start body: @escaping Body) {
        let started = state.withLock { state -> (job: Int, priority: ObservableValue<Priority>)? in
            guard !state.table.isRunning(key) else { return nil }
            let job = state.table.open(key, priority)
            let live = ObservableValue(priority)
            state.jobs[job] = Job(priority: live)
            return (job, live)
        }
        if let started { launch(started.job, started.priority, isImmediate: false, body) }
    }

    /// Waits until no job is running for which the closure `matters` returns `true`.
    @inlinable
    public func waitUntilIdle(_ matters: @Sendable (Key) -> Bool) async {
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

    @usableFromInline
    struct Subscription: Sendable {
        @usableFromInline let job: Int
        @usableFromInline let subscriber: Int
        @usableFromInline let isFirst: Bool

        @inlinable
        init(job: Int, subscriber: Int, isFirst: Bool) {
            self.job = job
            self.subscriber = subscriber
            self.isFirst = isFirst
        }
    }

    @inlinable
    func join(
        _ key: Key, _ priority: Priority, _ subscriber: Subscriber, _ body: @escaping Body
    ) -> Subscription {
        let (subscription, job) = state.withLock { state -> (Subscription, Job) in
            let id = state.table.makeSubscriber()
            state.subscribers[id] = subscriber
            switch state.table.join(key, id, priority) {
            case .start(let number):
                let job = Job(priority: ObservableValue(priority))
                state.jobs[number] = job
                return (Subscription(job: number, subscriber: id, isFirst: true), job)
            case .joined(let number, let lastUpdate, let raise):
                state.shared += 1
                let job = state.jobs[number] ?? Job(priority: ObservableValue(priority))
                if let raise { job.deliveries.add { job.priority.value = raise } }
                if let lastUpdate, let onUpdate = subscriber.onUpdate { job.deliveries.add { onUpdate(lastUpdate) } }
                return (Subscription(job: number, subscriber: id, isFirst: false), job)
            }
        }
        if subscription.isFirst {
            launch(subscription.job, job.priority, isImmediate: true, body)
        } else {
            job.deliveries.deliver()
        }
        return subscription
    }

    /// If `isImmediate` is `true`, the work runs on the calling thread until it suspends for the first time, which
    /// saves the switch to another thread. Callers that aren't on the cooperative pool pass `false`.
    @inlinable
    func launch(_ job: Int, _ priority: ObservableValue<Priority>, isImmediate: Bool, _ body: @escaping Body) {
        let context = Context(priority: priority) { [weak self] update in self?.report(job, update) }
        let work: @Sendable () async -> Void = { self.finish(job, await body(context)) }
        let task = isImmediate ? Task.immediateDetached(operation: work) : Task.detached(operation: work)
        let isWanted = state.withLock { state -> Bool in
            guard state.table.jobs[job] != nil else { return false }
            state.jobs[job]?.task = task
            return true
        }
        // The job finished, or all subscribers left after joining.
        if !isWanted { task.cancel() }
    }

    @inlinable
    func report(_ job: Int, _ update: Update) {
        let deliveries = state.withLock { state -> DeliveryQueue? in
            let handlers = state.table.update(job, update).compactMap { state.subscribers[$0]?.onUpdate }
            guard !handlers.isEmpty, let deliveries = state.jobs[job]?.deliveries else { return nil }
            deliveries.add { for handler in handlers { handler(update) } }
            return deliveries
        }
        deliveries?.deliver()
    }

    @inlinable
    func finish(_ job: Int, _ result: Result<Value, Failure>) {
        let (deliveries, idle) = state.withLock { state -> (DeliveryQueue?, [Promise<Void>]) in
            // If all subscribers left, the job no longer exists.
            guard let deliveries = state.jobs.removeValue(forKey: job)?.deliveries else { return (nil, []) }
            let outcomes = state.table.finish(job).compactMap { state.subscribers.removeValue(forKey: $0)?.outcome }
            // Deliver the result after all updates, so that no subscriber receives an update after the result.
            deliveries.add { for outcome in outcomes { outcome.resolve(result) } }
            return (deliveries, state.dequeueIdle())
        }
        deliveries?.deliver()
        for promise in idle { promise.resolve(()) }
    }

    @inlinable
    func setPriority(_ subscription: Subscription, _ priority: Priority) {
        perform { $0.setPriority(subscription.job, subscription.subscriber, priority) }
    }

    @inlinable
    func leave(_ subscription: Subscription) {
        let left = state.withLock { $0.subscribers.removeValue(forKey: subscription.subscriber) }
        perform { $0.leave(subscription.job, subscription.subscriber) }
        left?.outcome.resolve(.failure(cancelled))
    }

    @inlinable
    func perform(
        _ transition: (inout SharedJobsStateMachine<Key, Update, Priority>) ->
            SharedJobsStateMachine<Key, Update, Priority>.LeaveAction
    ) {
        var cancelled: Job?
        var deliveries: DeliveryQueue?
        var idle: [Promise<Void>] = []
        state.withLock { state in
            switch transition(&state.table) {
            case .nothing: break
            case .cancel(let job):
                cancelled = state.jobs.removeValue(forKey: job)
                idle = state.dequeueIdle()
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
