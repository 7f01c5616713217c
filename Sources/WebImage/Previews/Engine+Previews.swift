// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageNet

extension Engine {
    /// Has `task` get the previews of the download of `key` until it is told to end.
    func listen(to key: FetchKey, _ plan: RequestPlan, _ task: ImageTask) -> PreviewListening {
        let listener = PreviewListener(
            plan, isHeard: { task.isHeard }, deliver: { task.emit(.preview($0)) })
        let feed = previews.enter(key)
        let id = feed.add(listener)
        task.call(whenHeard: { feed.look() })
        // Who joins a download that stands still is shown what has come.
        feed.look()
        return PreviewListening(table: previews, key: key, feed: feed, id: id, task: task)
    }
}

/// A request that listens to a download's previews.
struct PreviewListening: Sendable {
    let table: PreviewTable
    let key: FetchKey
    let feed: PreviewFeed
    let id: Int
    let task: ImageTask

    func end() {
        task.call(whenHeard: nil)
        feed.remove(id)
        table.leave(key)
    }
}

/// A load that feeds previews.
final class PreviewSession: Sendable {
    private let table: PreviewTable
    private let key: FetchKey
    private let feed: PreviewFeed
    private let number: Int
    private let isOver = Atomic<Bool>(false)

    init(_ table: PreviewTable, _ key: FetchKey, _ priority: LivePriority) {
        self.table = table
        self.key = key
        feed = table.enter(key)
        number = feed.begin(priority)
    }

    func take(_ report: LoadContext.Report) { feed.take(report, number) }

    /// No preview comes any more. Ending again does nothing.
    func end() {
        guard !isOver.exchange(true, ordering: .acquiringAndReleasing) else { return }
        feed.end(number)
        table.leave(key)
    }
}
