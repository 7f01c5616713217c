// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

extension ImageManager {
    /// The statistics of a manager since its creation.
    ///
    /// The request counters include only requests for images. ``ImageManager/data(for:)`` affects only the work
    /// counters.
    public struct Statistics: Sendable, Hashable {
        /// The number of requests served from memory.
        public var memoryHits = 0
        /// The number of requests served from disk without contacting the server.
        public var diskHits = 0
        /// The number of requests served from another tier without contacting the server.
        public var tierHits = 0
        /// The number of requests served by a cached response that the server revalidated.
        public var revalidations = 0
        /// The number of requests served by a download.
        public var downloads = 0
        /// The number of requests served by files, data URLs, custom loaders, or interceptors.
        public var localLoads = 0
        /// The number of failed requests, not including canceled requests.
        public var failures = 0
        /// The number of canceled requests.
        public var cancellations = 0
        /// The number of failed requests that exceeded a limit.
        public var limitFailures = 0
        /// The number of body bytes that loaders delivered.
        public var loadedByteCount = 0
        /// The number of loads that started.
        public var loads = 0
        /// The number of loads saved because the same load was in flight.
        public var coalescedLoads = 0
        /// The number of decoded images.
        public var decodes = 0
        /// The number of decoded images whose decoding began during their download.
        package var decodesWhileLoading = 0
        /// The number of decoded images whose decoding began during their download, for the benchmarks.
        @_spi(Benchmarks) public var decodesDuringDownload: Int { decodesWhileLoading }
        /// The number of applied transformers.
        public var transforms = 0
        /// The number of decodes and transforms saved because the same work was in flight.
        public var coalescedDecodes = 0
        /// The number of encoded images.
        public var encodes = 0
        /// The number of encodes saved because the same work was in flight.
        public var coalescedEncodes = 0

        /// The fraction of successful requests that were served without contacting a source, from 0 to 1, or `nil`
        /// before the first one.
        public var hitRate: Double? {
            let hits = memoryHits + diskHits + tierHits
            let all = hits + revalidations + downloads + localLoads
            return all > 0 ? Double(hits) / Double(all) : nil
        }
    }
}

/// The counters of a manager. This class is thread-safe.
final class ManagerCounters: Sendable {
    private let memoryHits = Atomic<Int>(0)
    let bytesLoaded = Atomic<Int>(0)
    let loads = Atomic<Int>(0)
    let decodes = Atomic<Int>(0)
    let streamed = Atomic<Int>(0)
    let transforms = Atomic<Int>(0)
    let encodes = Atomic<Int>(0)
    /// The counters that change less often than the memory hits.
    private let others = Lock(ImageManager.Statistics())

    func countMemoryHit() { memoryHits.add(1, ordering: .relaxed) }

    /// Counts a finished request by its result.
    func count(_ result: Result<ImageResponse, ImageError>) {
        others.withLock { counts in
            switch result {
            case .success(let response): Self.count(response.source, &counts)
            case .failure(.cancelled): counts.cancellations += 1
            case .failure(let error):
                counts.failures += 1
                if case .limitExceeded = error { counts.limitFailures += 1 }
            }
        }
    }

    private static func count(_ origin: ImageResponse.Source, _ counts: inout ImageManager.Statistics) {
        switch origin {
        case .memoryCache: counts.memoryHits += 1
        case .diskCache: counts.diskHits += 1
        case .cacheTier: counts.tierHits += 1
        case .revalidated: counts.revalidations += 1
        case .network: counts.downloads += 1
        case .local: counts.localLoads += 1
        }
    }

    var statistics: ImageManager.Statistics {
        var counts = others.withLock { $0 }
        counts.memoryHits += memoryHits.load(ordering: .relaxed)
        counts.loadedByteCount = bytesLoaded.load(ordering: .relaxed)
        counts.loads = loads.load(ordering: .relaxed)
        counts.decodes = decodes.load(ordering: .relaxed)
        counts.decodesWhileLoading = streamed.load(ordering: .relaxed)
        counts.transforms = transforms.load(ordering: .relaxed)
        counts.encodes = encodes.load(ordering: .relaxed)
        return counts
    }
}
