// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageNet

/// The running downloads whose data is used before they're complete: for previews and for decoding during the download.
/// This class is thread-safe.
final class IncrementalDecodeRegistry: Sendable {
    private struct Entry {
        let feed: DownloadFeed
        var users: Int
    }

    private let entries = Lock<[FetchKey: Entry]>([:])
    private let decodesWhileLoading: Bool
    private let scheduler: IncrementalDecodeScheduler
    let previews: PreviewRenderer

    init(_ previews: PreviewRenderer, workers: WorkerPool, decodesWhileLoading: Bool) {
        self.previews = previews
        self.decodesWhileLoading = decodesWhileLoading
        scheduler = IncrementalDecodeScheduler(workers: workers, budget: previews.budget, time: { previews.time() })
    }

    var budget: PreviewBudget { previews.budget }

    var count: Int { entries.withLock { $0.count } }

    /// Returns `nil` if the request needs neither previews nor decoding during the download.
    func subscribe(
        _ plan: RequestPlan, to key: FetchKey, _ task: ImageTask, for use: FetchStage.Purpose
    ) -> FeedSubscription? {
        let wantsPreviews = use == .image(showsPreviews: true) && plan.request.previews.style != .none
        let wantsDecode = use != .bytes && decodesWhileLoading && IncrementalDecode.suits(plan)
        guard wantsPreviews || wantsDecode else { return nil }
        let feed = enter(key)
        if wantsDecode { feed.add(plan) }
        var listener: Int?
        if wantsPreviews {
            listener = feed.previews.add(
                PreviewListener(plan, isHeard: { task.isHeard }, deliver: { task.emit(.preview($0)) }))
            task.call(whenHeard: { feed.previews.inspect() })
            // Show the data received so far to a request that joins a stalled download.
            feed.previews.inspect()
        }
        return FeedSubscription(
            feed: feed, listener: listener.map { ($0, task) }, decode: wantsDecode ? IncrementalDecodeKey(plan) : nil
        ) { [self] in leave(key) }
    }

    func begin(_ key: FetchKey, _ priority: SharedPriority) -> DownloadSession {
        let feed = enter(key)
        let stream =
            decodesWhileLoading
            ? IncrementalDecodeSource(scheduler, priority) { [weak feed] in feed?.plans ?? [] } : nil
        return DownloadSession(feed, stream, priority) { [self] in leave(key) }
    }

    private func enter(_ key: FetchKey) -> DownloadFeed {
        entries.withLock { entries in
            var entry = entries[key] ?? Entry(feed: DownloadFeed(previews), users: 0)
            entry.users += 1
            entries[key] = entry
            return entry.feed
        }
    }

    private func leave(_ key: FetchKey) {
        entries.discard { entries -> Entry? in
            entries[key]?.users -= 1
            guard let entry = entries[key], entry.users <= 0 else { return nil }
            return entries.removeValue(forKey: key)
        }
    }
}
