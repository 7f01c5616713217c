// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// A pool of threads for work that must not run on Swift's cooperative pool because it computes for a long time or
/// waits for a disk.
///
/// The priorities of waiting work determine its order and can change. The total cost of all running work stays within a
/// limit. A thread starts when there is work for it. It owns one `Context`, which its work uses without a lock.
package final class WorkerPool<Context, Priority: PriorityLevel>: Sendable {
    package typealias Work = @Sendable (Context) -> Void

    /// The reason why the pool rejects work.
    package enum Refusal: Error, Hashable {
        /// The pool is closed.
        case closed
        /// The maximum number of waiting work items is reached.
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
    private let condition = ConditionVariable<State>(State())

    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - name: The name of the threads, to which a number is added.
    ///   - threads: The number of threads. The minimum is one.
    ///   - stackSize: The stack size of the threads in bytes, or `nil` for the default of the system.
    ///   - costLimit: The maximum total cost of all running work. A single work item may exceed it.
    ///   - waitingLimit: The maximum number of waiting work items. Beyond it, the pool rejects work.
    ///   - makeContext: A closure that creates the context of a thread on that thread.
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

    /// Ends the threads after the waiting work is finished. The pool rejects new work.
    package func close() { condition.withLock(wakeAll: true) { $0.isClosed = true } }

    /// Limits the number of work items that run at the same time, or removes the limit if it's `nil`. Running work
    /// continues.
    package func limit(toThreads limit: Int?) {
        condition.withLock(wakeAll: true) { $0.runningLimit = max(1, limit ?? .max) }
    }

    /// The number of waiting and running work items.
    package var load: Int { condition.withLock { $0.queue.count + $0.running } }

    /// The number of waiting work items.
    package var waitingCount: Int { condition.withLock { $0.queue.count } }

    /// Runs a closure on one of the threads. Returns `nil` if the pool is closed or full.
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

    /// Enqueues work and returns its identifier for ``setPriority(_:_:)`` and ``withdraw(_:)``.
    ///
    /// - Throws: A ``Refusal`` if the pool is closed or full.
    @discardableResult
    package func submit(_ priority: Priority, cost: Int = 0, _ work: @escaping Work) throws(Refusal) -> Int {
        let place = condition.withLock(wakeOne: true) { state -> Result<(id: Int, thread: Int?), Refusal> in
            // Reject the work because the threads may have ended.
            guard !state.isClosed else { return .failure(.closed) }
            guard state.queue.count < waitingLimit else { return .failure(.full(limit: waitingLimit)) }
            state.nextID += 1
            state.entries[state.nextID] = Entry(cost: cost, work: work)
            state.queue.push(state.nextID, priority)
            // A woken thread counts as idle until it has taken its work, and that work counts as waiting.
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

    /// Changes the priority of waiting work.
    package func setPriority(_ id: Int, _ priority: Priority) {
        condition.withLock { if $0.queue.contains(id) { $0.queue.push(id, priority) } }
    }

    /// Removes waiting work. Returns `false` if the work isn't waiting.
    package func withdraw(_ id: Int) -> Bool {
        // Release the work after unlocking because a deinitializer of its captures may call this pool again. Wake a
        // thread because the next work may fit the cost limit.
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

    private static func loop(_ condition: ConditionVariable<State>, _ costLimit: Int, _ context: Context) {
        var isIdle = false
        while true {
            let entry = condition.wait { state -> ConditionVariable<State>.Decision<Entry> in
                if isIdle {
                    state.idle -= 1
                    isIdle = false
                }
                if let next = state.dequeueNext(costLimit) { return .proceed(next) }
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
    /// Returns the most urgent work if it can start.
    ///
    /// If it doesn't fit, no other work starts either. Otherwise, inexpensive work could delay expensive work
    /// indefinitely.
    fileprivate mutating func dequeueNext(_ costLimit: Int) -> WorkerPool.Entry? {
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
