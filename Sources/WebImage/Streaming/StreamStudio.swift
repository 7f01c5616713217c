// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// Feeds decoders of running downloads on worker threads.
struct StreamStudio: Sendable {
    let workers: WorkerPool
    /// Bytes that decoders of running downloads may hold, those of previews included.
    let budget: PreviewBudget
    let time: @Sendable () -> Double

    /// Gives `parts` to `decodes`; `whenBegun` is called on the worker thread.
    ///
    /// - Returns: false where more is needed before anything can be taken; nil where it did not begin.
    func append(
        _ parts: [Data], _ expected: Int?, _ decodes: [StreamedDecode], _ priority: LivePriority,
        whenBegun: @escaping @Sendable () -> Void
    ) async -> Bool? {
        guard let limits = decodes.first?.plan.limits else { return nil }
        return try? await workers.run(cost: 0, priority: priority, limits: limits) {
            [budget] context throws(ImageError) -> Bool in
            whenBegun()
            let span = decodes.first?.plan.trace?.begin(
                .decode, key: decodes.first?.plan.keys.decoded, lane: WorkerLane.current, detail: "part")
            var hasTaken = false
            for decode in decodes where decode.append(parts, expected: expected, budget: budget, context: context) {
                hasTaken = true
            }
            span?.end { $0.bytes = parts.reduce(0) { $0 + $1.count } }
            return hasTaken
        }
    }
}

/// Who wants pictures of which download.
final class StreamTable: Sendable {
    private struct Wish {
        let plan: RequestPlan
        var count: Int
    }

    private let wishes = Lock<[FetchKey: [StreamKey: Wish]]>([:])
    let studio: StreamStudio

    init(_ studio: StreamStudio) { self.studio = studio }

    /// A request waits for the picture of `plan` from the download of `key`, until the result is ended.
    func wish(_ key: FetchKey, _ plan: RequestPlan) -> StreamWish {
        let stream = StreamKey(plan)
        wishes.withLock { $0[key, default: [:]][stream, default: Wish(plan: plan, count: 0)].count += 1 }
        return StreamWish(table: self, key: key, stream: stream)
    }

    fileprivate func end(_ wish: StreamWish) {
        let left = wishes.withLock { wishes -> Wish? in
            wishes[wish.key]?[wish.stream]?.count -= 1
            guard let found = wishes[wish.key]?[wish.stream], found.count <= 0 else { return nil }
            wishes[wish.key]?[wish.stream] = nil
            if wishes[wish.key]?.isEmpty == true { wishes[wish.key] = nil }
            return found
        }
        _ = left  // Released here, after the lock.
    }

    /// A feed for the download of `key` that is about to begin.
    func feed(_ key: FetchKey, _ priority: LivePriority) -> StreamFeed {
        StreamFeed(studio, priority) { [weak self] in
            self?.wishes.withLock { $0[key]?.values.map(\.plan) ?? [] } ?? []
        }
    }

    /// Downloads of which pictures are wanted; for tests.
    var count: Int { wishes.withLock { $0.count } }
}

/// A request that waits for a picture of a download.
struct StreamWish: Sendable {
    fileprivate let table: StreamTable
    fileprivate let key: FetchKey
    let stream: StreamKey

    func end() { table.end(self) }
}
