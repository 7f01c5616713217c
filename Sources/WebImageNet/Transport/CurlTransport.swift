// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A transport that performs HTTP exchanges on one network thread with libcurl's multi interface. Thread-safe.
///
/// The thread starts with the first exchange, because a process that finds its images in a cache needs neither the thread
/// nor libcurl and its TLS library. It runs until ``close()`` is called or the transport is deallocated.
package final class CurlTransport: Sendable {
    /// The state of the network thread.
    private enum ThreadState {
        /// The thread hasn't started. Commands wait in the queue.
        case waiting
        case started
        case closed
    }

    private let configuration: ImageDownloader.Configuration
    private let thread = Lock(ThreadState.waiting)
    /// Whether ``thread`` is no longer ``ThreadState/waiting``.
    private let isSettled = Atomic(false)
    private let commands = NetworkCommandQueue()
    let activity = ActivityCounter()
    private let last = Atomic<UInt64>(0)
    private let suspended = Lock(false)
    private let limits: Lock<ConnectionLimits>

    /// Creates a transport. The options for redirects and statuses have no effect.
    package init(_ configuration: ImageDownloader.Configuration) {
        self.configuration = configuration
        limits = Lock(
            ConnectionLimits(perHost: configuration.maxConnectionsPerHost, total: configuration.maxConnections).positive
        )
    }

    deinit { close() }

    private func startThread() {
        // Each exchange calls this method, so the usual case takes no lock.
        guard !isSettled.load(ordering: .acquiring) else { return }
        thread.withLock { state in
            guard state == .waiting else { return }
            state = .started
            isSettled.store(true, ordering: .releasing)
            makeThread().start()
        }
    }

    private func makeThread() -> Thread {
        // The thread must not retain this object, because it runs until the object is deallocated.
        let thread = Thread { [commands, configuration] in
            guard CurlLibrary.failure == nil, commands.waker >= 0, let loop = NetworkLoop(commands, configuration)
            else {
                // Nothing else would end the requests that are already in the queue.
                for case .add(let submission) in commands.closeAndDequeueAll() {
                    submission.activity.drop()
                    submission.promise.resolve(.failure(CurlLibrary.error(submission.request)))
                }
                return
            }
            loop.run()
        }
        thread.name = "webimage-net"
        thread.stackSize = 1 << 20
        return thread
    }

    /// Waiting and running transfers fail with ``ImageError/RequestFailure/managerShutDown``. Returns immediately.
    func close() {
        let before = thread.withLock { state in
            defer { state = .closed }
            return state
        }
        isSettled.store(true, ordering: .releasing)
        if before == .waiting {
            // No thread will process the commands.
            _ = commands.closeAndDequeueAll()
        } else {
            commands.post(.close)
        }
    }

    /// Calls a closure after ``close()`` has ended all transfers.
    func whenClosed(_ handler: @escaping @Sendable () -> Void) { commands.whenClosed(handler) }

    /// Whether no transfer may start. Running transfers aren't affected.
    var isSuspended: Bool {
        get { suspended.withLock { $0 } }
        set {
            // Post under the lock, so that the network thread receives the changes in order.
            suspended.withLock { suspended in
                suspended = newValue
                commands.post(.suspend(newValue))
            }
        }
    }

    var connectionLimits: ConnectionLimits { limits.withLock { $0 } }

    /// Changes the limits for connections. Running transfers aren't affected.
    func setConnectionLimits(_ change: (inout ConnectionLimits) -> Void) {
        // Post under the lock, so that the network thread receives the changes in order.
        limits.withLock { limits in
            var changed = limits
            change(&changed)
            changed = changed.positive
            guard changed != limits else { return }
            limits = changed
            commands.post(.setConnectionLimits(changed))
        }
    }

    private func rejection(_ request: TransferRequest) -> ImageError {
        thread.withLock { $0 } == .closed ? .request(.managerShutDown) : CurlLibrary.error(request)
    }

    /// The start is always reported, and further events only if `context` wants reports. If the surrounding task or
    /// `session` is canceled, this method returns promptly with `cancelled`, and the network thread closes the
    /// connection or stream a little later.
    func perform(
        _ transferRequest: TransferRequestBox, context: LoadContext, for session: (any CancellableWork)? = nil,
        observer: @escaping @Sendable (TransferEvent) -> Void
    ) async -> TransferOutcome {
        startThread()
        let promise = Promise<TransferOutcome>()
        let id = last.wrappingAdd(1, ordering: .relaxed).newValue
        // The thread sanitizer recognizes locks, but not that resuming a task orders memory accesses.
        #if THREAD_SANITIZER
            defer { _ = promise.isResolved }
        #endif
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                // A cancellation may have resolved the promise before this point.
                guard promise.install(continuation) else { return }
                let submission = QueuedTransfer(
                    id: id, promise: promise, transferRequest: transferRequest, priority: context.priority,
                    observer: observer,
                    context: context,
                    requestsBody: context.isObserved, enqueued: MonotonicTime.now,
                    activity: activity.enqueue(transferRequest.request.origin))
                guard commands.post(.add(submission)) else {
                    submission.activity.drop()
                    promise.resolve(.failure(rejection(transferRequest.request)))
                    return
                }
                // Observe the priority after the submission, because an earlier change would find no transfer.
                context.followPriority(from: submission.priority) { [commands] priority in
                    commands.post(.setPriority(id, priority))
                }
                session?.onCancel { [commands] in
                    promise.resolve(.failure(.cancelled))
                    commands.post(.cancel(id))
                }
            }
        } onCancel: {
            // Don't block here, because the runtime holds the lock of the task.
            promise.resolve(.failure(.cancelled))
            commands.post(.cancel(id))
        }
    }
}
