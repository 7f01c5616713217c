// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

/// A priority that may change while work runs.
typealias LivePriority = ObservedValue<RequestPriority>

/// Work that requests share, with the priorities and errors of requests.
typealias SharedJobs<Key: Hashable & Sendable, Value: Sendable, Update: Sendable> =
    WebImageConcurrency.SharedJobs<Key, Value, Update, RequestPriority, ImageError>
