// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization

/// Runs asynchronous functions on a thread of its own. Those who wait for them may hold every thread of Swift's
/// cooperative pool, so the pool must not be needed.
private final class WaitingExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "webimage-wait")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// What `body` returns; the calling thread waits for it.
package func waitingFor<Value: Sendable>(_ body: @escaping @Sendable () async -> Value?) -> Value? {
    let result = SharedResult<Value>()
    let done = DispatchSemaphore(value: 0)
    Task(executorPreference: WaitingExecutor()) {
        let value = await body()
        result.value.withLock { $0 = value }
        done.signal()
    }
    done.wait()
    return result.value.withLock { $0 }
}

private final class SharedResult<Value: Sendable>: Sendable {
    let value = Lock<Value?>(nil)
}
