// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageTestSupport

@testable import WebImageStore

/// A memory tier with a dictionary. A hook runs before each store.
private final class DictionaryTier: MemoryCacheTier {
    private let images = Lock<[CacheKey: DecodedImage]>([:])
    private let hook = Lock<(@Sendable (CacheKey) -> Void)?>(nil)

    func image(for key: CacheKey) -> DecodedImage? { images.withLock { $0[key] } }

    func store(_ image: DecodedImage, for key: CacheKey, cost: Int) {
        let hook = hook.withLock { $0 }
        hook?(key)
        images.withLock { $0[key] = image }
    }

    func remove(_ key: CacheKey) { images.withLock { $0[key] = nil } }
    func removeAll() { images.withLock { $0 = [:] } }

    /// Sets a closure that runs before each store.
    func beforeStore(_ action: (@Sendable (CacheKey) -> Void)?) { hook.withLock { $0 = action } }

    /// Removes an image as an eviction would.
    func evict(_ key: CacheKey) { remove(key) }

    var count: Int { images.withLock { $0.count } }
}

@Suite("Custom memory tiers")
struct TrackedMemoryTierTests {
    private let tier = DictionaryTier()
    private let image: DecodedImage

    init() throws {
        image = DecodedImage(
            pixels: try PixelCanvas(size: PixelSize(width: 8, height: 8)).finish(isOpaque: false))
    }

    private func rendition(_ data: Int, width: Double? = nil) -> ImageVariant {
        ImageVariant(data: key(data), decoding: ImageDecodingOptions(size: width.map { .fit(width: $0) }))
    }

    private func store(_ tracked: TrackedMemoryTier, _ number: Int, of data: Int) {
        tracked.store(image, for: key(number), rendition: rendition(data, width: Double(number)))
    }

    @Test("All images of the same data are removed together, and other images remain")
    func families() {
        let tracked = TrackedMemoryTier.tracking(tier)
        for number in 1...6 { store(tracked, number, of: number % 2) }
        tracked.removeAll(of: key(0))
        #expect((1...6).map { tracked.image(for: key($0)) != nil } == [true, false, true, false, true, false])
        tracked.remove(key(3))
        #expect(tier.count == 2 && tracked.keyCount == 2)
        tracked.removeAll()
        #expect(tier.count == 0 && tracked.keyCount == 0)
    }

    @Test("An image that the tier evicted is a miss, and its key is removed")
    func eviction() {
        let tracked = TrackedMemoryTier.tracking(tier)
        store(tracked, 1, of: 1)
        tier.evict(key(1))
        #expect(tracked.image(for: key(1)) == nil && tracked.keyCount == 0)
    }

    @Test("Caches that use the same tier remove each other's images")
    func sharing() async throws {
        let caches = (0..<2).map { _ in ImageCache(customMemory: tier) }
        #expect(caches[0].trackedMemory === caches[1].trackedMemory && caches[0].memory == nil)
        #expect(caches[0].customMemory === tier)
        let tracked = try #require(caches[0].trackedMemory)
        store(tracked, 1, of: 9)
        await caches[1].remove(key(9))
        #expect(tier.count == 0)
        store(tracked, 2, of: 9)
        await caches[1].removeAll()
        #expect(tier.count == 0)
    }

    @Test("An image that is removed while the tier stores it doesn't remain", arguments: 0..<4)
    func removalDuringStore(variant: Int) {
        let tracked = TrackedMemoryTier.tracking(tier)
        tier.beforeStore { [tier] key in
            tier.beforeStore(nil)
            switch variant {
            case 0: tracked.remove(key)
            case 1: tracked.removeAll(of: WebImageStoreTests.key(7))
            case 2: tracked.removeAll()
            default:
                // A lookup during the store must not remove the key.
                #expect(tracked.image(for: key) == nil)
            }
        }
        store(tracked, 1, of: 7)
        guard variant < 3 else {
            tracked.removeAll(of: key(7))
            #expect(tier.count == 0)
            return
        }
        #expect(tier.count == 0 && tracked.image(for: key(1)) == nil)
    }

    @Test("Beyond the limit for keys, the images that were stored first are removed from the tier")
    func keyLimit() {
        let tracked = TrackedMemoryTier.tracking(tier)
        for number in 0...TrackedMemoryTier.keyLimit { store(tracked, number, of: number) }
        let half = TrackedMemoryTier.keyLimit / 2
        #expect(tracked.keyCount == half + 1 && tier.count == half + 1)
        #expect(tracked.image(for: key(0)) == nil && tracked.image(for: key(TrackedMemoryTier.keyLimit)) != nil)
    }

    @Test("The tracking object doesn't outlive its caches")
    func lifetime() {
        weak var tracked: TrackedMemoryTier?
        weak var tier: DictionaryTier?
        do {
            let own = DictionaryTier()
            let cache = ImageCache(customMemory: own)
            tracked = cache.trackedMemory
            tier = own
            #expect(tracked != nil && cache.customMemory === own)
        }
        #expect(tracked == nil && tier == nil)
    }
}
