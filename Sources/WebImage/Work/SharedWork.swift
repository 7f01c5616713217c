// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

/// A priority that can change while work runs.
typealias SharedPriority = ObservableValue<RequestPriority>

/// A coalescer for work that requests share, with the priority and error types of requests.
typealias SharedJobs<Key: Hashable & Sendable, Value: Sendable, Update: Sendable> =
    WebImageConcurrency.SharedJobs<Key, Value, Update, RequestPriority, ImageError>
