// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageNet
import WebImageStore

/// Original bytes of a picture, wherever they came from. Shared by all requests that wait for them.
final class Original: Sendable {
    let data: Data
    /// The picture itself, where the app made it and there are no bytes.
    let image: Image?
    /// Digest and HTTP head of the bytes.
    let resource: ResourceRecord
    /// The header; nil for formats only an app's own coder knows.
    let probe: ImageProbe?
    let origin: ImageResponse.Origin
    let metrics: LoadMetrics?
    /// When the bytes were whole.
    let arrived = ContinuousClock.now
    /// False where a cut answer would look the same: such bytes are stored only when they made a picture.
    let isLengthKnown: Bool
    /// Whether the bytes come from a cache.
    let isFromCache: Bool
    private let isStored: Atomic<Bool>
    private let made = Lock<[PictureKey: Image]>([:])

    init(
        data: Data, resource: ResourceRecord, probe: ImageProbe?, origin: ImageResponse.Origin,
        metrics: LoadMetrics? = nil, isLengthKnown: Bool = true, isStored: Bool = false
    ) {
        self.data = data
        image = nil
        self.resource = resource
        self.probe = probe
        self.origin = origin
        self.metrics = metrics
        self.isLengthKnown = isLengthKnown
        isFromCache = isStored
        self.isStored = Atomic(isStored)
    }

    /// A picture that the app made, as `key` names it.
    init(_ image: Image, key: CacheKey) {
        data = Data()
        resource = ResourceRecord(
            digest: ContentDigest(of: Data(key.fileName.utf8)), byteCount: 0, head: nil)
        self.image = image.with(provenance: resource)
        probe = nil
        origin = .local
        metrics = nil
        isLengthKnown = true
        isFromCache = false
        isStored = Atomic(true)
    }

    /// A picture that was made of these bytes while they are in use: whoever comes just after a job has ended finds its
    /// result here, also where nothing may be kept in memory.
    func picture(_ key: PictureKey) -> Image? { made.withLock { $0[key] } }

    /// Remembers a picture as long as these bytes are in use.
    func remember(_ image: Image, _ key: PictureKey) { made.withLock { $0[key] = image } }

    /// True for the first caller only, and for nobody when the bytes came from a cache: bytes are written once.
    func claimStoring() -> Bool { !isStored.exchange(true, ordering: .acquiringAndReleasing) }
}

/// How the bytes of a request were found.
enum Obtained: Sendable {
    /// Bytes that answer the request: fresh ones of the disk, or new ones.
    /// `ahead` is a decoder that has taken their beginning.
    case bytes(Original, ahead: StreamedDecode? = nil)
    /// The server confirmed what was known (304). `stored` are the bytes where the disk has them.
    case confirmed(ResourceRecord, stored: Original?, metrics: LoadMetrics)
    /// The server could not be asked; `stored` is older than it should be.
    case unreachable(ImageError, stored: Original?)
}
