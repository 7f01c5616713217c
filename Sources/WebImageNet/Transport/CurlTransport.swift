// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// Exchanges with HTTP servers on one network thread, over libcurl's multi interface. Thread-safe.
///
/// The thread lives from the creation to ``close()`` or the end of the object.
final class CurlTransport: Sendable {
    private let mailbox = Mailbox()
    let activity = ActivityBoard()
    /// The number of the last transfer.
    private let last = Atomic<UInt64>(0)

    /// libcurl's own set-up, once for the process.
    private static let isReady: Bool = {
        wi_ignore_broken_pipes()
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()

    init(_ configuration: DownloaderConfiguration) {
        guard Self.isReady, mailbox.waker >= 0 else {
            _ = mailbox.closeAndTake()
            return
        }
        // The thread holds what it needs but not this object, whose end it waits for.
        let thread = Thread { [mailbox] in
            guard let loop = NetworkLoop(mailbox, configuration) else {
                for case .add(let submission) in mailbox.closeAndTake() {
                    submission.promise.resolve(.failure(.request(.managerClosed)))
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

    /// Ends everything that waits or runs with 1010 and closes all connections. Returns at once.
    func close() { mailbox.post(.close) }

    /// Holds back every start, or lets them go on; what runs is left alone.
    func suspend(_ isSuspended: Bool) { mailbox.post(.suspend(isSuspended)) }

    /// One exchange. What it brings is reported where `context` wants reports, its start always. Returns promptly with `cancelled` when the surrounding task is cancelled; the connection is
    /// given up by the network thread a little later.
    func perform(
        _ order: TransferOrder, context: LoadContext, observer: @escaping @Sendable (TransferEvent) -> Void
    ) async -> TransferOutcome {
        let promise = Promise<TransferOutcome>()
        let id = last.wrappingAdd(1, ordering: .relaxed).newValue
        // The thread sanitizer doesn't see that resuming a task orders memory, but it sees locks.
        #if THREAD_SANITIZER
            defer { _ = promise.isResolved }
        #endif
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard promise.install(continuation) else { return }
                let submission = Submission(
                    id: id, promise: promise, order: order, priority: context.priority, observer: observer,
                    wantsBody: context.wantsReports, enqueued: MonotonicTime.now,
                    activity: activity.enqueue(order.request.origin))
                guard mailbox.post(.add(submission)) else {
                    submission.activity.drop()
                    promise.resolve(.failure(.request(.managerClosed)))
                    return
                }
                // Behind the submission: a change that came before it would find no transfer.
                context.followPriority(from: submission.priority) { [mailbox] priority in
                    mailbox.post(.setPriority(id, priority))
                }
            }
        } onCancel: {
            // Nothing here waits: the runtime holds the task's lock.
            promise.resolve(.failure(.request(.cancelled)))
            mailbox.post(.cancel(id))
        }
    }
}
