// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization

/// Runs asynchronous functions on a thread of its own. Those who wait for them may hold every thread of Swift's
/// cooperative pool, so the pool must not be needed.
private final class WaitingExecutor: TaskExecutor {
    /// The executor of the wait that the present task works for.
    @TaskLocal static var current: WaitingExecutor?

    private let queue = DispatchQueue(label: "webimage-wait")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// The result of `body`; the calling thread waits for it. Everything that `body` waits for must be done by structured
/// concurrency, by ``inheritingTask(_:)``, or by threads: a task of another kind waits for a thread of Swift's pool,
/// whose threads may all be waiting here.
package func waitingFor<Value: Sendable>(_ body: @escaping @Sendable () async -> Value?) -> Value? {
    let result = SharedResult<Value>()
    let done = DispatchSemaphore(value: 0)
    let executor = WaitingExecutor()
    Task(executorPreference: executor) {
        let value = await WaitingExecutor.$current.withValue(executor) { await body() }
        result.value.withLock { $0 = value }
        done.signal()
    }
    done.wait()
    return result.value.withLock { $0 }
}

/// Starts a task like `Task { … }`, but where a thread waits for the calling task (``waitingFor(_:)``), the new task runs
/// on the same thread as the calling one. A plain task would not: executors are inherited by child tasks only.
package func inheritingTask(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: WaitingExecutor.current, operation: body)
}

private final class SharedResult<Value: Sendable>: Sendable {
    let value = Lock<Value?>(nil)
}
