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
        /// The load can't begin yet. It may be reported again if the reason changes, and ends with ``started``.
        case waiting(WaitReason)
        /// The load left the queue.
        case started
        /// The final answer's head (no redirects, no interim answers); `expected` body bytes, nil if unknown.
        case head(ResponseHead?, expected: Int?)
        /// More of the body.
        case body(Data)
    }

    private let live: ObservedValue<RequestPriority>
    /// The number of the present observer of the priority.
    private let observation = Lock<Int?>(nil)
    private let handler: (@Sendable (Report) -> Void)?

    /// Creates a context whose `handler` takes the reports.
    public init(priority: RequestPriority = .normal, handler: @escaping @Sendable (Report) -> Void) {
        live = ObservedValue(priority)
        self.handler = handler
    }

    /// Creates a context that wants no reports, so that loaders need not make any.
    public init(priority: RequestPriority = .normal) {
        live = ObservedValue(priority)
        handler = nil
    }

    /// Creates a context that shares the priority `live`. Without a `handler` it wants no reports.
    package init(
        following live: ObservedValue<RequestPriority>, handler: (@Sendable (Report) -> Void)? = nil
    ) {
        self.live = live
        self.handler = handler
    }

    /// The priority, for work that follows it.
    package var livePriority: ObservedValue<RequestPriority> { live }

    /// For loaders: whether anybody takes the reports.
    public var wantsReports: Bool { handler != nil }

    /// The present priority. Setting it tells the loader, which hears of changes in their order.
    public var priority: RequestPriority {
        get { live.value }
        set { live.value = newValue }
    }

    /// For loaders: `observer` is called with every later change of the priority.
    public func observePriority(_ observer: @escaping @Sendable (RequestPriority) -> Void) {
        followPriority(from: nil, observer)
    }

    /// For loaders that have begun with the priority `known`: `observer` is called with the present priority if it is
    /// another one, and with every later change. So no change between beginning and observing is lost.
    package func followPriority(
        from known: RequestPriority?, _ observer: @escaping @Sendable (RequestPriority) -> Void
    ) {
        let number = live.follow(from: known ?? live.value, observer)
        let former = observation.withLock { observation in
            defer { observation = number }
            return observation
        }
        if let former { live.stopObserving(former) }
    }

    /// For loaders: passes a report on.
    public func report(_ report: Report) { handler?(report) }
}
