// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore

/// Threads for decoding, transforming, and encoding: one per core, never Swift's cooperative pool. The cost of work is
/// the number of bytes of its decoded pixels.
typealias WorkerPool = WebImageConcurrency.WorkerPool<WorkerLane.Stay, RequestPriority>

extension WorkerPool {
    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - threads: The number of threads. The default is one per active core.
    ///   - byteBudget: The decoded bytes of all running work together. One piece of work alone may exceed it.
    ///   - waitingLimit: More waiting work than this is refused as overloaded.
    convenience init(
        threads: Int = ProcessInfo.processInfo.activeProcessorCount, byteBudget: Int = 512 << 20,
        waitingLimit: Int = 100_000
    ) {
        self.init(
            name: "webimage-worker", threads: threads, stackSize: 2 << 20, costLimit: byteBudget,
            waitingLimit: waitingLimit
        ) { WorkerLane.Stay() }
    }

    /// Runs `body` on a worker thread.
    ///
    /// - Parameters:
    ///   - cost: The decoded bytes that `body` is going to need.
    ///   - priority: The order in the queue, live.
    ///   - limits: The limits of the context that `body` works in.
    ///   - body: The work.
    /// - Throws: The error of `body`; ``RequestError/cancelled`` soon after the calling Swift task is canceled:
    ///   immediately while waiting, at the next checkpoint while running; ``RequestError/managerClosed`` after
    ///   ``close()``; a ``LimitError`` of kind overloaded if too much work waits.
    func run<Value: Sendable>(
        cost: Int, priority: LivePriority, limits: Limits,
        _ body: @escaping @Sendable (CodingContext) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        let promise = Promise<Result<Value, ImageError>>()
        let flag = CancellationFlag()
        let known = priority.value
        let id = try enqueue(cost: cost, priority: known) {
            guard !flag.isCancelled else {
                promise.resolve(.failure(.request(.cancelled)))
                return
            }
            do throws(ImageError) {
                promise.resolve(.success(try body(CodingContext(limits: limits, cancellation: flag))))
            } catch {
                promise.resolve(.failure(error))
            }
        }
        let token = priority.follow(from: known) { [weak self] in self?.setPriority(id, $0) }
        defer { priority.stopObserving(token) }
        return try await promise.value {
            flag.cancel()
            // Work that already runs ends itself at its next checkpoint and resolves then: its memory is in use
            // until that moment.
            if self.withdraw(id) { promise.resolve(.failure(.request(.cancelled))) }
        }
    }

    /// Runs `body`, which takes about a microsecond for every 10 KB it looks at: immediately if that is short, otherwise
    /// on a worker thread before all decodes, so that a look at bytes never waits behind them.
    func look<Value: Sendable>(
        byteCount: Int, limits: Limits, _ body: @escaping @Sendable (CodingContext) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        guard byteCount > Self.briefLook else { return try body(CodingContext(limits: limits)) }
        return try await run(cost: 0, priority: LivePriority(.veryHigh), limits: limits, body)
    }

    /// Bytes that are looked at within a few tens of microseconds.
    private static var briefLook: Int { 256 << 10 }

    private func enqueue(
        cost: Int, priority: RequestPriority, _ work: @escaping @Sendable () -> Void
    ) throws(ImageError) -> Int {
        do throws(Refusal) {
            return try submit(priority, cost: cost) { _ in work() }
        } catch {
            switch error {
            case .closed: throw .request(.managerClosed)
            case .full(let limit): throw .limit(LimitError(.overloaded, limit: limit, actual: limit + 1))
            }
        }
    }
}
