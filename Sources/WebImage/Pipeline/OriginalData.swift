// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageNet
import WebImageStore

/// The original bytes of an image, wherever they came from. Shared by all requests that wait for them.
final class OriginalData: Sendable {
    let data: Data
    /// The image itself, when the application made it and there are no bytes.
    let image: Image?
    /// Digest and HTTP head of the bytes.
    let resource: ResourceRecord
    /// The header; nil for formats that only an application's own coder knows.
    let probe: ImageProbe?
    let origin: ImageResponse.Origin
    let metrics: LoadMetrics?
    /// When the bytes were complete.
    let arrived = ContinuousClock.now
    /// False where a truncated response would look the same: such bytes are stored only when they made an image.
    let isLengthKnown: Bool
    /// The cache that the bytes were read from.
    let source: ImageCache?
    /// The removals of the key that happened before these bytes were requested.
    let generation: CacheGeneration
    /// Whether later requests may have the bytes: neither the response nor the request it answers forbids storing.
    let mayBeReused: Bool
    /// What was sent for the bytes, and accepted; nil where they were not loaded.
    let exchange: ExchangeKey?
    let claims = StoreClaims()
    /// Sizes are many on a server, and each leaves an empty place behind.
    private let made = Lock(WeakTable<ImageKey, Image, Void>(smallestLimit: 16))

    init(
        data: Data, resource: ResourceRecord, probe: ImageProbe?, origin: ImageResponse.Origin,
        generation: CacheGeneration, exchange: ExchangeKey? = nil, mayBeReused: Bool = true,
        metrics: LoadMetrics? = nil,
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

    /// An image that the application made, as `key` names it.
    init(_ image: Image, key: CacheKey, generation: CacheGeneration, exchange: ExchangeKey) {
        data = Data()
        resource = ResourceRecord(
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

    /// Whether the bytes come from a cache.
    var isFromCache: Bool { source != nil }

    /// An image that was made of these bytes and is alive: a request that comes just after a job has ended finds its
    /// result here, also where nothing may be cached in memory.
    func image(for key: ImageKey) -> Image? { made.withLock { $0[key]?.object } }

    /// Remembers an image for as long as it and these bytes are in use.
    func remember(_ image: Image, for key: ImageKey) {
        made.withLock { $0.insert(image, for: key) }
    }
}
