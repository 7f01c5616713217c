// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore

/// A pool of threads for decoding, transforming, and encoding, with one thread per core. This work never runs on
/// Swift's cooperative thread pool. The cost of a job is the size of its decoded pixels in bytes.
typealias WorkerPool = WebImageConcurrency.WorkerPool<WorkerThreadNames.Registration, RequestPriority>

extension WorkerPool {
    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - threads: The number of threads. The default is one per active core.
    ///   - byteBudget: The budget for the decoded pixels of all running jobs, in bytes. A single job can exceed it. The
    ///     default is 512 MiB.
    ///   - waitingLimit: The maximum number of waiting jobs. Further jobs are rejected. The default is 100,000.
    convenience init(
        threads: Int = ProcessInfo.processInfo.activeProcessorCount, byteBudget: Int = 512 << 20,
        waitingLimit: Int = 100_000
    ) {
        self.init(
            name: "webimage-worker", threads: threads, stackSize: 2 << 20, costLimit: byteBudget,
            waitingLimit: waitingLimit
        ) { WorkerThreadNames.Registration() }
    }

    /// Runs `body` on a worker thread.
    ///
    /// If the calling Swift task is canceled, a waiting job ends immediately and a running job ends at its next
    /// checkpoint.
    ///
    /// - Parameters:
    ///   - cost: The size of the decoded pixels that `body` needs, in bytes.
    ///   - priority: The live priority, which determines the order in the queue.
    ///   - limits: The limits of the context for `body`.
    ///   - body: The work.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`, ``ImageError/cancelled`` after the calling Swift task is canceled,
    ///   ``ImageError/RequestFailure/managerShutDown`` after ``close()``, or an ``ImageError/LimitFailure`` of the kind
    ///   overloaded if too many jobs are waiting.
    func run<Value: Sendable>(
        cost: Int, priority: SharedPriority, limits: ImageLimits,
        _ body: @escaping @Sendable (ImageProcessingContext) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        let promise = Promise<Result<Value, ImageError>>()
        let flag = CancellationFlag()
        let known = priority.value
        let id = try enqueue(cost: cost, priority: known) {
            guard !flag.isCancelled else {
                promise.resolve(.failure(.cancelled))
                return
            }
            do throws(ImageError) {
                let context = ImageProcessingContext(limits: limits, isCancelled: { flag.isCancelled })
                promise.resolve(.success(try body(context)))
            } catch {
                promise.resolve(.failure(error))
            }
        }
        let token = priority.follow(from: known) { [weak self] in self?.setPriority(id, $0) }
        defer { priority.stopObserving(token) }
        return try await promise.value {
            flag.cancel()
            // A running job ends at its next checkpoint and resolves the promise then, because its memory is in use
            // until that moment.
            if self.withdraw(id) { promise.resolve(.failure(.cancelled)) }
        }
    }

    /// Runs `body`, which takes about a microsecond for every 10 KB that it inspects.
    ///
    /// Short work runs immediately. Longer work runs on a worker thread with a priority above all decodes, so that it
    /// doesn't wait for them.
    func inspect<Value: Sendable>(
        byteCount: Int, limits: ImageLimits,
        _ body: @escaping @Sendable (ImageProcessingContext) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        guard byteCount > Self.maxInlineBytes else { return try body(ImageProcessingContext(limits: limits)) }
        return try await run(cost: 0, priority: SharedPriority(.veryHigh), limits: limits, body)
    }

    /// The maximum number of bytes to inspect on the calling thread, which takes a few tens of microseconds.
    private static var maxInlineBytes: Int { 256 << 10 }

    private func enqueue(
        cost: Int, priority: RequestPriority, _ work: @escaping @Sendable () -> Void
    ) throws(ImageError) -> Int {
        do throws(Refusal) {
            return try submit(priority, cost: cost) { _ in work() }
        } catch {
            switch error {
            case .closed: throw .request(.managerShutDown)
            case .full(let limit):
                throw .limitExceeded(ImageError.LimitFailure(.overloaded, limit: limit, actual: limit + 1))
            }
        }
    }
}
