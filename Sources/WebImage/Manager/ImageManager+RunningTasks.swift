// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The running tasks and their cancellation.
extension ImageManager {
    /// The running tasks in the order in which they started.
    ///
    /// The list contains the requests for images, data, and encoded images, the running requests of prefetchers, and
    /// background revalidations. It doesn't contain finished tasks, such as those that the memory cache served, and
    /// requests that still wait in a prefetcher. You can call this property from any thread.
    public var runningTasks: [RunningTask] { pipeline.running.unfinished.filter { !$0.isPart }.map { RunningTask($0) } }

    /// A Boolean value that indicates whether ``runningTasks`` contains a task. You can call this property from any
    /// thread.
    public var isRunning: Bool { pipeline.running.unfinished.contains { !$0.isPart } }

    /// Cancels all running tasks.
    ///
    /// Each task ends exactly once, with ``ImageError/cancelled``, and delivers no further events and previews. This
    /// includes requests for data and encoded images, requests with ``ImageRequest/continuesAfterCancellation``, and
    /// background revalidations. Images that were complete before the call are still written to the caches.
    ///
    /// Tasks that start after this call aren't affected. A prefetcher continues with its next request, and
    /// ``results(for:maxConcurrent:)`` does so too. To cancel a prefetcher, use ``ImagePrefetcher/cancelAll()``. You can
    /// call this method from any thread, and it never blocks.
    public func cancelAll() {
        for entry in pipeline.running.unfinished { entry.task.cancel() }
    }

    /// Cancels the running tasks for which a closure returns `true`.
    ///
    /// A task that shares its work with others ends alone, and the others continue. For the effects on each task, see
    /// ``cancelAll()``.
    ///
    /// ```swift
    /// manager.cancelAll { $0.host == "images.example.com" && $0.priority < .high }
    /// ```
    ///
    /// - Parameter shouldCancel: A closure that returns whether a task is canceled. The manager calls it on the current
    ///   thread.
    public func cancelAll(where shouldCancel: (RunningTask) -> Bool) {
        for entry in pipeline.running.unfinished where shouldCancel(RunningTask(entry)) { entry.task.cancel() }
    }
}

extension ImageManager.RunningTask {
    fileprivate init(_ entry: RunningTaskRegistry.Entry) {
        self.init(
            id: entry.number, kind: entry.kind, request: entry.task.request, priority: entry.task.priority)
    }
}
