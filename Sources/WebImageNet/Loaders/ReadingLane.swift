// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// Blocking work of loaders, a few pieces at a time, by live priority, on threads of its own: Swift's cooperative pool must
/// not wait for disks. Thread-safe.
final class ReadingLane: Sendable {
    private let pool: WorkerPool<Void, RequestPriority>

    init(width: Int) { pool = WorkerPool(name: "webimage-load", threads: width) {} }

    /// The number of pieces of work that wait for their turn.
    var waitingCount: Int { pool.waitingCount }

    /// Runs the `work` of a load when its turn has come, at the load's live priority.
    ///
    /// - Parameters:
    ///   - context: The load's context, whose priority orders the work.
    ///   - work: The work. Its argument reports whether its result is no longer wanted.
    /// - Throws: The error of `work`, or ``RequestError/cancelled`` as soon as the surrounding Swift task is canceled.
    func run(
        _ context: LoadContext,
        _ work: @escaping @Sendable (_ isCancelled: () -> Bool) throws(ImageError) -> LoadResponse
    ) async throws(ImageError) -> LoadResponse {
        let promise = Promise<Result<LoadResponse, ImageError>>()
        let known = context.priority
        let id = try submit(known) {
            guard !promise.isResolved else { return }
            do throws(ImageError) {
                promise.resolve(.success(try work { promise.isResolved }))
            } catch {
                promise.resolve(.failure(error))
            }
        }
        // After the submission: a change that came before it would find no work.
        context.followPriority(from: known) { [pool] in pool.setPriority(id, $0) }
        return try await promise.value { [pool] in
            promise.resolve(.failure(.request(.cancelled)))
            _ = pool.withdraw(id)
        }
    }

    private func submit(_ priority: RequestPriority, _ work: @escaping @Sendable () -> Void) throws(ImageError) -> Int {
        do {
            return try pool.submit(priority) { _ in work() }
        } catch {
            // Only a pool that is gone refuses work.
            throw .request(.managerClosed)
        }
    }
}
