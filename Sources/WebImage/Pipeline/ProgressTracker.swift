// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageNet

/// A meter that converts a loader's reports to progress events and limits their rate.
///
/// It also records when the load left the queue and when its response head arrived, by the manager's clock. Freshness
/// is calculated from these times (RFC 9111 4.2.3).
final class ProgressTracker: Sendable {
    private struct State {
        var progress = ImageTask.Progress(receivedByteCount: 0, expectedByteCount: nil)
        var limiter: ProgressLimiter
        /// Whether `progress` hasn't been reported yet because of the rate limit.
        var isDelayed = false
        var started: Date?
        var head: Date?
        /// The progress events to deliver in order, because loaders can report from several threads.
        var outbox = OrderedDelivery<ImageTask.Progress>()

        mutating func progressToReport(at time: Double, isFinal: Bool) -> ImageTask.Progress? {
            let isAllowed = limiter.allows(at: time, isFinal: isFinal)
            isDelayed = !isAllowed
            return isAllowed ? progress : nil
        }
    }

    private let state: Lock<State>
    private let now: @Sendable () -> Date
    private let time: @Sendable () -> Double
    private let handler: @Sendable (ImageTask.Progress) -> Void

    /// `interval` is the minimum time between two reports. It and the result of `time`, a monotonic clock, are in
    /// seconds.
    init(
        interval: Double = 0, now: @escaping @Sendable () -> Date,
        time: @escaping @Sendable () -> Double = { SystemClock.seconds },
        handler: @escaping @Sendable (ImageTask.Progress) -> Void
    ) {
        state = Lock(State(limiter: ProgressLimiter(interval: interval)))
        self.now = now
        self.time = time
        self.handler = handler
    }

    /// The time at which the load left the queue, or `nil` if the loader didn't report it.
    var started: Date? { state.withLock { $0.started } }
    /// The time at which the response head arrived, or `nil` if the loader didn't report it.
    var head: Date? { state.withLock { $0.head } }

    func receive(_ report: LoadContext.Report) {
        switch report {
        case .waiting: break
        case .started:
            let moment = now()
            state.withLock { $0.started = moment }
        case .head(_, let expected):
            let (moment, time) = (now(), time())
            state.withLock { state in
                state.head = moment
                state.progress = ImageTask.Progress(receivedByteCount: 0, expectedByteCount: expected)
                // The download begins or restarts, so the previous progress is invalid.
                if let progress = state.progressToReport(at: time, isFinal: true) { state.outbox.append(progress) }
            }
            deliver()
        case .body(let part):
            let time = time()
            state.withLock { state in
                state.progress = ImageTask.Progress(
                    receivedByteCount: state.progress.receivedByteCount + part.count,
                    expectedByteCount: state.progress.expectedByteCount)
                let isFinal = state.progress.receivedByteCount == state.progress.expectedByteCount
                if let progress = state.progressToReport(at: time, isFinal: isFinal) { state.outbox.append(progress) }
            }
            deliver()
        }
    }

    /// Finishes the load and reports its last progress if the rate limit delayed it.
    func finish() {
        state.withLock { state in
            if state.isDelayed { state.outbox.append(state.progress) }
            state.isDelayed = false
        }
        deliver()
    }

    private func deliver() {
        OrderedDelivery<ImageTask.Progress>.deliver({ access in state.withLock { access(&$0.outbox) } }, handler)
    }
}
