// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

extension ImageManager {
    /// The statistics of a manager since its creation.
    ///
    /// Each request for an image, for original data, and for an encoded image counts once, by its result. This includes
    /// rejected requests, preliminary requests, and the loads of a prefetcher. Lookups that contact no source, such as
    /// ``ImageManager/cachedImage(for:)-(ImageRequest)``, and revalidations in the background affect only the work
    /// counters.
    public struct Statistics: Sendable, Hashable {
        /// The number of requests served from memory.
        public let memoryHits: Int
        /// The number of requests served from disk without contacting the server.
        public let diskHits: Int
        /// The number of requests served from another tier without contacting the server.
        public let tierHits: Int
        /// The number of requests served by a cached response that the server revalidated.
        public let revalidations: Int
        /// The number of requests served by a download.
        public let downloads: Int
        /// The number of requests served by files, data URLs, custom loaders, or interceptors.
        public let localLoads: Int
        /// The number of failed requests, not including canceled requests.
        public let failures: Int
        /// The number of canceled requests.
        public let cancellations: Int
        /// The number of failed requests that exceeded a limit, including the limit of requests in flight.
        public let limitFailures: Int
        /// The number of body bytes that loaders delivered.
        public let loadedByteCount: Int
        /// The number of loads that started.
        public let loads: Int
        /// The number of loads saved because the same load was in flight.
        public let coalescedLoads: Int
        /// The number of decoded images.
        public let decodes: Int
        /// The number of decoded images whose decoding began during their download.
        package let decodesWhileLoading: Int
        /// The number of decoded images whose decoding began during their download, for the benchmarks.
        @_spi(Benchmarks) public var decodesDuringDownload: Int { decodesWhileLoading }
        /// The number of applied transformers.
        public let transforms: Int
        /// The number of decodes and transforms saved because the same work was in flight.
        public let coalescedDecodes: Int
        /// The number of encoded images.
        public let encodes: Int
        /// The number of encodes saved because the same work was in flight.
        public let coalescedEncodes: Int
        /// The number of worker threads that are still busy with data long after its timeout. They were replaced by
        /// other threads.
        public let unresponsiveThreads: Int
        /// The size of response bodies in flight, in bytes. See
        /// ``ImageDownloader/Configuration/maxBodyBytesInFlight``.
        public internal(set) var bodyBytesInFlight = 0
        /// The number of downloads that are paused because of ``ImageDownloader/Configuration/maxBodyBytesInFlight``.
        public internal(set) var pausedDownloads = 0

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
    private let requests = Lock(RequestCounters())

    func countMemoryHit() { memoryHits.add(1, ordering: .relaxed) }

    func count(_ result: Result<DeliveredResult, ImageError>) {
        requests.withLock { counts in
            switch result {
            case .success(let delivered): Self.count(delivered.source, &counts)
            case .failure(.cancelled): counts.cancellations += 1
            case .failure(let error):
                counts.failures += 1
                if case .limitExceeded = error { counts.limitFailures += 1 }
            }
        }
    }

    private static func count(_ origin: ImageResponse.Source, _ counts: inout RequestCounters) {
        switch origin {
        case .memoryCache: counts.memoryHits += 1
        case .diskCache: counts.diskHits += 1
        case .cacheTier: counts.tierHits += 1
        case .revalidated: counts.revalidations += 1
        case .network: counts.downloads += 1
        case .local: counts.localLoads += 1
        }
    }

    func statistics(
        coalescedLoads: Int, coalescedDecodes: Int, coalescedEncodes: Int, unresponsiveThreads: Int
    ) -> ImageManager.Statistics {
        let counts = requests.withLock { $0 }
        return ImageManager.Statistics(
            memoryHits: counts.memoryHits + memoryHits.load(ordering: .relaxed), diskHits: counts.diskHits,
            tierHits: counts.tierHits, revalidations: counts.revalidations, downloads: counts.downloads,
            localLoads: counts.localLoads, failures: counts.failures, cancellations: counts.cancellations,
            limitFailures: counts.limitFailures, loadedByteCount: bytesLoaded.load(ordering: .relaxed),
            loads: loads.load(ordering: .relaxed), coalescedLoads: coalescedLoads,
            decodes: decodes.load(ordering: .relaxed), decodesWhileLoading: streamed.load(ordering: .relaxed),
            transforms: transforms.load(ordering: .relaxed), coalescedDecodes: coalescedDecodes,
            encodes: encodes.load(ordering: .relaxed), coalescedEncodes: coalescedEncodes,
            unresponsiveThreads: unresponsiveThreads)
    }
}

/// The counts of finished requests by their result. They change less often than the counter of memory hits.
private struct RequestCounters {
    var memoryHits = 0
    var diskHits = 0
    var tierHits = 0
    var revalidations = 0
    var downloads = 0
    var localLoads = 0
    var failures = 0
    var cancellations = 0
    var limitFailures = 0
}

/// The number of loads in flight, as a value and as a stream of values.
///
/// Files and `data:` URLs don't count. The class is thread-safe.
final class LoadActivity: Sendable {
    private let live = ObservableValue(0)

    var count: Int { live.value }

    /// A slow reader receives only the most recent count. The stream doesn't end on its own.
    var counts: AsyncStream<Int> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = live.follow { continuation.yield($0) }
            continuation.onTermination = { [weak live] _ in live?.stopObserving(number) }
        }
    }

    func change(by step: Int) { live.update { $0 += step } }
}
