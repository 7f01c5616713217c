// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// The connection between a running load and its caller. It receives the reports and has the live priority.
///
/// A context is thread-safe. Handlers run on the thread of the loader, so they must be quick and must not block.
public final class LoadContext: Sendable {
    /// A report of a loader. Loaders send reports in order.
    package enum Report: Sendable {
        /// A report that the load can't begin yet. If the reason changes, this report is repeated. The wait ends with
        /// ``started``.
        case waiting(WaitReason)
        /// A report that the load left the queue.
        case started
        /// The head of the final response and the expected size of the body in bytes, or `nil` if the size is unknown.
        /// Loaders don't report redirects and interim responses.
        case head(HTTPResponseHead?, expected: Int?)
        /// A chunk of the body.
        case body(Data)
    }

    private let live: ObservableValue<RequestPriority>
    private let observation = Lock<Int?>(nil)
    private let handler: (@Sendable (Report) -> Void)?
    private let makeRejection: (@Sendable () -> ImageError?)?

    /// Creates a context whose `handler` receives the reports.
    package init(priority: RequestPriority = .normal, handler: @escaping @Sendable (Report) -> Void) {
        live = ObservableValue(priority)
        self.handler = handler
        makeRejection = nil
    }

    /// Creates a context that doesn't want reports, so loaders don't need to create them.
    public init(priority: RequestPriority = .normal) {
        live = ObservableValue(priority)
        handler = nil
        makeRejection = nil
    }

    /// Creates a context that shares the priority `live`. Without a `handler`, it doesn't want reports.
    package init(
        following live: ObservableValue<RequestPriority>, handler: (@Sendable (Report) -> Void)? = nil
    ) {
        self.live = live
        self.handler = handler
        makeRejection = nil
    }

    /// Creates a context that shares the priority `live` and can reject the data.
    ///
    /// Loaders may call `rejection` after each report. If it returns an error, they can end the load with this error
    /// without loading the remaining data.
    package init(
        following live: ObservableValue<RequestPriority>, rejection: @escaping @Sendable () -> ImageError?,
        handler: @escaping @Sendable (Report) -> Void
    ) {
        self.live = live
        self.handler = handler
        makeRejection = rejection
    }

    /// The error with which the handler rejected the data, or `nil` if the load continues.
    package var rejection: ImageError? { makeRejection?() }

    /// The live priority, for work that follows it.
    package var livePriority: ObservableValue<RequestPriority> { live }

    /// A Boolean value that indicates whether the context wants reports. Loaders use it.
    public var isObserved: Bool { handler != nil }

    /// The current priority. Setting it notifies the loader, which receives the changes in order.
    public var priority: RequestPriority {
        get { live.value }
        set { live.value = newValue }
    }

    /// Calls `observer` with each later change of the priority. Loaders use this method.
    public func onPriorityChange(_ observer: @escaping @Sendable (RequestPriority) -> Void) {
        followPriority(from: nil, observer)
    }

    /// Calls `observer` with the current priority if it differs from `known`, and with each later change.
    ///
    /// Loaders that began with the priority `known` use this method, so they don't miss a change before the
    /// observation starts.
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

    /// Reports that the load has left the queue. Loaders use this method.
    public func reportStart() { report(.started) }

    /// Reports the final response. Loaders use this method before they report data.
    ///
    /// A loader that starts again from the beginning reports the response again.
    ///
    /// - Parameters:
    ///   - response: The response head, or `nil` for sources other than HTTP. Redirects and interim responses aren't
    ///     reported.
    ///   - expectedByteCount: The expected size of the body in bytes, or `nil` if it's unknown.
    public func reportResponse(_ response: HTTPResponseHead?, expectedByteCount: Int?) {
        report(.head(response, expected: expectedByteCount))
    }

    /// Reports a received chunk of the body. Loaders use this method for each chunk, in order.
    public func reportData(_ data: Data) { report(.body(data)) }

    /// Passes a report on to the handler.
    package func report(_ report: Report) { handler?(report) }
}
