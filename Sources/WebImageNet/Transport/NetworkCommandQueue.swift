// SPDX-License-Identifier: MIT

import CCurl
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

enum NetworkCommand: Sendable {
    case add(QueuedTransfer)
    case cancel(UInt64)
    case setPriority(UInt64, RequestPriority)
    case suspend(Bool)
    /// Resumes a transfer that the budget for bodies paused.
    case resume(UInt64)
    case setConnectionLimits(ConnectionLimits)
    case close
}

/// A transfer that is submitted to the network thread. It's an object because it's passed on several times.
final class QueuedTransfer: Sendable {
    /// The identifier of the transfer in commands. The transport numbers its transfers.
    let id: UInt64
    let promise: Promise<TransferOutcome>
    let transferRequest: TransferRequestBox
    let priority: RequestPriority
    let observer: @Sendable (TransferEvent) -> Void
    /// The context of the load, which can reject the body after each report.
    let context: LoadContext
    /// Whether the observer wants the wait, the head, and the body in addition to the start.
    let requestsBody: Bool
    /// The time of the submission, in nanoseconds of the monotonic clock.
    let enqueued: Int64
    /// The counter of the origin, which already counts the transfer as queued.
    let activity: OriginActivityCounter

    init(
        id: UInt64, promise: Promise<TransferOutcome>, transferRequest: TransferRequestBox, priority: RequestPriority,
        observer: @escaping @Sendable (TransferEvent) -> Void, context: LoadContext, requestsBody: Bool,
        enqueued: Int64, activity: OriginActivityCounter
    ) {
        self.id = id
        self.promise = promise
        self.transferRequest = transferRequest
        self.priority = priority
        self.observer = observer
        self.context = context
        self.requestsBody = requestsBody
        self.enqueued = enqueued
        self.activity = activity
    }

    var request: TransferRequest { transferRequest.request }
}

/// The commands for the network thread and the descriptor that wakes it. Posting takes only a short lock. Thread-safe.
final class NetworkCommandQueue: Sendable {
    private struct State {
        var commands: [NetworkCommand] = []
        var isClosed = false
        /// Whether the next command must wake the network thread.
        var isAsleep = false
        /// The closures that run after the last transfer ended.
        var closeHandlers: [@Sendable () -> Void] = []
    }

    private let state = Lock(State())
    /// A descriptor that becomes readable when a command is posted after ``goToSleep()``.
    let waker: Int32

    init() { waker = wi_wake_create() }

    deinit { if waker >= 0 { close(waker) } }

    /// Posts a command. Returns `false` if the network thread no longer accepts commands.
    @discardableResult
    func post(_ command: NetworkCommand) -> Bool {
        let (isAccepted, isAsleep) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.commands.append(command)
            defer { state.isAsleep = false }
            return (true, state.isAsleep)
        }
        // A running thread reads all commands before it sleeps, so only a sleeping one costs a system call.
        if isAsleep { wi_wake_signal(waker) }
        return isAccepted
    }

    /// Returns whether there are no commands. In this case, the next command makes ``waker`` readable.
    func goToSleep() -> Bool {
        state.withLock { state in
            // Under the lock, no command can be added between this check and the change, so each later one wakes the
            // thread.
            state.isAsleep = state.commands.isEmpty
            return state.isAsleep
        }
    }

    func dequeueAll() -> [NetworkCommand] {
        state.withLock { state in
            state.isAsleep = false
            guard !state.commands.isEmpty else { return [] }
            defer { state.commands = [] }
            return state.commands
        }
    }

    func closeAndDequeueAll() -> [NetworkCommand] {
        let (commands, handlers) = state.withLock { state in
            state.isClosed = true
            defer { (state.commands, state.closeHandlers) = ([], []) }
            return (state.commands, state.closeHandlers)
        }
        // The handlers run other code, so the queue must not be locked.
        for handler in handlers { handler() }
        return commands
    }

    /// Calls a closure when the queue is closed, or immediately if it's already closed.
    func whenClosed(_ handler: @escaping @Sendable () -> Void) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.closeHandlers.append(handler) }
            return state.isClosed
        }
        if isClosed { handler() }
    }
}
