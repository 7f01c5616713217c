// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

/// Who goes first among equals.
public enum QueueOrder: Sendable, Hashable {
    /// Who came first.
    case fifo
    /// Who came last: for lists that are scrolled, where the newest is what is seen.
    case lifo

    /// The order of a ``PriorityQueue``.
    var queueOrder: PriorityQueue<UInt64, RequestPriority>.Order {
        switch self {
        case .fifo: .firstInFirstOut
        case .lifo: .lastInFirstOut
        }
    }
}
