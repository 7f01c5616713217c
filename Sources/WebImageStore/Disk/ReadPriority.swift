// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

/// The priority of disk reads that wait for a thread.
package enum ReadPriority {
    /// The live priority of all disk reads of the current task and its child tasks.
    ///
    /// The default is `nil`, which means ``RequestPriority/normal``. The priority is a task-local value because apps
    /// also implement cache tiers, so a parameter would become part of the public protocol.
    @TaskLocal package static var current: ObservableValue<RequestPriority>?
}
