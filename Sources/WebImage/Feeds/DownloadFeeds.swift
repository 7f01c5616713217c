// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageNet

/// The running downloads whose bytes may be used before they are complete: for previews, and for decoding that ends
/// soon after the last byte. Thread-safe.
final class DownloadFeeds: Sendable {
    private struct Entry {
        let feed: DownloadFeed
        var users: Int
    }

    private let entries = Lock<[FetchKey: Entry]>([:])
    private let decodesWhileLoading: Bool
    private let streams: StreamStudio
    let previews: PreviewStudio

    init(_ previews: PreviewStudio, workers: WorkerPool, decodesWhileLoading: Bool) {
        self.previews = previews
        self.decodesWhileLoading = decodesWhileLoading
        streams = StreamStudio(workers: workers, budget: previews.budget, time: { previews.time() })
    }

    /// Bytes of pixels that the decoders of running downloads hold.
    var budget: PreviewBudget { previews.budget }

    /// Feeds in use; for tests.
    var count: Int { entries.withLock { $0.count } }

    /// Has `task` use the download of `key` while it runs, until the result is ended; nil where it has no use for it.
    func subscribe(
        _ plan: RequestPlan, to key: FetchKey, _ task: ImageTask, for use: FetchStage.Use
    ) -> FeedSubscription? {
        let wantsPreviews = use == .image(showsPreviews: true) && plan.request.preview.style != .none
        let wantsDecode = use != .bytes && decodesWhileLoading && StreamedDecode.suits(plan)
        guard wantsPreviews || wantsDecode else { return nil }
        let feed = enter(key)
        if wantsDecode { feed.add(plan) }
        var listener: Int?
        if wantsPreviews {
            listener = feed.previews.add(
                PreviewListener(plan, isHeard: { task.isHeard }, deliver: { task.emit(.preview($0)) }))
            task.call(whenHeard: { feed.previews.look() })
            // A request that joins a stalled download is shown what has come.
            feed.previews.look()
        }
        return FeedSubscription(
            feed: feed, listener: listener.map { ($0, task) }, decode: wantsDecode ? StreamKey(plan) : nil
        ) { [self] in leave(key) }
    }

    /// The download of `key` begins; its session receives what the loader reports.
    func begin(_ key: FetchKey, _ priority: LivePriority) -> DownloadSession {
        let feed = enter(key)
        let stream = decodesWhileLoading ? StreamFeed(streams, priority) { [weak feed] in feed?.plans ?? [] } : nil
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
        let left = entries.withLock { entries -> Entry? in
            entries[key]?.users -= 1
            guard let entry = entries[key], entry.users <= 0 else { return nil }
            return entries.removeValue(forKey: key)
        }
        _ = left  // Released here, after the lock.
    }
}

/// One download, shared by its load and all requests that wait for it.
final class DownloadFeed: Sendable {
    private struct Wish {
        let plan: RequestPlan
        var count: Int
    }

    let previews: PreviewFeed
    private let wishes = Lock<[StreamKey: Wish]>([:])

    fileprivate init(_ studio: PreviewStudio) { previews = PreviewFeed(studio) }

    /// The requests that want the image decoded during the download, one for each image.
    fileprivate var plans: [RequestPlan] { wishes.withLock { $0.values.map(\.plan) } }

    fileprivate func add(_ plan: RequestPlan) {
        wishes.withLock { $0[StreamKey(plan), default: Wish(plan: plan, count: 0)].count += 1 }
    }

    fileprivate func remove(_ key: StreamKey) {
        let left = wishes.withLock { wishes -> Wish? in
            wishes[key]?.count -= 1
            guard let wish = wishes[key], wish.count <= 0 else { return nil }
            return wishes.removeValue(forKey: key)
        }
        _ = left  // Released here, after the lock.
    }
}

/// A request's use of a running download.
struct FeedSubscription: Sendable {
    fileprivate let feed: DownloadFeed
    fileprivate let listener: (id: Int, task: ImageTask)?
    fileprivate let decode: StreamKey?
    fileprivate let leave: @Sendable () -> Void

    /// To be called exactly once.
    func end() {
        if let listener {
            listener.task.call(whenHeard: nil)
            feed.previews.remove(listener.id)
        }
        if let decode { feed.remove(decode) }
        leave()
    }
}

/// A load that feeds those who use its bytes while they come. Thread-safe.
final class DownloadSession: Sendable {
    private let feed: DownloadFeed
    private let stream: StreamFeed?
    private let number: Int
    private let hasPreviews = Atomic<Bool>(true)
    private let isOver = Atomic<Bool>(false)
    private let leave: @Sendable () -> Void

    fileprivate init(
        _ feed: DownloadFeed, _ stream: StreamFeed?, _ priority: LivePriority, leave: @escaping @Sendable () -> Void
    ) {
        self.feed = feed
        self.stream = stream
        self.leave = leave
        number = feed.previews.begin(priority)
    }

    /// Takes what the loader reports.
    func receive(_ report: LoadContext.Report) {
        feed.previews.take(report, number)
        stream?.take(report)
    }

    /// No preview comes any more. Calling it again does nothing.
    func endPreviews() {
        if hasPreviews.exchange(false, ordering: .acquiringAndReleasing) { feed.previews.end(number) }
    }

    /// The body is complete: the decoders that have its beginning, by what they make.
    func finish() async -> [StreamKey: StreamedDecode] { await stream?.finish() ?? [:] }

    /// The load is over. Calling it again does nothing.
    func end() {
        guard !isOver.exchange(true, ordering: .acquiringAndReleasing) else { return }
        endPreviews()
        stream?.end()
        leave()
    }
}
