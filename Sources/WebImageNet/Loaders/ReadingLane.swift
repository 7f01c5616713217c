// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization
import WebImageCore

/// Blocking work, a few pieces at a time, by priority, on libdispatch's threads: Swift's cooperative pool must not
/// wait for disks. Thread-safe.
final class ReadingLane: Sendable {
    private struct State {
        var order = LevelQueue<UInt64>()
        var work: [UInt64: @Sendable () -> Void] = [:]
        var workers = 0
    }

    private let state = Lock(State())
    private let width: Int
    private let queue = DispatchQueue(label: "webimage.reading", attributes: .concurrent)

    init(width: Int) { self.width = max(width, 1) }

    /// Runs `work` when its turn has come.
    func submit(_ id: UInt64, _ priority: RequestPriority, _ work: @escaping @Sendable () -> Void) {
        let needsWorker = state.withLock { state in
            state.order.push(id, priority)
            state.work[id] = work
            guard state.workers < width else { return false }
            state.workers += 1
            return true
        }
        if needsWorker { queue.async { self.runAll() } }
    }

    /// Changes the priority of work that waits.
    func setPriority(_ id: UInt64, _ priority: RequestPriority) {
        state.withLock { if $0.order.contains(id) { $0.order.push(id, priority) } }
    }

    /// Drops work that waits.
    func cancel(_ id: UInt64) {
        state.withLock { state in
            if state.order.remove(id) { state.work[id] = nil }
        }
    }

    /// Runs the `work` of a load when its turn has come, at the load's live priority.
    ///
    /// - Parameter work: is told by its argument whether its result is still wanted.
    /// - Throws: what `work` throws, or ``RequestError/cancelled`` as soon as the surrounding Swift task is cancelled.
    func run(
        _ context: LoadContext,
        _ work: @escaping @Sendable (_ isCancelled: () -> Bool) throws(ImageError) -> LoadResponse
    ) async throws(ImageError) -> LoadResponse {
        let ticket = Ticket<Result<LoadResponse, ImageError>>()
        context.observePriority { [self] priority in setPriority(ticket.id, priority) }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard ticket.install(continuation) else { return }
                submit(ticket.id, context.priority) {
                    do throws(ImageError) {
                        ticket.resolve(.success(try work { ticket.isResolved }))
                    } catch {
                        ticket.resolve(.failure(error))
                    }
                }
            }
        } onCancel: {
            ticket.resolve(.failure(.request(.cancelled)))
            cancel(ticket.id)
        }
        return try outcome.get()
    }

    /// Pieces of work that wait for their turn.
    var waitingCount: Int { state.withLock { $0.work.count } }

    private func runAll() {
        while let work = next() { work() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard let id = state.order.pop() else {
                state.workers -= 1
                return nil
            }
            return state.work.removeValue(forKey: id)
        }
    }
}
