// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

/// A priority that may change while work runs.
typealias LivePriority = ObservedValue<RequestPriority>
