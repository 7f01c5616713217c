// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// Links a waiting Swift task with its work on another thread: a promise with a number by which other threads name the
/// work. Thread-safe.
struct Ticket<Outcome: Sendable>: Sendable {
    let id = TicketNumbers.next()
    private let promise = Promise<Outcome>()

    /// Whether the outcome is decided: nothing that happens later is of interest.
    var isResolved: Bool { promise.isResolved }

    /// For the resumed task, before it looks at objects in the outcome: the thread sanitizer does not see that resuming
    /// orders memory, but sees locks.
    @inline(__always)
    func showOrder() {
        #if THREAD_SANITIZER
            _ = isResolved
        #endif
    }

    /// Accepts the task's continuation. The result is `false` if the outcome is decided already: the task resumes
    /// immediately, and no work is to be started.
    func install(_ continuation: CheckedContinuation<Outcome, Never>) -> Bool { promise.install(continuation) }

    /// Decides the outcome; only the first call does.
    func resolve(_ outcome: Outcome) { promise.resolve(outcome) }
}

/// Numbers that are given once in the process.
private enum TicketNumbers {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
