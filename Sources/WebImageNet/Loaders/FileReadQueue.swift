// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// A scheduler for the blocking work of loaders, because Swift's cooperative pool must not wait for disks.
///
/// It runs a limited number of work items at the same time on dedicated threads, in the order of their live
/// priorities. Thread-safe.
final class FileReadQueue: Sendable {
    private let pool: WorkerPool<Void, RequestPriority>

    init(width: Int) { pool = WorkerPool(name: "webimage-load", threads: width) {} }

    var waitingCount: Int { pool.waitingCount }

    /// The priority of `context` determines the order. The argument of `work` returns whether the result is no longer
    /// needed.
    ///
    /// Throws ``ImageError/cancelled`` as soon as the surrounding Swift task is canceled.
    func run<Value: Sendable>(
        _ context: LoadContext,
        _ work: @escaping @Sendable (_ isCancelled: () -> Bool) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        let promise = Promise<Result<Value, ImageError>>()
        let known = context.priority
        let id = try submit(known) {
            guard !promise.isResolved else { return }
            do throws(ImageError) {
                promise.resolve(.success(try work { promise.isResolved }))
            } catch {
                promise.resolve(.failure(error))
            }
        }
        // Observe the priority after the submission, because an earlier change would find no work item.
        context.followPriority(from: known) { [pool] in pool.setPriority(id, $0) }
        return try await promise.value { [pool] in
            promise.resolve(.failure(.cancelled))
            _ = pool.withdraw(id)
        }
    }

    private func submit(_ priority: RequestPriority, _ work: @escaping @Sendable () -> Void) throws(ImageError) -> Int {
        do {
            return try pool.submit(priority) { _ in work() }
        } catch {
            // Only a closed pool rejects work.
            throw .request(.managerShutDown)
        }
    }
}
