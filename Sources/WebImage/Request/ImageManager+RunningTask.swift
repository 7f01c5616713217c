// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

extension ImageManager {
    /// A description of a running task.
    public struct RunningTask: Sendable, Identifiable {
        /// The purposes of tasks.
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// The task of a request for an image.
            case image
            /// The task of a request for original data.
            case data
            /// The task of a request for an encoded image.
            case encoding
            /// The task of a prefetcher.
            case prefetch
            /// The revalidation of a stale image in the background.
            case revalidation
        }

        /// The number of the task, which is different for each task of a manager. Later tasks have higher numbers.
        public let id: Int
        /// The purpose of the task.
        public let kind: Kind
        /// The request of the task, after ``ImageManager/Configuration/requestModifier`` changed it.
        public let request: ImageRequest
        /// The priority of the task when this description was made.
        public let priority: RequestPriority

        /// The URL of the request.
        public var url: URL { request.url }
        /// The lowercase host of ``url``, or `nil` if the URL has none.
        public var host: String? { HostName(of: request.url)?.text }
        /// The tags of the request.
        public var tags: Set<String> { request.caching.tags }
    }
}
