// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The original data of an image, from any source. All requests that wait for the data share it.
final class OriginalData: Sendable {
    /// The separate entry of an image that was made from the data.
    struct ProcessedEntry: Hashable {
        let key: CacheKey
        let encoding: ImageEncoding
        /// The head of the data. A revalidation replaces it, and the entry is then stored again.
        let head: StoredResponseHead?
        /// The last removal of the key before the image was requested.
        let generation: CacheGeneration
    }

    let data: Data
    /// The image, if the application created it and there's no data.
    let image: DecodedImage?
    let originalInfo: OriginalInfo
    /// The header of the image, or `nil` for formats that only a custom coder supports.
    let probe: ImageInfo?
    let origin: ImageResponse.Source
    let metrics: NetworkMetrics?
    let arrived = ContinuousClock.now
    /// Whether a truncated response would have been detected. If it's `false`, the data is stored only after it was
    /// decoded.
    let isLengthKnown: Bool
    /// Whether the end marker is missing and the length of the response is unknown. Such data makes partial images,
    /// which aren't stored.
    var mayBeTruncated: Bool { !isLengthKnown && probe?.isTruncated == true }
    let source: ImageCache?
    let generation: CacheGeneration
    /// Whether later requests can use the data, because neither the response nor its request forbids storing.
    let mayBeReused: Bool
    /// The exchange that loaded the data, or `nil` if the data wasn't loaded.
    let exchange: ExchangeKey?
    /// The settings of the request that loaded the data, or `nil` if they had no effect on the data.
    let settings: SettingsSnapshot?
    /// The part of the budget for bodies in flight that the data uses while this object exists.
    private let charge: BodyCharge?
    let claims = StoreClaims()
    private let processedClaims = Lock<[ProcessedEntry: StoreClaims]>([:])
    /// A server can request many sizes, and each one leaves an empty slot in the table.
    private let made = Lock(WeakTable<ProcessingKey, DecodedImage, Void>(smallestLimit: 16))
    /// The steps for which the data was decoded before transformers were applied.
    private let decoded = Lock<Set<ProcessingKey>>([])

    init(
        data: Data, originalInfo: OriginalInfo, probe: ImageInfo?, origin: ImageResponse.Source,
        generation: CacheGeneration, exchange: ExchangeKey? = nil, settings: SettingsSnapshot? = nil,
        mayBeReused: Bool = true,
        metrics: NetworkMetrics? = nil,
        isLengthKnown: Bool = true, source: ImageCache? = nil, charge: BodyCharge? = nil
    ) {
        self.charge = charge
        self.data = data
        image = nil
        self.originalInfo = originalInfo
        self.probe = probe
        self.origin = origin
        self.generation = generation
        self.exchange = exchange
        self.settings = settings
        self.mayBeReused = mayBeReused
        self.metrics = metrics
        self.isLengthKnown = isLengthKnown
        self.source = source
    }

    init(_ image: DecodedImage, key: CacheKey, generation: CacheGeneration, exchange: ExchangeKey) {
        data = Data()
        originalInfo = OriginalInfo(
            digest: ContentDigest(of: Data(key.fileName.utf8)), byteCount: 0, head: nil)
        self.image = image.with(provenance: originalInfo)
        probe = nil
        origin = .local
        self.generation = generation
        self.exchange = exchange
        settings = nil
        mayBeReused = true
        metrics = nil
        charge = nil
        isLengthKnown = true
        source = nil
    }

    /// Returns the claims to store an image that was made from this data. Requests for the same entry share them.
    func claims(for entry: ProcessedEntry) -> StoreClaims {
        processedClaims.withLock { claims in
            if let known = claims[entry] { return known }
            let new = StoreClaims()
            claims[entry] = new
            return new
        }
    }

    /// Returns an image that was made from this data and is still in use. So a request that comes just after a job has
    /// ended finds its result, even if nothing can be cached in memory.
    func image(for key: ProcessingKey) -> DecodedImage? { made.withLock { $0[key]?.object } }

    func recordDecode(for key: ProcessingKey) { decoded.withLock { _ = $0.insert(key) } }

    /// Returns whether the data was decoded for a step, so it's valid. The image may no longer be in use.
    func wasDecoded(for key: ProcessingKey) -> Bool { decoded.withLock { $0.contains(key) } }

    /// Records an image for as long as both the image and this data are in use.
    func remember(_ image: DecodedImage, for key: ProcessingKey) {
        made.withLock { $0.insert(image, for: key) }
    }
}
