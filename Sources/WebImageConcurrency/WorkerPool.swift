// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// A few threads for work that must not run on Swift's cooperative pool: it computes for long, or waits for a disk. What
/// waits is ordered by priority, which may change; the costs of all running work together stay within a limit.
///
/// A thread starts when there is work for it, and owns one `Context`, which its work uses without a lock.
package final class WorkerPool<Context, Priority: PriorityLevel>: Sendable {
    package typealias Work = @Sendable (Context) -> Void

    /// The reason why work is not accepted.
    package enum Refusal: Error, Hashable {
        /// The pool is closed.
        case closed
        /// As much work waits as may wait.
        case full(limit: Int)
    }

    fileprivate struct Entry {
        let cost: Int
        let work: Work
    }

    fileprivate struct State {
        var queue = PriorityQueue<Int, Priority>()
        var entries: [Int: Entry] = [:]
        var nextID = 0
        var started = 0
        var idle = 0
        var running = 0
        var costInFlight = 0
        var isClosed = false
        var runningLimit = Int.max
    }

    private let name: String
    private let threads: Int
    private let stackSize: Int?
    private let costLimit: Int
    private let waitingLimit: Int
    private let makeContext: @Sendable () -> Context
    private let condition = Condition<State>(State())

    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - name: The name of its threads, which are numbered.
    ///   - threads: The number of threads, at least one.
    ///   - stackSize: The size of their stacks; `nil` for the default of the system.
    ///   - costLimit: The costs of all running work together. One piece of work alone may exceed it.
    ///   - waitingLimit: More waiting work than this is refused.
    ///   - makeContext: Makes the context of a thread, on that thread.
    package init(
        name: String, threads: Int, stackSize: Int? = nil, costLimit: Int = .max, waitingLimit: Int = .max,
        makeContext: @escaping @Sendable () -> Context
    ) {
        self.name = name
        self.threads = max(1, threads)
        self.stackSize = stackSize
        self.costLimit = costLimit
        self.waitingLimit = waitingLimit
        self.makeContext = makeContext
    }

    deinit { close() }

    /// Ends the threads after the work that waits; more is refused.
    package func close() { condition.withLock(wakeAll: true) { $0.isClosed = true } }

    /// Limits the number of pieces of work that start at a time; `nil` for all threads. What runs continues.
    package func limit(toThreads limit: Int?) {
        condition.withLock(wakeAll: true) { $0.runningLimit = max(1, limit ?? .max) }
    }

    /// The number of pieces of work that wait or run.
    package var load: Int { condition.withLock { $0.queue.count + $0.running } }

    /// The number of pieces of work that wait.
    package var waitingCount: Int { condition.withLock { $0.queue.count } }

    /// Runs `work` on one of the threads. The result is `nil` if the pool is closed or full.
    package func run<Value: Sendable>(
        _ priority: Priority, cost: Int = 0, _ work: @escaping @Sendable (Context) -> Value
    ) async -> Value? {
        let promise = Promise<Value>()
        do throws(Refusal) {
            try submit(priority, cost: cost) { promise.resolve(work($0)) }
        } catch {
            return nil
        }
        return await promise.outcome {}
    }

    /// Queues `work`. The result names it for ``setPriority(_:_:)`` and ``withdraw(_:)``.
    ///
    /// - Throws: A ``Refusal`` if the pool is closed or full.
    @discardableResult
    package func submit(_ priority: Priority, cost: Int = 0, _ work: @escaping Work) throws(Refusal) -> Int {
        let place = condition.withLock(wakeOne: true) { state -> Result<(id: Int, thread: Int?), Refusal> in
            // The threads may have ended: nothing would ever do it.
            guard !state.isClosed else { return .failure(.closed) }
            guard state.queue.count < waitingLimit else { return .failure(.full(limit: waitingLimit)) }
            state.nextID += 1
            state.entries[state.nextID] = Entry(cost: cost, work: work)
            state.queue.push(state.nextID, priority)
            // A thread that was woken counts as idle until it has taken its work, and that work as waiting.
            guard state.queue.count > state.idle, state.started < threads else {
                return .success((state.nextID, nil))
            }
            state.started += 1
            return .success((state.nextID, state.started - 1))
        }
        let (id, thread) = try place.get()
        if let thread { start(thread) }
        return id
    }

    /// Changes the priority of work that waits.
    package func setPriority(_ id: Int, _ priority: Priority) {
        condition.withLock { if $0.queue.contains(id) { $0.queue.push(id, priority) } }
    }

    /// Removes work that waits. The result is `false` if it does not wait.
    package func withdraw(_ id: Int) -> Bool {
        // Released after the lock: a closure may own things whose deinit comes back here. What waited for its cost may
        // fit now.
        let removed = condition.withLock(wakeOne: true) { state -> Entry? in
            state.queue.remove(id)
            return state.entries.removeValue(forKey: id)
        }
        return removed != nil
    }

    private func start(_ number: Int) {
        let thread = Thread { [condition, costLimit, makeContext] in
            Self.loop(condition, costLimit, makeContext())
        }
        thread.name = "\(name)-\(number)"
        if let stackSize { thread.stackSize = stackSize }
        thread.start()
    }

    private static func loop(_ condition: Condition<State>, _ costLimit: Int, _ context: Context) {
        var isIdle = false
        while true {
            let entry = condition.wait { state -> Condition<State>.Decision<Entry> in
                if isIdle {
                    state.idle -= 1
                    isIdle = false
                }
                if let next = state.takeNext(costLimit) { return .take(next) }
                if state.isClosed, state.queue.isEmpty { return .stop }
                state.idle += 1
                isIdle = true
                return .wait
            }
            guard let entry else { return }
            entry.work(context)
            condition.withLock(wakeAll: true) { state in
                state.running -= 1
                state.costInFlight -= entry.cost
            }
        }
    }
}

extension WorkerPool.State {
    /// The most urgent work if it may start. If it does not fit, nothing starts: expensive work must not starve behind
    /// cheap work.
    fileprivate mutating func takeNext(_ costLimit: Int) -> WorkerPool.Entry? {
        guard let id = queue.first, let entry = entries[id] else { return nil }
        let fits = running < runningLimit && costInFlight + entry.cost <= costLimit
        guard running == 0 || fits else { return nil }
        queue.remove(id)
        entries[id] = nil
        running += 1
        costInFlight += entry.cost
        return entry
    }
}
