// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// The other end of a running load: it takes what comes in and tells how urgent the load is.
/// Thread-safe. Handlers run on the loader's thread; they must be quick and must not block.
public final class LoadContext: Sendable {
    /// What a loader reports, in order.
    public enum Report: Sendable {
        /// The load left the queue.
        case started
        /// The final answer's head (no redirects, no interim answers); `expected` body bytes, nil if unknown.
        case head(ResponseHead?, expected: Int?)
        /// More of the body.
        case body(Data)
    }

    private struct State {
        var priority: RequestPriority
        var observer: (@Sendable (RequestPriority) -> Void)?
    }

    private let state: Lock<State>
    private let handler: (@Sendable (Report) -> Void)?

    /// Creates a context whose `handler` takes the reports.
    public init(priority: RequestPriority = .normal, handler: @escaping @Sendable (Report) -> Void) {
        self.state = Lock(State(priority: priority))
        self.handler = handler
    }

    /// Creates a context that wants no reports, so that loaders need not make any.
    public init(priority: RequestPriority = .normal) {
        self.state = Lock(State(priority: priority))
        handler = nil
    }

    /// For loaders: whether anybody takes the reports.
    public var wantsReports: Bool { handler != nil }

    /// The present priority. Setting it tells the loader.
    public var priority: RequestPriority {
        get { state.withLock { $0.priority } }
        set {
            let observer = state.withLock { state -> (@Sendable (RequestPriority) -> Void)? in
                guard state.priority != newValue else { return nil }
                state.priority = newValue
                return state.observer
            }
            observer?(newValue)
        }
    }

    /// For loaders: `observer` is called with every later change of the priority.
    public func observePriority(_ observer: @escaping @Sendable (RequestPriority) -> Void) {
        state.withLock { $0.observer = observer }
    }

    /// For loaders: passes a report on.
    public func report(_ report: Report) { handler?(report) }
}
