// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization

/// An executor that runs asynchronous functions on a dedicated thread.
///
/// The waiting callers may block all threads of Swift's cooperative pool, so the functions must not need that pool.
private final class BlockingTaskExecutor: TaskExecutor {
    /// The executor of the blocking wait to which the current task belongs.
    @TaskLocal static var current: BlockingTaskExecutor?

    private let queue = DispatchQueue(label: "webimage-wait")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Blocks the calling thread until an asynchronous closure returns, and returns its result.
///
/// The closure may wait only for structured concurrency, for tasks from ``inheritingTask(_:)``, and for threads. Other
/// tasks need a thread of Swift's pool, and all of its threads may be blocked here.
package func waitingFor<Value: Sendable>(_ body: @escaping @Sendable () async -> Value?) -> Value? {
    let result = SharedResult<Value>()
    let done = DispatchSemaphore(value: 0)
    let executor = BlockingTaskExecutor()
    Task(executorPreference: executor) {
        let value = await BlockingTaskExecutor.$current.withValue(executor) { await body() }
        result.value.withLock { $0 = value }
        done.signal()
    }
    done.wait()
    return result.value.withLock { $0 }
}

/// Starts a task like `Task { … }` that also works while a thread blocks in ``waitingFor(_:)`` for the calling task.
///
/// In this case, the new task uses the same thread as the calling task. A plain task would not, because only child
/// tasks inherit the executor.
package func inheritingTask(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: BlockingTaskExecutor.current, operation: body)
}

private final class SharedResult<Value: Sendable>: Sendable {
    let value = Lock<Value?>(nil)
}
