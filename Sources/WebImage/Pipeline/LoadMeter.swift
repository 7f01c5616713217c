// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageNet

/// Turns a loader's reports into progress, no more often than is wanted, and notes by the manager's clock when the load
/// left the queue and when its head came: freshness is counted from these moments (RFC 9111 4.2.3).
final class LoadMeter: Sendable {
    private struct State {
        var progress = ImageProgress(received: 0, expected: nil)
        var limiter: ProgressLimiter
        /// Whether `progress` was held back.
        var isHeldBack = false
        var started: Date?
        var head: Date?
        /// Loaders may report from several threads.
        var outbox = OrderedDelivery<ImageProgress>()

        /// The progress to be told at `time`; nil where it is too early for it.
        mutating func told(at time: Double, isFinal: Bool) -> ImageProgress? {
            let isAllowed = limiter.allows(at: time, isFinal: isFinal)
            isHeldBack = !isAllowed
            return isAllowed ? progress : nil
        }
    }

    private let state: Lock<State>
    private let now: @Sendable () -> Date
    private let time: @Sendable () -> Double
    private let handler: @Sendable (ImageProgress) -> Void

    /// - Parameters:
    ///   - interval: least seconds between two reports of progress.
    ///   - time: seconds of a clock that no one sets.
    init(
        interval: Double = 0, now: @escaping @Sendable () -> Date,
        time: @escaping @Sendable () -> Double = { LoadMeter.seconds() },
        handler: @escaping @Sendable (ImageProgress) -> Void
    ) {
        state = Lock(State(limiter: ProgressLimiter(interval: interval)))
        self.now = now
        self.time = time
        self.handler = handler
    }

    /// When the load left the queue; nil for a loader that did not say.
    var started: Date? { state.withLock { $0.started } }
    /// When the head came; nil for a loader that did not say.
    var head: Date? { state.withLock { $0.head } }

    func take(_ report: LoadContext.Report) {
        switch report {
        case .waiting: break
        case .started:
            let moment = now()
            state.withLock { $0.started = moment }
        case .head(_, let expected):
            let (moment, time) = (now(), time())
            state.withLock { state in
                state.head = moment
                state.progress = ImageProgress(received: 0, expected: expected)
                // It begins, or begins anew: what was told before does not hold any more.
                if let progress = state.told(at: time, isFinal: true) { state.outbox.append(progress) }
            }
            deliver()
        case .body(let part):
            let time = time()
            state.withLock { state in
                state.progress.received += part.count
                let isFinal = state.progress.received == state.progress.expected
                if let progress = state.told(at: time, isFinal: isFinal) { state.outbox.append(progress) }
            }
            deliver()
        }
    }

    /// The load has brought everything: tells the last progress where it was held back.
    func finish() {
        state.withLock { state in
            if state.isHeldBack { state.outbox.append(state.progress) }
            state.isHeldBack = false
        }
        deliver()
    }

    private func deliver() {
        OrderedDelivery<ImageProgress>.deliver({ access in state.withLock { access(&$0.outbox) } }, handler)
    }

    private static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
