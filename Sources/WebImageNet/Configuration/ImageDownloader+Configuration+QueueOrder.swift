// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

extension ImageDownloader.Configuration {
    /// The order of queued transfers with the same priority.
    public enum QueueOrder: Sendable, Hashable {
        /// First in, first out.
        case fifo
        /// Last in, first out. Use it for scrolling lists, in which the newest requests are visible.
        case lifo

        var queueOrder: PriorityQueue<UInt64, RequestPriority>.Order {
            switch self {
            case .fifo: .firstInFirstOut
            case .lifo: .lastInFirstOut
            }
        }
    }
}
