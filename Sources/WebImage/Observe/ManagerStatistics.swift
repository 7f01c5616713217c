// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// What a manager has done since it was made. Requests are those for pictures; ``ImageManager/data(for:)`` shows in the
/// counts of work alone.
public struct ManagerStatistics: Sendable, Hashable {
    /// Requests that memory answered.
    public var memoryHits = 0
    /// Requests that the disk answered without the server.
    public var diskHits = 0
    /// Requests that another tier answered without the server.
    public var remoteHits = 0
    /// Requests answered by a stored copy that the server confirmed.
    public var revalidated = 0
    /// Requests answered by the network.
    public var downloaded = 0
    /// Requests answered by files, data URLs, an app's own loaders or interceptors.
    public var local = 0
    /// Requests that failed, those given up not counted.
    public var failed = 0
    /// Requests that were given up.
    public var cancelled = 0
    /// Of the failed, those that a limit refused.
    public var rejectedByLimits = 0
    /// Bytes of body that loaders brought.
    public var bytesLoaded = 0
    /// Loads that were begun.
    public var loads = 0
    /// Loads saved because the same one was under way.
    public var loadsShared = 0
    /// Pictures that were decoded.
    public var decodes = 0
    /// Of the decoded pictures, those whose decoding began while their download ran.
    public var decodesWhileLoading = 0
    /// Transformers that were run.
    public var transforms = 0
    /// Decodes and transforms saved because the same one was under way.
    public var picturesShared = 0
    /// Pictures that were encoded.
    public var encodes = 0
    /// Encodes saved because the same one was under way.
    public var encodesShared = 0

    /// Requests answered without asking a source, among all that were answered, 0 to 1; nil before the first.
    public var hitRate: Double? {
        let hits = memoryHits + diskHits + remoteHits
        let all = hits + revalidated + downloaded + local
        return all > 0 ? Double(hits) / Double(all) : nil
    }
}

/// Counts what a manager does. Thread-safe.
final class ManagerCounters: Sendable {
    private let memoryHits = Atomic<Int>(0)
    let bytesLoaded = Atomic<Int>(0)
    let loads = Atomic<Int>(0)
    let decodes = Atomic<Int>(0)
    let streamed = Atomic<Int>(0)
    let transforms = Atomic<Int>(0)
    let encodes = Atomic<Int>(0)
    /// What ends less often than hits in memory come.
    private let others = Lock(ManagerStatistics())

    func countMemoryHit() { memoryHits.add(1, ordering: .relaxed) }

    /// Counts the end of a request.
    func count(_ result: Result<ImageResponse, ImageError>) {
        others.withLock { counts in
            switch result {
            case .success(let response): Self.count(response.origin, &counts)
            case .failure(let error) where error.isCancelled: counts.cancelled += 1
            case .failure(let error):
                counts.failed += 1
                if case .limit = error { counts.rejectedByLimits += 1 }
            }
        }
    }

    private static func count(_ origin: ImageResponse.Origin, _ counts: inout ManagerStatistics) {
        switch origin {
        case .memory: counts.memoryHits += 1
        case .disk: counts.diskHits += 1
        case .remote: counts.remoteHits += 1
        case .revalidated: counts.revalidated += 1
        case .network: counts.downloaded += 1
        case .local: counts.local += 1
        }
    }

    var statistics: ManagerStatistics {
        var counts = others.withLock { $0 }
        counts.memoryHits += memoryHits.load(ordering: .relaxed)
        counts.bytesLoaded = bytesLoaded.load(ordering: .relaxed)
        counts.loads = loads.load(ordering: .relaxed)
        counts.decodes = decodes.load(ordering: .relaxed)
        counts.decodesWhileLoading = streamed.load(ordering: .relaxed)
        counts.transforms = transforms.load(ordering: .relaxed)
        counts.encodes = encodes.load(ordering: .relaxed)
        return counts
    }
}
