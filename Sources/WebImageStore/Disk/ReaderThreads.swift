// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

/// The threads that read a disk cache. The live priority of the requests determines the order of waiting lookups.
typealias ReaderThreads = WorkerPool<EntryReader, RequestPriority>

extension WorkerPool where Context == EntryReader, Priority == RequestPriority {
    /// Enqueues a job. Returns `false` if the pool is closed.
    func submit(_ job: @escaping Work) -> Bool { (try? submit(.normal, job)) != nil }

    /// Runs a closure on one of the threads. Returns `nil` if the pool is closed.
    func run<Result: Sendable>(_ work: @escaping @Sendable (EntryReader) -> Result) async -> Result? {
        await run(.normal, work)
    }

    /// The closure runs at the live priority ``ReadPriority/current``.
    ///
    /// If `isWithdrawable` is `true`, canceling the current task withdraws the work before a thread starts it. Returns
    /// `nil` immediately if the work was withdrawn or the pool is closed.
    func read<Result: Sendable>(
        isWithdrawable: Bool, _ work: @escaping @Sendable (EntryReader) -> Result
    ) async -> Result? {
        // An idle thread could start the work before the cancellation handler withdraws it.
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
