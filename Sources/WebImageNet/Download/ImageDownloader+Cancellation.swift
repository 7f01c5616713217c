// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The running loads and their cancellation.
extension ImageDownloader {
    /// A description of a running load.
    public struct RunningLoad: Sendable, Hashable {
        /// The URL of the request, before interceptors, redirects, and alternatives.
        public let url: URL
        /// The current priority of the load. It's the highest priority of all callers that share the load.
        public let priority: RequestPriority

        /// The lowercase host of ``url``, or `nil` if the URL has none.
        public var host: String? { HostName(of: url)?.text }
    }

    /// The loads that run, wait for a connection, or wait for their next attempt, in the order in which they started.
    ///
    /// Equal requests that share a transfer are one load. You can call this property from any thread.
    public var runningLoads: [RunningLoad] { loads.all.map { RunningLoad($0) } }

    /// Cancels all running loads.
    ///
    /// Each ``load(_:context:)`` that is running throws ``ImageError/cancelled``. This includes loads that wait for a
    /// connection or for their next attempt. If resuming is enabled, the received data remains available for later
    /// loads. Loads that start after this call aren't affected. You can call this method from any thread, and it never
    /// blocks.
    public func cancelAll() {
        for load in loads.all { load.session.cancel() }
    }

    /// Cancels the running loads for which a closure returns `true`.
    ///
    /// For the effects on each load, see ``cancelAll()``.
    ///
    /// - Parameter shouldCancel: A closure that returns whether a load is canceled. The downloader calls it on the
    ///   current thread.
    public func cancelAll(where shouldCancel: (RunningLoad) -> Bool) {
        for load in loads.all where shouldCancel(RunningLoad(load)) { load.session.cancel() }
    }
}

extension ImageDownloader.RunningLoad {
    fileprivate init(_ entry: RunningLoads.Entry) {
        self.init(url: entry.url, priority: entry.session.context.priority)
    }
}
