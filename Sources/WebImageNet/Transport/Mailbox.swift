// SPDX-License-Identifier: MIT

import CCurl
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// What the network thread is asked to do.
enum NetworkCommand: Sendable {
    case add(Submission)
    case cancel(UInt64)
    case setPriority(UInt64, RequestPriority)
    case suspend(Bool)
    case close
}

/// A transfer on its way to the network thread.
struct Submission: Sendable {
    /// Counted by the transport: commands name the transfer by it.
    let id: UInt64
    /// Takes the outcome to the task that waits.
    let promise: Promise<TransferOutcome>
    let order: TransferOrder
    let priority: RequestPriority
    let observer: @Sendable (TransferEvent) -> Void
    /// Whether the observer wants the wait, the head, and the body too, and not only the start.
    let wantsBody: Bool
    /// Nanoseconds of the monotonic clock.
    let enqueued: Int64
    /// Where its steps are counted; it counts as waiting.
    let activity: OriginActivity

    var request: TransferRequest { order.request }
}

/// Commands for the network thread, and what wakes it. Posting never blocks beyond an append. Thread-safe.
final class Mailbox: Sendable {
    private struct State {
        var commands: [NetworkCommand] = []
        var isClosed = false
        /// Whether the network thread is to be woken.
        var isAsleep = false
    }

    private let state = Lock(State())
    /// Readable where a command came after ``goToSleep()``.
    let waker: Int32

    init() { waker = wi_wake_create() }

    deinit { if waker >= 0 { close(waker) } }

    /// Leaves a command. False once the network thread takes none any more.
    @discardableResult
    func post(_ command: NetworkCommand) -> Bool {
        let (isAccepted, isAsleep) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.commands.append(command)
            defer { state.isAsleep = false }
            return (true, state.isAsleep)
        }
        if isAsleep { wi_wake_signal(waker) }
        return isAccepted
    }

    /// Whether nothing waits; then the next command makes ``waker`` readable.
    func goToSleep() -> Bool {
        state.withLock { state in
            state.isAsleep = state.commands.isEmpty
            return state.isAsleep
        }
    }

    /// Takes all commands in the order they were left.
    func take() -> [NetworkCommand] {
        state.withLock { state in
            state.isAsleep = false
            guard !state.commands.isEmpty else { return [] }
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Takes the last commands and refuses all later ones.
    func closeAndTake() -> [NetworkCommand] {
        state.withLock { state in
            state.isClosed = true
            defer { state.commands = [] }
            return state.commands
        }
    }
}
