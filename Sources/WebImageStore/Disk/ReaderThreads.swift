// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

/// Threads that read a disk cache. Lookups that wait are ordered by the live priority of their requests.
typealias ReaderThreads = WorkerPool<EntryReader, RequestPriority>

extension WorkerPool where Context == EntryReader, Priority == RequestPriority {
    /// Queues `job`. The result is `false` once the pool is closed.
    func submit(_ job: @escaping Work) -> Bool { (try? submit(.normal, job)) != nil }

    /// Runs `work` on one of the threads. The result is `nil` once the pool is closed.
    func run<Result: Sendable>(_ work: @escaping @Sendable (EntryReader) -> Result) async -> Result? {
        await run(.normal, work)
    }

    /// Runs `work` on one of the threads, at the live priority ``ReadPriority/current``.
    ///
    /// - Parameters:
    ///   - isWithdrawable: Whether the work is withdrawn if the current task is canceled before a thread begins it.
    ///   - work: The work.
    /// - Returns: The result of the work; `nil` immediately if the work was withdrawn or the pool is closed.
    func read<Result: Sendable>(
        isWithdrawable: Bool, _ work: @escaping @Sendable (EntryReader) -> Result
    ) async -> Result? {
        // An idle thread could begin the work before the cancellation handler withdraws it.
        guard !isWithdrawable || !Task.isCancelled else { return nil }
        let priority = ReadPriority.current
        let known = priority?.value ?? .normal
        let promise = Promise<Result?>()
        guard let id = try? submit(known, { promise.resolve(work($0)) }) else { return nil }
        let token = priority?.follow(from: known) { [weak self] in self?.setPriority(id, $0) }
        defer { if let token { priority?.stopObserving(token) } }
        return await promise.outcome {
            if isWithdrawable, self.withdraw(id) { promise.resolve(nil) }
        }
    }
}
