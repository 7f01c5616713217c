// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

/// The order of disk reads that wait for a thread.
package enum ReadPriority {
    /// The live priority of all disk reads of the current task and its child tasks. The default is `nil`, which means
    /// ``RequestPriority/normal``.
    ///
    /// Cache tiers are protocols that applications implement too, so that a parameter would be part of their contract.
    @TaskLocal package static var current: ObservedValue<RequestPriority>?
}
