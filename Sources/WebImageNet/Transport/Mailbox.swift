// SPDX-License-Identifier: MIT

import CCurl
import Glibc
import Synchronization
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
    let ticket: Ticket<TransferOutcome>
    let order: TransferOrder
    let priority: RequestPriority
    let observer: @Sendable (TransferEvent) -> Void
    /// Nanoseconds of the monotonic clock.
    let enqueued: Int64

    var request: TransferRequest { order.request }
}

/// Commands for the network thread, and what wakes it. Posting never blocks beyond an append. Thread-safe.
final class Mailbox: Sendable {
    private struct State {
        var commands: [NetworkCommand] = []
        var isClosed = false
    }

    private let state = Lock(State())
    /// Readable while commands wait.
    let waker: Int32

    init() { waker = wi_wake_create() }

    deinit { if waker >= 0 { close(waker) } }

    /// Leaves a command. False once the network thread takes none any more.
    @discardableResult
    func post(_ command: NetworkCommand) -> Bool {
        let (isAccepted, isFirst) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.commands.append(command)
            return (true, state.commands.count == 1)
        }
        if isFirst { wi_wake_signal(waker) }
        return isAccepted
    }

    /// Takes all commands in the order they were left.
    func take() -> [NetworkCommand] {
        state.withLock { state in
            defer { state.commands.removeAll(keepingCapacity: state.commands.count < 256) }
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
