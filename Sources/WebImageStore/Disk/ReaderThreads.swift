// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

/// Threads that read a disk cache. Work runs in the order in which it came.
typealias ReaderThreads = WorkerPool<EntryReader, RequestPriority>

extension WorkerPool where Context == EntryReader, Priority == RequestPriority {
    /// Queues `job`. The result is `false` once the pool is closed.
    func submit(_ job: @escaping Work) -> Bool { (try? submit(.normal, job)) != nil }

    /// Runs `work` on one of the threads. The result is `nil` once the pool is closed.
    func run<Result: Sendable>(_ work: @escaping @Sendable (EntryReader) -> Result) async -> Result? {
        await run(.normal, work)
    }
}
