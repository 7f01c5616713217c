// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A transport that performs HTTP exchanges on one network thread with libcurl's multi interface. Thread-safe.
///
/// The thread runs until ``close()`` is called or the transport is deallocated.
final class CurlTransport: Sendable {
    private let mailbox = NetworkCommandQueue()
    let activity = ActivityCounter()
    /// The number of the last transfer.
    private let last = Atomic<UInt64>(0)
    private let suspended = Lock(false)
    private let limits: Lock<ConnectionLimits>

    /// The result of libcurl's global initialization, which runs once per process.
    private static let isReady: Bool = {
        wi_ignore_broken_pipes()
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()

    init(_ configuration: ImageDownloader.Configuration) {
        limits = Lock(
            ConnectionLimits(perHost: configuration.maxConnectionsPerHost, total: configuration.maxConnections).positive
        )
        guard Self.isReady, mailbox.waker >= 0 else {
            _ = mailbox.closeAndDequeueAll()
            return
        }
        // The thread must not retain this object, because it runs until the object is deallocated.
        let thread = Thread { [mailbox] in
            guard let loop = NetworkLoop(mailbox, configuration) else {
                for case .add(let submission) in mailbox.closeAndDequeueAll() {
                    submission.promise.resolve(.failure(.request(.managerShutDown)))
                }
                return
            }
            loop.run()
        }
        thread.name = "webimage-net"
        thread.stackSize = 1 << 20
        thread.start()
    }

    deinit { close() }

    /// Ends all waiting and running transfers with ``ImageError/RequestFailure/managerShutDown`` and closes all
    /// connections. Returns immediately.
    func close() { mailbox.post(.close) }

    /// A Boolean value that indicates whether no transfer may start. Running transfers aren't affected.
    var isSuspended: Bool {
        get { suspended.withLock { $0 } }
        set {
            // Post under the lock, so that the network thread receives the changes in order.
            suspended.withLock { suspended in
                suspended = newValue
                mailbox.post(.suspend(newValue))
            }
        }
    }

    /// The current limits for connections.
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
            mailbox.post(.setConnectionLimits(changed))
        }
    }

    /// Performs one exchange.
    ///
    /// The start is always reported, and further events only if `context` wants reports. If the surrounding task is
    /// canceled, this method returns promptly with `cancelled`, and the network thread closes the connection or stream
    /// a little later. The same happens if `run` is canceled.
    func perform(
        _ order: TransferRequestBox, context: LoadContext, for run: (any CancellableWork)? = nil,
        observer: @escaping @Sendable (TransferEvent) -> Void
    ) async -> TransferOutcome {
        let promise = Promise<TransferOutcome>()
        let id = last.wrappingAdd(1, ordering: .relaxed).newValue
        // The thread sanitizer recognizes locks, but not that resuming a task orders memory accesses.
        #if THREAD_SANITIZER
            defer { _ = promise.isResolved }
        #endif
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                guard promise.install(continuation) else { return }
                let submission = QueuedTransfer(
                    id: id, promise: promise, order: order, priority: context.priority, observer: observer,
                    context: context,
                    requestsBody: context.isObserved, enqueued: MonotonicTime.now,
                    activity: activity.enqueue(order.request.origin))
                guard mailbox.post(.add(submission)) else {
                    submission.activity.drop()
                    promise.resolve(.failure(.request(.managerShutDown)))
                    return
                }
                // Observe the priority after the submission, because an earlier change would find no transfer.
                context.followPriority(from: submission.priority) { [mailbox] priority in
                    mailbox.post(.setPriority(id, priority))
                }
                run?.onCancel { [mailbox] in
                    promise.resolve(.failure(.cancelled))
                    mailbox.post(.cancel(id))
                }
            }
        } onCancel: {
            // Don't block here, because the runtime holds the lock of the task.
            promise.resolve(.failure(.cancelled))
            mailbox.post(.cancel(id))
        }
    }
}
