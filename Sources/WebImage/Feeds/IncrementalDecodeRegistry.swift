// SPDX-License-Identifier: MIT

import Foundation
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

    /// The budget for the pixels that the decoders of running downloads retain.
    var budget: PreviewBudget { previews.budget }

    /// The number of feeds in use, for tests.
    var count: Int { entries.withLock { $0.count } }

    /// Subscribes `task` to the download for `key` until the subscription ends. Returns `nil` if the request needs
    /// neither previews nor decoding during the download.
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

    /// Begins the download for `key` and returns its session, which receives the loader's reports.
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
        let left = entries.withLock { entries -> Entry? in
            entries[key]?.users -= 1
            guard let entry = entries[key], entry.users <= 0 else { return nil }
            return entries.removeValue(forKey: key)
        }
        _ = left  // Release the entry after unlocking.
    }
}

/// A download, shared by its load and all requests that wait for it.
final class DownloadFeed: Sendable {
    private struct DecodeRequest {
        let plan: RequestPlan
        var count: Int
    }

    let previews: PreviewSource
    private let requests = Lock<[IncrementalDecodeKey: DecodeRequest]>([:])

    fileprivate init(_ renderer: PreviewRenderer) { previews = PreviewSource(renderer) }

    /// The plans of the requests that decode during the download, one for each image.
    fileprivate var plans: [RequestPlan] { requests.withLock { $0.values.map(\.plan) } }

    fileprivate func add(_ plan: RequestPlan) {
        requests.withLock { $0[IncrementalDecodeKey(plan), default: DecodeRequest(plan: plan, count: 0)].count += 1 }
    }

    fileprivate func remove(_ key: IncrementalDecodeKey) {
        let left = requests.withLock { requests -> DecodeRequest? in
            requests[key]?.count -= 1
            guard let request = requests[key], request.count <= 0 else { return nil }
            return requests.removeValue(forKey: key)
        }
        _ = left  // Release the entry after unlocking.
    }
}

/// A request's subscription to a running download.
struct FeedSubscription: Sendable {
    fileprivate let feed: DownloadFeed
    fileprivate let listener: (id: Int, task: ImageTask)?
    fileprivate let decode: IncrementalDecodeKey?
    fileprivate let leave: @Sendable () -> Void

    /// Ends the subscription. Call this method exactly once.
    func end() {
        if let listener {
            listener.task.call(whenHeard: nil)
            feed.previews.remove(listener.id)
        }
        if let decode { feed.remove(decode) }
        leave()
    }
}

/// A load that delivers its data to subscribers during the download. This class is thread-safe.
final class DownloadSession: Sendable {
    private let feed: DownloadFeed
    private let stream: IncrementalDecodeSource?
    private let number: Int
    private let hasPreviews = Atomic<Bool>(true)
    private let isFinished = Atomic<Bool>(false)
    private let leave: @Sendable () -> Void

    fileprivate init(
        _ feed: DownloadFeed, _ stream: IncrementalDecodeSource?, _ priority: SharedPriority,
        leave: @escaping @Sendable () -> Void
    ) {
        self.feed = feed
        self.stream = stream
        self.leave = leave
        number = feed.previews.begin(priority)
    }

    /// Passes a report of the loader to the previews and the decoders.
    func receive(_ report: LoadContext.Report) {
        feed.previews.receive(report, number)
        stream?.receive(report)
    }

    /// Ends the previews. Further calls have no effect.
    func endPreviews() {
        if hasPreviews.exchange(false, ordering: .acquiringAndReleasing) { feed.previews.end(number) }
    }

    /// Finishes the stream after the body is complete and returns the decoders that have received its beginning.
    func finish() async -> [IncrementalDecodeKey: IncrementalDecode] { await stream?.finish() ?? [:] }

    /// Ends the session after the load. Further calls have no effect.
    func end() {
        guard !isFinished.exchange(true, ordering: .acquiringAndReleasing) else { return }
        endPreviews()
        stream?.end()
        leave()
    }
}

/// The rules that decide which downloads are decoded while they run.
///
/// These are downloads that are slower than a decoder and large enough to benefit. Faster downloads are decoded after
/// they're complete, which needs fewer thread switches.
enum DownloadSpeedGate {
    /// The minimum size in bytes. Smaller images decode in about the time of a thread switch.
    static let leastBytes = 48 << 10
    /// The time after the response head before the pace of a download is evaluated, in seconds.
    static let leastSeconds = 0.02
    /// The maximum rate in bytes per second with which decoders keep up. Large photographs decode at 15 to 60 MB/s.
    static let mostRate = 16e6
    /// The maximum number of bytes to buffer until a download proves to be slow.
    static let maxBufferedBytes = 4 << 20

    /// Returns whether to start decoding when `received` of `expected` bytes have arrived `seconds` after the response
    /// head.
    static func begins(received: Int, expected: Int?, seconds: Double) -> Bool {
        guard seconds >= leastSeconds, Double(received) < seconds * mostRate else { return false }
        guard let expected else { return received >= leastBytes }
        guard expected >= leastBytes, received < expected else { return false }
        // Decoding isn't worth starting if the download is about to finish.
        return Double(expected - received) * seconds >= Double(received) * leastSeconds / 2
    }
}

/// The service that passes the data of running downloads to decoders on worker threads.
struct IncrementalDecodeScheduler: Sendable {
    let workers: WorkerPool
    /// The budget for the decoders of running downloads, including those for previews.
    let budget: PreviewBudget
    let time: @Sendable () -> Double

    /// Passes `parts` to `decodes` on a worker thread. `whenBegun` is called on this thread before the work.
    ///
    /// - Returns: `false` if the decoders need more data before they can take any, or `nil` if the work didn't start.
    func append(
        _ parts: [Data], _ expected: Int?, _ decodes: [IncrementalDecode], _ priority: SharedPriority,
        whenBegun: @escaping @Sendable () -> Void
    ) async -> Bool? {
        guard let limits = decodes.first?.plan.limits else { return nil }
        let watched = WatchedWork(
            subject: decodes.first?.subject, whenLost: { error in for decode in decodes { decode.lose(error) } })
        return try? await workers.run(
            cost: 0, priority: priority, remote: decodes.first?.remoteWork, limits: limits, watched: watched
        ) { [budget] context throws(ImageError) -> Bool in
            whenBegun()
            let span = decodes.first?.plan.trace?.begin(
                .decode, cacheKey: decodes.first?.plan.keys.decoded, threadName: WorkerThreadNames.current,
                details: "part")
            var hasTaken = false
            for decode in decodes where decode.append(parts, expected: expected, budget: budget, context: context) {
                hasTaken = true
            }
            span?.end { $0.byteCount = parts.reduce(0) { $0 + $1.count } }
            return hasTaken
        }
    }
}
