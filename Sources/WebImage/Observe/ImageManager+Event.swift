// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageStore

extension ImageManager {
    /// An event that marks the beginning or the end of a piece of work. Only events that mark an end have a
    /// ``duration``.
    public struct Event: Sendable {
        /// The phase of the work.
        package enum Phase: String, Sendable, Hashable, Codable {
            /// The work begins.
            case began
            /// The work has ended, so its sizes, origin, and error are known.
            case ended
        }

        /// The kind of work.
        public let stage: ImageManager.Stage
        /// The phase of the work.
        package var phase: Phase { duration == nil ? .began : .ended }
        /// The number of the request, counted from 1 for each manager. Work that several requests share has the number
        /// of the request that started it.
        public let requestID: Int
        /// The number of the piece of work, which is unique within the manager. The events for its beginning and end
        /// have the same number.
        public let spanID: Int
        /// The number of the piece of work that contains this one, or `nil` for the request itself.
        public internal(set) var parentSpanID: Int?
        /// The value of ``ImageManager/parentSpan`` in the Swift task that made the request, on every thread.
        public internal(set) var parentSpan: (any Sendable)?
        /// The time of the event.
        public internal(set) var time: ContinuousClock.Instant
        /// The URL of the request. It can contain secrets, which ``redactedURL`` omits.
        public let url: URL
        /// The text of ``url`` without user name, password, query, and fragment, and without the contents of a data
        /// URL. The value is computed on each access.
        public var redactedURL: String { Redaction.text(of: url) }
        /// The key of the processed data, or `nil` if there's none.
        public let cacheKey: CacheKey?
        /// The name of the worker thread, or `nil` for work that doesn't run on a worker thread.
        public let threadName: String?
        /// A detail such as the transformer or the encoding. It can be empty.
        public let details: String
        /// The duration of the work, or `nil` at its beginning.
        public internal(set) var duration: Duration?
        /// The origin of the result, or `nil` at the beginning and for failures.
        public internal(set) var source: ImageResponse.Source?
        /// The number of encoded bytes that were read, received, produced, or stored.
        public internal(set) var byteCount: Int?
        /// The size of the result in pixels.
        public internal(set) var imageSize: PixelSize?
        /// The error of the failed work.
        public internal(set) var error: ImageError?
    }

    /// The span of the application that contains the requests of a Swift task, such as the span of a tracing library.
    ///
    /// Set it with `ImageManager.$parentSpan.withValue(span) { … }`. The manager reads it when a request is made and
    /// passes it on to the events of all work of the request, which runs on other tasks and threads. The default is
    /// `nil`.
    @TaskLocal public static var parentSpan: (any Sendable)?
}

/// A type that observes the work of a manager.
///
/// The manager calls the observer without holding a lock, on the thread of the event, so a slow observer slows the
/// manager down. The end of a piece of work always follows its beginning. Events of different requests interleave, and
/// work can continue after its request was canceled.
public protocol ImageManagerObserver: Sendable {
    /// Receives one event.
    func observe(_ event: ImageManager.Event)
}
