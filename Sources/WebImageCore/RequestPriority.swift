// SPDX-License-Identifier: MIT

import WebImageConcurrency

/// How soon something is wanted. Shared work runs at the highest priority of all who wait for it.
public enum RequestPriority: Int, Sendable, Hashable, Codable, Comparable, CaseIterable {
    /// After everything else.
    case veryLow = 0
    /// Prefetching.
    case low = 1
    /// The default.
    case normal = 2
    /// Before ordinary requests.
    case high = 3
    /// What a person is looking at.
    case veryHigh = 4

    /// Orders by urgency.
    public static func < (left: RequestPriority, right: RequestPriority) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension RequestPriority: PriorityLevel {}
