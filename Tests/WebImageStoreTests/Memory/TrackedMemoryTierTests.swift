// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageTestSupport

@testable import WebImageStore

/// A memory tier with a dictionary. Hooks run before and after its operations, like work of other threads.
private final class DictionaryTier: MemoryCacheTier {
    /// The moments at which the hook runs.
    enum Moment { case beforeLookup, afterLookup, beforeStore, afterStore, beforeRemoval, afterRemoval }

    private let images = Lock<[CacheKey: DecodedImage]>([:])
    private let hook = Lock<(@Sendable (Moment, CacheKey) -> Void)?>(nil)

    func image(for key: CacheKey) -> DecodedImage? {
        call(.beforeLookup, key)
        let image = images.withLock { $0[key] }
        call(.afterLookup, key)
        return image
    }

    func store(_ image: DecodedImage, for key: CacheKey, cost: Int) {
        call(.beforeStore, key)
        images.withLock { $0[key] = image }
        call(.afterStore, key)
    }

    func remove(_ key: CacheKey) {
        call(.beforeRemoval, key)
        evict(key)
        call(.afterRemoval, key)
    }

    func removeAll() { images.withLock { $0 = [:] } }

    private func call(_ moment: Moment, _ key: CacheKey) {
        let hook = hook.withLock { $0 }
        hook?(moment, key)
    }

    /// Sets a closure that runs before and after each operation.
    func onEachOperation(_ action: (@Sendable (Moment, CacheKey) -> Void)?) { hook.withLock { $0 = action } }

    /// Sets a closure that runs before each store.
    func beforeStore(_ action: (@Sendable (CacheKey) -> Void)?) {
        guard let action else { return onEachOperation(nil) }
        onEachOperation { moment, key in if moment == .beforeStore { action(key) } }
    }

    /// Removes an image as an eviction would.
    func evict(_ key: CacheKey) { images.withLock { $0[key] = nil } }

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

    private func variant(_ data: Int, width: Double? = nil) -> ImageVariant {
        ImageVariant(data: key(data), decoding: ImageDecodingOptions(size: width.map { .fit(width: $0) }))
    }

    private func store(_ tracked: TrackedMemoryTier, _ number: Int, of data: Int) {
        tracked.store(image, for: key(number), variant: variant(data, width: Double(number)))
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

    @Test("An image that is stored while a lookup misses it can be removed afterward with its data")
    func storeDuringLookup() {
        let tracked = TrackedMemoryTier.tracking(tier)
        store(tracked, 1, of: 7)
        tier.evict(key(1))
        tier.onEachOperation { [tier, image, variant = variant(7)] moment, key in
            guard moment == .afterLookup else { return }
            tier.onEachOperation(nil)
            tracked.store(image, for: key, variant: variant)
        }
        _ = tracked.image(for: key(1))
        #expect(tracked.image(for: key(1)) === image)
        tracked.removeAll(of: key(7))
        #expect(tier.count == 0)
    }

    @Test("The first cache that uses a tier removes the images in it, and another cache doesn't")
    func formerImages() {
        var cache: ImageCache? = ImageCache(customMemory: tier)
        if let tracked = cache?.trackedMemory { store(tracked, 1, of: 9) }
        let other = ImageCache(customMemory: tier)
        #expect(tier.count == 1 && other.trackedMemory?.keyCount == 1)
        cache = nil
        #expect(other.trackedMemory?.image(for: key(1)) != nil)
        let abandoned = DictionaryTier()
        abandoned.store(image, for: key(1), cost: image.cost)
        let later = ImageCache(customMemory: abandoned)
        #expect(abandoned.count == 0 && later.trackedMemory?.keyCount == 0)
    }

    @Test("An image with a time to live isn't returned afterward, neither for its key nor for another size")
    func timeToLive() {
        let time = Shared(100.0)
        let tracked = TrackedMemoryTier.tracking(tier, clock: TimeSource(now: { Date() }, uptime: { time.value }))
        tracked.store(image, for: key(1), variant: variant(1), timeToLive: .seconds(10))
        tracked.store(image, for: key(2), variant: variant(2), timeToLive: .zero)
        tracked.store(image, for: key(3), variant: variant(3))
        #expect(tracked.image(for: key(2)) == nil)
        time.value = 109
        #expect(tracked.image(for: key(1)) === image)
        #expect(tracked.placeholder(for: variant(1)) { _ in true } === image)
        time.value = 110
        #expect(tracked.placeholder(for: variant(1)) { _ in true } == nil)
        #expect(tracked.image(for: key(1)) == nil)
        #expect(tier.count == 1 && tracked.keyCount == 1)
        // A later store without a time to live replaces the time.
        tracked.store(image, for: key(1), variant: variant(1), timeToLive: .seconds(1))
        tracked.store(image, for: key(1), variant: variant(1))
        time.value = 1e9
        #expect(tracked.image(for: key(1)) === image && tracked.image(for: key(3)) === image)
    }

    // MARK: - Models

    @Test("Random operations have the results of a dictionary", arguments: 0..<20)
    func model(seed: UInt64) throws {
        struct Stored {
            let image: DecodedImage
            let expires: Double
        }
        var random = SeededGenerator(seed: seed)
        let time = Shared(0.0)
        let clock = TimeSource(now: { Date() }, uptime: { time.value })
        var tracked: TrackedMemoryTier? = TrackedMemoryTier.tracking(tier, clock: clock)
        var expected: [Int: Stored] = [:]
        for _ in 0..<1_000 {
            let number = Int.random(in: 0..<12, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<6:
                let image = DecodedImage(pixels: image.pixels)
                let life = Bool.random(using: &random) ? nil : Int.random(in: 0..<5, using: &random)
                tracked?.store(
                    image, for: key(number), variant: variant(number % 3),
                    timeToLive: life.map { .seconds($0) })
                expected[number] = Stored(image: image, expires: life.map { time.value + Double($0) } ?? .infinity)
            case 6..<11: #expect(tracked?.image(for: key(number)) === expected[number]?.image)
            case 11..<13:
                let family = number % 3
                let found = tracked?.placeholder(for: variant(family)) { _ in true }
                let members = expected.filter { $0.key % 3 == family }.values.map(\.image)
                #expect(members.isEmpty ? found == nil : members.contains { $0 === found })
            case 13, 14:
                tier.evict(key(number))
                expected[number] = nil
            case 15:
                tracked?.remove(key(number))
                expected[number] = nil
            case 16:
                tracked?.removeAll(of: key(number % 3))
                expected = expected.filter { $0.key % 3 != number % 3 }
            case 17: time.update { $0 += 1 }
            case 18 where number == 0:
                tracked?.removeAll()
                expected = [:]
            case 19 where number == 0:
                tracked = nil
                tracked = TrackedMemoryTier.tracking(tier, clock: clock)
                expected = [:]
            default: break
            }
            expected = expected.filter { $0.value.expires > time.value }
            #expect(expected.count <= tier.count && tier.count <= tracked?.keyCount ?? 0)
        }
        for family in 0..<3 { tracked?.removeAll(of: key(family)) }
        #expect(tier.count == 0 && tracked?.keyCount == 0)
    }

    @Test("After operations that interrupt each other, no image remains that can't be found", arguments: 0..<200)
    func interruptions(seed: UInt64) {
        let tracked = TrackedMemoryTier.tracking(tier)
        let random = Shared((generator: SeededGenerator(seed: seed), depth: 0))
        @Sendable func number(below limit: Int) -> Int {
            random.update { Int.random(in: 0..<limit, using: &$0.generator) }
        }
        @Sendable func operate() {
            let number = (key: number(below: 3), action: number(below: 8))
            switch number.action {
            case 0..<3: tracked.store(image, for: key(number.key), variant: variant(number.key % 2))
            case 3, 4: _ = tracked.image(for: key(number.key))
            case 5: tier.evict(key(number.key))
            case 6: tracked.remove(key(number.key))
            default: tracked.removeAll(of: key(number.key % 2))
            }
        }
        tier.onEachOperation { _, _ in
            guard number(below: 2) == 0, random.value.depth < 3 else { return }
            random.update { $0.depth += 1 }
            operate()
            random.update { $0.depth -= 1 }
        }
        for _ in 0..<8 { operate() }
        tier.onEachOperation(nil)
        for family in 0..<2 { tracked.removeAll(of: key(family)) }
        #expect(tier.count == 0 && tracked.keyCount == 0)
    }

    // MARK: - Caches

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
