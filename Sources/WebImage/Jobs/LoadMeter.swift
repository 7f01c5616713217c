// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageCore
import WebImageNet

/// Turns a loader's reports into progress, and notes by the manager's clock when the load left the queue and when its
/// head came: freshness is counted from these moments (RFC 9111 4.2.3).
final class LoadMeter: Sendable {
    private struct State {
        var progress = ImageProgress(received: 0, expected: nil)
        var started: Date?
        var head: Date?
    }

    private let state = Lock(State())
    private let now: @Sendable () -> Date
    private let handler: @Sendable (ImageProgress) -> Void

    init(now: @escaping @Sendable () -> Date, handler: @escaping @Sendable (ImageProgress) -> Void) {
        self.now = now
        self.handler = handler
    }

    /// When the load left the queue; nil for a loader that did not say.
    var started: Date? { state.withLock { $0.started } }
    /// When the head came; nil for a loader that did not say.
    var head: Date? { state.withLock { $0.head } }

    func take(_ report: LoadContext.Report) {
        switch report {
        case .started:
            let moment = now()
            state.withLock { $0.started = moment }
        case .head(_, let expected):
            let moment = now()
            let progress = state.withLock { state in
                state.head = moment
                state.progress = ImageProgress(received: 0, expected: expected)
                return state.progress
            }
            handler(progress)
        case .body(let part):
            let progress = state.withLock { state in
                state.progress.received += part.count
                return state.progress
            }
            handler(progress)
        }
    }
}
