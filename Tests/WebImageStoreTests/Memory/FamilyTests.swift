// SPDX-License-Identifier: MIT

import Synchronization
import Testing
import WebImageConcurrency
import WebImageCore

@testable import WebImageStore

private func image(_ side: Int = 8) throws -> DecodedImage {
    DecodedImage(pixels: try PixelCanvas(size: PixelSize(width: side, height: side)).finish(isOpaque: false))
}

private func variant(of family: Int, width: Double? = nil) -> ImageVariant {
    ImageVariant(data: key(1_000 + family), decoding: ImageDecodingOptions(size: width.map { .fit(width: $0) }))
}

@Suite("Images of the same data in memory")
struct FamilyTests {
    @Test("The smallest image that is large enough serves the request and counts as a hit")
    func larger() throws {
        let cache = MemoryCache(costLimit: 1 << 20, countLimit: 3)
        let images = [try image(40), try image(20), try image(10)]
        for (number, image) in images.enumerated() {
            cache.store(
                image, for: key(number), variant: variant(of: 1, width: Double(image.size.width)))
        }
        let wanted = variant(of: 1, width: 15)
        #expect(cache.image(for: key(9)) == nil)
        #expect(cache.larger(for: wanted) === images[1])
        #expect(cache.larger(for: wanted) { $0 !== images[1] } === images[0])
        #expect(cache.larger(for: variant(of: 1, width: 80)) == nil)
        #expect(cache.larger(for: variant(of: 2, width: 15)) == nil)
        #expect(cache.placeholder(for: variant(of: 1, width: 80)) === images[0])
        #expect(cache.placeholder(for: variant(of: 1, width: 80)) { $0 !== images[0] } === images[1])
        #expect(cache.statistics.hits == 2 && cache.statistics.misses == 0)
        cache.store(try image(), for: key(5))
        #expect(cache.image(for: key(1)) != nil)
    }

    @Test("All sizes of a URL are removed together, and other images remain")
    func removal() throws {
        let cache = MemoryCache(costLimit: 1 << 20)
        let shown = try image()
        cache.store(shown, for: key(1), variant: variant(of: 1))
        cache.trim(toFraction: 0)
        cache.store(try image(), for: key(2), variant: variant(of: 1, width: 4))
        cache.store(try image(), for: key(3), variant: variant(of: 2))
        #expect(cache.images(of: key(1_001)).count == 2)
        cache.removeAll(of: key(1_001))
        #expect(cache.image(for: key(1)) == nil && cache.image(for: key(2)) == nil)
        #expect(cache.image(for: key(3)) != nil)
        #expect(cache.images(of: key(1_001)).isEmpty)
        cache.removeAll()
        #expect(cache.images(of: key(1_002)).isEmpty)
    }

    @Test("An expired image is never returned, regardless of the kind of lookup")
    func expiry() throws {
        let time = ManualClock()
        let cache = MemoryCache(costLimit: 1 << 20, timeToLive: .seconds(10), clock: time.clock)
        let image = try image()
        cache.store(image, for: key(1), variant: variant(of: 1))
        cache.store(image, for: key(2), variant: variant(of: 1, width: 8), timeToLive: .seconds(20))
        time.advance(15)
        #expect(cache.images(of: key(1_001)).map(\.key) == [key(2).digest])
        #expect(cache.image(for: key(1)) == nil)
        #expect(cache.image(for: key(2)) === image)
    }

    @Test("The limit for one image replaces the default of one tenth and never exceeds the total limit")
    func entryLimit() throws {
        let cost = try image().cost
        let cache = MemoryCache(costLimit: cost * 3, entryLimit: cost)
        #expect(cache.store(try image(), for: key(1)))
        #expect(!cache.store(try image(9), for: key(2)))
        cache.configuration.entryCostLimit = .max
        #expect(cache.store(try image(9), for: key(2)))
        #expect(!cache.store(try image(30), for: key(3)))
        cache.configuration.entryCostLimit = nil
        #expect(!cache.store(try image(), for: key(1)))
        #expect(cache.statistics.cost <= cost * 3)
    }

    @Test("Prefetched images are evicted first unless they were read")
    func ahead() throws {
        let cache = MemoryCache(costLimit: 1 << 20)
        cache.store(try image(), for: key(1), variant: nil, isPrefetch: true)
        cache.store(try image(), for: key(2), variant: nil, isPrefetch: true)
        cache.store(try image(), for: key(3))
        _ = cache.image(for: key(2))
        cache.removeUnusedAhead()
        #expect(cache.statistics.count == 2 && cache.statistics.evictions == 1)
        #expect(cache.image(for: key(1)) == nil && cache.image(for: key(2)) != nil)
    }

    @Test("The first image stored in an empty cache triggers a notification")
    func filling() throws {
        let cache = MemoryCache(costLimit: 1 << 20)
        let count = Lock(0)
        cache.whenFilled { count.withLock { $0 += 1 } }
        cache.store(try image(1_000), for: key(1))
        #expect(count.withLock { $0 } == 0)
        cache.store(try image(), for: key(1))
        cache.store(try image(), for: key(2))
        #expect(count.withLock { $0 } == 1)
        cache.removeAll()
        cache.store(try image(), for: key(1))
        #expect(count.withLock { $0 } == 2)
    }
}

@Suite("Image families compared with a plain list")
struct FamilyModelTests {
    private final class Thing: Sendable {}

    @Test("Families contain exactly the findable images after eviction, removal, and weak lookups", arguments: 0..<8)
    func model(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var store = MemoryCacheStorage<Thing>(costLimit: 1_000, countLimit: 12)
        var held: [Int: Thing] = [:]
        let families = 5
        for step in 0..<1_500 {
            var leaving: [Thing] = []
            let number = Int.random(in: 0..<40, using: &random)
            let digest = key(number).digest
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8:
                let thing = Thing()
                if Bool.random(using: &random) { held[number] = thing } else { held[number] = nil }
                let note = CachedImageInfo(
                    cost: 10, expires: number % 4 == 0 ? Double(step + 200) : .infinity,
                    variant: number % 7 == 0 ? nil : variant(of: number % families))
                _ = store.store(thing, for: digest, info: note, releasing: &leaving)
            case 8..<13: _ = store.find(digest, uptime: { Double(step) }, releasing: &leaving)
            case 13..<15: store.remove(digest, releasing: &leaving)
            case 15: store.evict(toCost: 40, count: .max, releasing: &leaving)
            case 16: held[number] = nil
            case 17: store.pruneWeakEntries()
            case 18:
                if step % 9 == 0 { store.removeFamily(key(1_000 + number % families).digest, releasing: &leaving) }
            default: if step % 50 == 0 { _ = store.removeAll() }
            }
            leaving = []
            for family in 0..<families {
                let found = store.family(key(1_000 + family).digest, uptime: { Double(step) })
                var expected: Set<Int> = []
                for number in 0..<40 where number % families == family && number % 7 != 0 {
                    if store.live(key(number).digest, uptime: { Double(step) }) != nil { expected.insert(number) }
                }
                #expect(Set(found.map(\.digest)) == Set(expected.map { key($0).digest }))
            }
        }
        store.pruneWeakEntries()
        var members = 0
        for family in 0..<families { members += store.families.members(of: key(1_000 + family).digest).count }
        #expect(members <= store.count + store.weakEntryCount)
        _ = store.removeAll()
        #expect(store.families.count == 0)
    }
}
