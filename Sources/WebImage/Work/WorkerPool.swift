// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageCore

/// Threads for decoding, transforming and encoding: one per core, never Swift's cooperative pool. What waits is
/// ordered by live priority; the pixels that all running work needs together stay within a byte budget.
final class WorkerPool: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        var queue = WorkQueue<Work>()
        var nextID = 0
        var running = 0
        var bytesInFlight = 0
        var isClosed = false
        var threadLimit = Int.max
    }

    private let condition = WorkCondition<State>(State())
    private let byteBudget: Int
    private let waitingLimit: Int

    /// - Parameters:
    ///   - threads: default one per active core.
    ///   - byteBudget: decoded bytes of all running work together; one piece of work alone may exceed it.
    ///   - waitingLimit: more waiting work than this is refused as overloaded.
    init(
        threads: Int = ProcessInfo.processInfo.activeProcessorCount, byteBudget: Int = 512 << 20,
        waitingLimit: Int = 100_000
    ) {
        self.byteBudget = byteBudget
        self.waitingLimit = waitingLimit
        for index in 0..<max(1, threads) {
            let thread = Thread { [condition] in
                WorkerLane.enter()
                defer { WorkerLane.leave() }
                Self.loop(condition, byteBudget)
            }
            thread.name = "webimage-worker-\(index)"
            thread.stackSize = 2 << 20
            thread.start()
        }
    }

    deinit { close() }

    /// Ends the threads after the work that is waiting; more is refused.
    func close() { condition.withLock(wakeAll: true) { $0.isClosed = true } }

    /// Lets at most so many pieces of work start at a time; nil for all threads. What runs goes on.
    func limit(toThreads limit: Int?) {
        condition.withLock(wakeAll: true) { $0.threadLimit = max(1, limit ?? .max) }
    }

    /// Pieces of work that wait or run.
    var load: Int { condition.withLock { $0.queue.count + $0.running } }

    /// Runs `body` on a worker thread.
    ///
    /// - Parameters:
    ///   - cost: decoded bytes that `body` is going to need.
    ///   - priority: order in the queue, live.
    /// - Throws: what `body` throws; ``RequestError/cancelled`` soon after the calling Swift task is cancelled:
    ///   at once while waiting, at the next checkpoint while running; ``RequestError/managerClosed`` after ``close()``.
    func run<Value: Sendable>(
        cost: Int, priority: LivePriority, limits: Limits,
        _ body: @escaping @Sendable (CodingContext) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        let waiter = JobWaiter<Value>()
        let flag = CancellationFlag()
        let id = try enqueue(cost: cost, priority: priority.value) {
            guard !flag.isCancelled else { return waiter.resolve(.failure(.request(.cancelled))) }
            do throws(ImageError) {
                waiter.resolve(.success(try body(CodingContext(limits: limits, cancellation: flag))))
            } catch {
                waiter.resolve(.failure(error))
            }
        }
        let token = priority.observe { [weak self] in self?.setPriority(id, priority.value) }
        defer { priority.stopObserving(token) }
        setPriority(id, priority.value)
        return try await waiter.value {
            flag.cancel()
            // Work that already runs ends itself at its next checkpoint and resolves then: its memory is in use
            // until that moment.
            if self.withdraw(id) { waiter.resolve(.failure(.request(.cancelled))) }
        }
    }

    /// Runs `body`, which takes about a microsecond for every 10 KB it looks at: at once where that is nothing, else on
    /// a worker thread before all decodes, so that a look at bytes never waits behind them.
    func look<Value: Sendable>(
        byteCount: Int, limits: Limits, _ body: @escaping @Sendable (CodingContext) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        guard byteCount > Self.briefLook else { return try body(CodingContext(limits: limits)) }
        return try await run(cost: 0, priority: LivePriority(.veryHigh), limits: limits, body)
    }

    /// Bytes that are looked at within a few tens of microseconds.
    private static let briefLook = 256 << 10

    private func enqueue(cost: Int, priority: RequestPriority, _ work: @escaping Work) throws(ImageError) -> Int {
        let limit = waitingLimit
        let place = condition.withLock(wakeOne: true) { state -> Result<Int, ImageError> in
            // The threads may have ended: nobody would ever do it.
            guard !state.isClosed else { return .failure(.request(.managerClosed)) }
            guard state.queue.count < limit else {
                return .failure(.limit(LimitError(.overloaded, limit: limit, actual: limit + 1)))
            }
            state.nextID += 1
            state.queue.push(.init(id: state.nextID, cost: cost, item: work), priority)
            return .success(state.nextID)
        }
        return try place.get()
    }

    private func setPriority(_ id: Int, _ priority: RequestPriority) {
        condition.withLock { $0.queue.setPriority(id, priority) }
    }

    private func withdraw(_ id: Int) -> Bool {
        let entry = condition.withLock(wakeOne: true) { $0.queue.remove(id) }
        return entry != nil
    }

    private static func loop(_ condition: WorkCondition<State>, _ byteBudget: Int) {
        while true {
            let entry = condition.wait { state -> WorkCondition<State>.Decision<WorkQueue<Work>.Entry> in
                let next = state.queue.popFirst { entry in
                    state.running == 0
                        || state.running < state.threadLimit && state.bytesInFlight + entry.cost <= byteBudget
                }
                if let next {
                    state.running += 1
                    state.bytesInFlight += next.cost
                    return .take(next)
                }
                return state.isClosed && state.queue.isEmpty ? .stop : .wait
            }
            guard let entry else { return }
            entry.item()
            condition.withLock(wakeAll: true) { state in
                state.running -= 1
                state.bytesInFlight -= entry.cost
            }
        }
    }
}
