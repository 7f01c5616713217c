// SPDX-License-Identifier: MIT

import WebImageConcurrency

/// The priority of a request. Shared work runs at the highest priority of its subscribers.
public enum RequestPriority: Int, Sendable, Hashable, Codable, Comparable, CaseIterable {
    /// The priority of work that runs after everything else.
    case veryLow = 0
    /// The priority of prefetching.
    case low = 1
    /// The default priority.
    case normal = 2
    /// A priority above that of ordinary requests.
    case high = 3
    /// The priority of visible images.
    case veryHigh = 4

    /// Returns a Boolean value that indicates whether the left priority is lower than the right one.
    public static func < (left: RequestPriority, right: RequestPriority) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension RequestPriority: PriorityLevel {}
