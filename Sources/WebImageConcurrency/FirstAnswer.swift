// SPDX-License-Identifier: MIT

import Synchronization

/// Asks all `questions` at the same time; the first answer that is not `nil` counts. Returns without waiting for the
/// other questions, which are canceled. The result is `nil` if there is no answer, or if the calling task is canceled.
package func firstAnswer<Value: Sendable>(of questions: [@Sendable () async -> Value?]) async -> Value? {
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

/// Counts questions without an answer. Thread-safe.
private final class Countdown: Sendable {
    private let count: Atomic<Int>

    init(_ count: Int) { self.count = Atomic(count) }

    func isLast() -> Bool { count.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}
