// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageNet
import WebImageStore

/// The original data of an image, from any source. All requests that wait for the data share it.
final class OriginalData: Sendable {
    let data: Data
    /// The image, if the application created it and there's no data.
    let image: DecodedImage?
    /// The digest and the response head of the data.
    let resource: OriginalInfo
    /// The header of the image, or `nil` for formats that only a custom coder supports.
    let probe: ImageInfo?
    let origin: ImageResponse.Source
    let metrics: NetworkMetrics?
    /// The time at which the data was complete.
    let arrived = ContinuousClock.now
    /// A Boolean value that indicates whether a truncated response would have been detected. If it's `false`, the data
    /// is stored only after it was decoded.
    let isLengthKnown: Bool
    /// The cache that the data was read from.
    let source: ImageCache?
    /// The last removal of the key before this data was requested.
    let generation: CacheGeneration
    /// A Boolean value that indicates whether later requests can use the data, because neither the response nor its
    /// request forbids storing.
    let mayBeReused: Bool
    /// The exchange that loaded the data, or `nil` if the data wasn't loaded.
    let exchange: ExchangeKey?
    let claims = StoreClaims()
    /// A server can request many sizes, and each one leaves an empty slot in the table.
    private let made = Lock(WeakTable<ProcessingKey, DecodedImage, Void>(smallestLimit: 16))

    init(
        data: Data, resource: OriginalInfo, probe: ImageInfo?, origin: ImageResponse.Source,
        generation: CacheGeneration, exchange: ExchangeKey? = nil, mayBeReused: Bool = true,
        metrics: NetworkMetrics? = nil,
        isLengthKnown: Bool = true, source: ImageCache? = nil
    ) {
        self.data = data
        image = nil
        self.resource = resource
        self.probe = probe
        self.origin = origin
        self.generation = generation
        self.exchange = exchange
        self.mayBeReused = mayBeReused
        self.metrics = metrics
        self.isLengthKnown = isLengthKnown
        self.source = source
    }

    /// Creates the data of an image that the application created and that `key` identifies.
    init(_ image: DecodedImage, key: CacheKey, generation: CacheGeneration, exchange: ExchangeKey) {
        data = Data()
        resource = OriginalInfo(
            digest: ContentDigest(of: Data(key.fileName.utf8)), byteCount: 0, head: nil)
        self.image = image.with(provenance: resource)
        probe = nil
        origin = .local
        self.generation = generation
        self.exchange = exchange
        mayBeReused = true
        metrics = nil
        isLengthKnown = true
        source = nil
    }

    /// A Boolean value that indicates whether the data comes from a cache.
    var isFromCache: Bool { source != nil }

    /// Returns an image that was made from this data and is still in use. So a request that comes just after a job has
    /// ended finds its result, even if nothing can be cached in memory.
    func image(for key: ProcessingKey) -> DecodedImage? { made.withLock { $0[key]?.object } }

    /// Records an image for as long as both the image and this data are in use.
    func remember(_ image: DecodedImage, for key: ProcessingKey) {
        made.withLock { $0.insert(image, for: key) }
    }
}
