// SPDX-License-Identifier: MIT

import Synchronization
import WebImageCore

/// Runs work once for all who want the same thing at the same time. The work runs at the highest priority of its
/// subscribers and is cancelled when the last of them leaves. Thread-safe.
final class SharedJobs<Key: Hashable & Sendable, Value: Sendable, Update: Sendable>: Sendable {
    /// What running work knows of its subscribers.
    struct Context: Sendable {
        /// The highest priority of all subscribers, live.
        let priority: LivePriority
        /// Tells all subscribers how far the work is.
        let report: @Sendable (Update) -> Void
    }

    typealias Body = @Sendable (Context) async -> Result<Value, ImageError>

    private struct Subscriber {
        let waiter: JobWaiter<Value>
        let onUpdate: (@Sendable (Update) -> Void)?
    }

    private struct State {
        var table = JobTable<Key, Update>()
        var subscribers: [Int: Subscriber] = [:]
        var shared = 0
        var running: [Int: (task: Task<Void, Never>?, priority: LivePriority)] = [:]
    }

    private let state = Lock(State())

    /// How often work that was under way was joined.
    var sharedCount: Int { state.withLock { $0.shared } }

    /// Jobs that run now; for tests and statistics.
    var count: Int { state.withLock { $0.table.jobs.count } }

    /// Subscribers of the job of `key`; for tests.
    func subscriberCount(of key: Key) -> Int {
        state.withLock { state in
            state.table.jobs.values.first { $0.key == key }?.subscribers.count ?? 0
        }
    }

    /// The value for `key`: joins the work that runs for it, or starts `body`.
    ///
    /// - Throws: what the work threw, or ``RequestError/cancelled`` as soon as the calling Swift task is cancelled.
    func value(
        for key: Key, priority: LivePriority, onUpdate: (@Sendable (Update) -> Void)? = nil, start body: @escaping Body
    ) async throws(ImageError) -> Value {
        let waiter = JobWaiter<Value>()
        let subscription = join(key, priority.value, Subscriber(waiter: waiter, onUpdate: onUpdate), body)
        let token = priority.observe { [weak self] in
            self?.setPriority(subscription, priority.value)
        }
        defer { priority.stopObserving(token) }
        // The priority may have changed between joining and observing.
        setPriority(subscription, priority.value)
        return try await waiter.value { self.leave(subscription) }
    }

    private struct Subscription {
        let job: Int
        let subscriber: Int
    }

    private func join(
        _ key: Key, _ priority: RequestPriority, _ subscriber: Subscriber, _ body: @escaping Body
    ) -> Subscription {
        var started: LivePriority?
        var raised: (LivePriority, RequestPriority)?
        var replay: Update?
        let subscription = state.withLock { state -> Subscription in
            let id = state.table.makeSubscriber()
            state.subscribers[id] = subscriber
            switch state.table.join(key, id, priority) {
            case .start(let job):
                let live = LivePriority(priority)
                state.running[job] = (nil, live)
                started = live
                return Subscription(job: job, subscriber: id)
            case .joined(let job, let lastUpdate, let raise):
                state.shared += 1
                replay = lastUpdate
                if let raise, let live = state.running[job]?.priority { raised = (live, raise) }
                return Subscription(job: job, subscriber: id)
            }
        }
        if let started { launch(subscription.job, started, body) }
        if let raised { raised.0.value = raised.1 }
        if let replay { subscriber.onUpdate?(replay) }
        return subscription
    }

    private func launch(_ job: Int, _ priority: LivePriority, _ body: @escaping Body) {
        let context = Context(priority: priority) { [weak self] update in self?.report(job, update) }
        let task = Task.detached {
            let result = await body(context)
            self.finish(job, result)
        }
        let stillWanted = state.withLock { state -> Bool in
            guard state.table.jobs[job] != nil else { return false }
            state.running[job]?.task = task
            return true
        }
        // Finished already, or everybody left between joining and here.
        if !stillWanted { task.cancel() }
    }

    private func report(_ job: Int, _ update: Update) {
        let handlers = state.withLock { state in
            state.table.update(job, update).compactMap { state.subscribers[$0]?.onUpdate }
        }
        for handler in handlers { handler(update) }
    }

    private func finish(_ job: Int, _ result: Result<Value, ImageError>) {
        let waiters = state.withLock { state -> [JobWaiter<Value>] in
            state.running[job] = nil
            return state.table.finish(job).compactMap { state.subscribers.removeValue(forKey: $0)?.waiter }
        }
        for waiter in waiters { waiter.resolve(result) }
    }

    private func setPriority(_ subscription: Subscription, _ priority: RequestPriority) {
        perform { $0.setPriority(subscription.job, subscription.subscriber, priority) }
    }

    private func leave(_ subscription: Subscription) {
        let left = state.withLock { $0.subscribers.removeValue(forKey: subscription.subscriber) }
        perform { $0.leave(subscription.job, subscription.subscriber) }
        left?.waiter.resolve(.failure(.request(.cancelled)))
    }

    private func perform(_ transition: (inout JobTable<Key, Update>) -> JobTable<Key, Update>.LeaveAction) {
        var cancelled: Task<Void, Never>?
        var changed: (LivePriority, RequestPriority)?
        state.withLock { state in
            switch transition(&state.table) {
            case .nothing: break
            case .cancel(let job): cancelled = state.running.removeValue(forKey: job)?.task
            case .setPriority(let job, let priority):
                if let live = state.running[job]?.priority { changed = (live, priority) }
            }
        }
        cancelled?.cancel()
        if let changed { changed.0.value = changed.1 }
    }
}
