// SPDX-License-Identifier: MIT

import Synchronization

/// Runs all operations concurrently and returns the first result that isn't `nil`.
///
/// The function cancels the other operations and doesn't wait for them. The result is `nil` if all operations return
/// `nil` or if the calling task is canceled.
package func firstResult<Value: Sendable>(of questions: [@Sendable () async -> Value?]) async -> Value? {
    guard !questions.isEmpty else { return nil }
    let promise = Promise<Value?>()
    let open = Countdown(questions.count)
    let tasks = questions.map { question in
        inheritingTask {
            let answer = await question()
            if answer != nil || open.isLast() { promise.resolve(answer) }
        }
    }
    let answer = await promise.outcome { promise.resolve(nil) }
    for task in tasks { task.cancel() }
    return answer
}

/// A thread-safe counter of the operations without a result.
private final class Countdown: Sendable {
    private let count: Atomic<Int>

    init(_ count: Int) { self.count = Atomic(count) }

    func isLast() -> Bool { count.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}
