// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@testable import WebImageStore

private func picture(_ side: Int = 8) throws -> DecodedImage {
    DecodedImage(pixels: try PixelCanvas(size: PixelSize(width: side, height: side)).finish(isOpaque: false))
}

@Suite("Memory cache")
struct MemoryCacheTests {
    @Test("A lookup returns the same object that was stored")
    func roundTrip() throws {
        let cache = MemoryCache(costLimit: 1 << 20)
        let image = try picture()
        #expect(cache.store(image, for: key(1)))
        #expect(cache.image(for: key(1)) === image)
        #expect(cache.image(for: key(2)) == nil)
        #expect(cache.statistics.hits == 1 && cache.statistics.misses == 1)
        #expect(cache.statistics.cost == image.cost && cache.statistics.count == 1)
        cache.remove(key(1))
        #expect(cache.image(for: key(1)) == nil)
        #expect(cache.statistics.cost == 0)
    }

    @Test("An image over one tenth of the cost limit isn't stored, and it removes the previous image")
    func tooDear() throws {
        let cache = MemoryCache(costLimit: 10 * 8 * 32)
        #expect(cache.store(try picture(), for: key(1)))
        #expect(!cache.store(try picture(9), for: key(1)))
        #expect(cache.image(for: key(1)) == nil)
    }

    @Test("An image that was read gets a second chance before eviction")
    func secondChance() throws {
        let cache = MemoryCache(costLimit: 1 << 20, countLimit: 3)
        for number in 1...3 { cache.store(try picture(), for: key(number)) }
        _ = cache.image(for: key(1))
        cache.store(try picture(), for: key(4))
        #expect(cache.image(for: key(1)) != nil)
        #expect(cache.image(for: key(2)) == nil)
        #expect(cache.statistics.evictions == 1)
    }

    @Test("An evicted image that is still in use is found again and counted again")
    func weak() throws {
        let cache = MemoryCache(costLimit: 1 << 20)
        let shown = try picture()
        cache.store(shown, for: key(1))
        cache.store(try picture(), for: key(2))
        cache.trim(toFraction: 0)
        #expect(cache.statistics.cost == 0)
        #expect(cache.image(for: key(1)) === shown)
        #expect(cache.statistics.cost == shown.cost)
        #expect(cache.image(for: key(2)) == nil)
        cache.removeAll()
        #expect(cache.image(for: key(1)) == nil)
    }

    @Test("An image in use is found repeatedly even if the limits no longer admit it")
    func weakTooDear() throws {
        let cache = MemoryCache(costLimit: 1 << 20)
        let shown = try picture()
        cache.store(shown, for: key(1))
        cache.configuration.costLimit = 0
        for _ in 0..<3 { #expect(cache.image(for: key(1)) === shown) }
        #expect(cache.statistics.count == 0)
    }

    @Test("An image expires after its time to live, even if it was evicted")
    func timeToLive() throws {
        let time = ManualClock()
        let cache = MemoryCache(costLimit: 1 << 20, clock: time.clock)
        let shown = try picture()
        cache.store(shown, for: key(1), timeToLive: .seconds(10))
        cache.store(shown, for: key(2), timeToLive: .seconds(10))
        time.advance(9)
        #expect(cache.image(for: key(1)) != nil)
        cache.trim(toFraction: 0)
        time.advance(2)
        #expect(cache.image(for: key(1)) == nil)
        #expect(cache.image(for: key(2)) == nil)
        #expect(cache.statistics.count == 0)
    }

    @Test("Trimming by age evicts the images that were stored earlier, also if they were used since")
    func trimByAge() throws {
        let time = ManualClock()
        let cache = MemoryCache(costLimit: 1 << 20, clock: time.clock)
        let shown = try picture()
        cache.store(shown, for: key(1))
        cache.store(try picture(), for: key(2), timeToLive: .seconds(100))
        time.advance(10)
        cache.store(try picture(), for: key(3))
        for number in 1...3 { #expect(cache.image(for: key(number)) != nil) }
        cache.trim(maxAge: .seconds(20))
        #expect(cache.statistics.count == 3)
        cache.trim(maxAge: .seconds(5))
        #expect(cache.statistics.count == 1 && cache.statistics.evictions == 2)
        #expect(cache.image(for: key(2)) == nil && cache.image(for: key(3)) != nil)
        // An image in use is found again, as after other evictions.
        #expect(cache.image(for: key(1)) === shown)
        // It returned to the cache with its age.
        cache.trim(maxAge: .seconds(5))
        #expect(cache.statistics.count == 1)
        time.advance(1)
        cache.trim(maxAge: .zero)
        #expect(cache.statistics.count == 0 && cache.statistics.cost == 0)
    }

    @Test("If uses count, each use restarts the time to live, also of an evicted image")
    func sinceLastUse() throws {
        let time = ManualClock()
        var configuration = MemoryCache.Configuration()
        configuration.timeToLive = .seconds(10)
        configuration.expiration = .sinceLastUse
        configuration.clock = time.clock
        let cache = MemoryCache(configuration: configuration)
        let shown = try picture()
        cache.store(shown, for: key(1))
        cache.store(shown, for: key(2), timeToLive: .seconds(20))
        for _ in 0..<3 {
            time.advance(9)
            #expect(cache.image(for: key(1)) === shown)
        }
        #expect(cache.image(for: key(2)) == nil)
        cache.trim(toFraction: 0)
        time.advance(9)
        #expect(cache.image(for: key(1)) === shown)
        time.advance(9)
        #expect(cache.image(for: key(1)) === shown)
        time.advance(10)
        #expect(cache.image(for: key(1)) == nil)
    }

    @Test("A change of the expiration applies to images that are stored afterward")
    func changedExpiration() throws {
        let time = ManualClock()
        let cache = MemoryCache(costLimit: 1 << 20, timeToLive: .seconds(10), clock: time.clock)
        cache.store(try picture(), for: key(1))
        cache.configuration.expiration = .sinceLastUse
        cache.store(try picture(), for: key(2))
        time.advance(6)
        for number in 1...2 { #expect(cache.image(for: key(number)) != nil) }
        time.advance(6)
        #expect(cache.image(for: key(1)) == nil)
        #expect(cache.image(for: key(2)) != nil)
    }

    @Test("Lowering a limit evicts images immediately")
    func lowering() throws {
        let cache = MemoryCache(costLimit: 1 << 20)
        let cost = try picture().cost
        for number in 0..<20 { cache.store(try picture(), for: key(number)) }
        cache.configuration.costLimit = cost * 10
        #expect(cache.statistics.cost == cost * 10)
        cache.configuration.countLimit = 4
        #expect(cache.statistics.count == 4)
        cache.trim(toFraction: 0.2)
        #expect(cache.statistics.cost <= cost * 2)
        cache.configuration.costLimit = -1
        #expect(cache.statistics.count == 0)
    }

    @Test("The configuration reports its changes, and a new time to live applies to images stored afterward")
    func configuration() throws {
        let time = ManualClock()
        var limits = MemoryCache.Configuration()
        limits.countLimit = 10
        limits.clock = time.clock
        let cache = MemoryCache(configuration: limits)
        #expect(cache.configuration == limits)
        let (first, second) = (try picture(), try picture())
        cache.store(first, for: key(1))
        cache.configuration.timeToLive = .seconds(10)
        #expect(cache.configuration != limits && cache.configuration.timeToLive == .seconds(10))
        cache.store(second, for: key(2))
        time.advance(11)
        #expect(cache.image(for: key(1)) != nil && cache.image(for: key(2)) == nil)
        cache.trim(toCost: first.cost - 1)
        #expect(cache.statistics.count == 0)
    }

    @Test("G-06: Images are released after unlocking")
    func releases() throws {
        // Releasing this object uses the cache, which would deadlock while the lock is held.
        final class Reentrant: Sendable {
            let cache: MemoryCache
            init(_ cache: MemoryCache) { self.cache = cache }
            deinit { _ = cache.statistics }
        }
        struct Decoder: AnimationDecoder {
            let timeline: AnimationTimeline
            let cost = 0
            let guest: Reentrant
            func frame(at index: Int) throws(ImageError) -> PixelBuffer {
                throw .request(.frameNotFound(index: index, frameCount: 0))
            }
        }
        let cache = MemoryCache(costLimit: 1 << 20)
        for round in 0..<4 {
            let timeline = AnimationTimeline(loopCount: 0, durations: [1_000, 1_000])
            cache.store(
                DecodedImage(
                    pixels: try picture().pixels,
                    animation: ImageAnimation(Decoder(timeline: timeline, guest: Reentrant(cache)))), for: key(1))
            switch round {
            case 0: cache.remove(key(1))
            case 1: cache.removeAll()
            case 2: cache.trim(toFraction: 0)
            default: cache.store(try picture(), for: key(1))
            }
        }
        #expect(cache.statistics.count == 1)
    }

    @Test("Statistics remain correct with concurrent access")
    func hammer() async throws {
        let cache = MemoryCache(costLimit: 100 * 256, countLimit: 60)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(task))
                    for _ in 0..<2_000 {
                        let number = Int.random(in: 0..<100, using: &random)
                        switch Int.random(in: 0..<20, using: &random) {
                        case 0..<12: _ = cache.image(for: key(number))
                        case 12..<17: if let image = try? picture() { cache.store(image, for: key(number)) }
                        case 17: cache.remove(key(number))
                        case 18: cache.trim(toFraction: 0.5)
                        default: if number == 0 { cache.removeAll() }
                        }
                    }
                }
            }
        }
        #expect(cache.statistics.count <= 60)
        #expect(cache.statistics.cost == cache.statistics.count * (try picture().cost))
    }

    @Test(
        "Trimming to any fraction of any limit works, even with values that don't fit in an integer",
        arguments: [0, 7 << 10, Int.max], [0.0, 0.5, 1, 2, -1, .nan, .infinity, -.infinity])
    func fractions(limit: Int, fraction: Double) throws {
        let cache = MemoryCache(costLimit: limit, entryLimit: .max)
        cache.store(try picture(), for: key(1))
        cache.trim(toFraction: fraction)
        #expect(Double(cache.statistics.cost) <= Double(limit) * (fraction > 0 ? min(fraction, 1) : 0))
    }
}

@Suite("Memory cache compared with simple lists")
struct AdaptiveFIFOTableTests {
    /// A simple, slow implementation of the rules with lists from the oldest to the newest entry.
    private struct Model {
        struct Line {
            var digest: CacheKey.Digest
            var value: Int
            var cost: Int
            var reads = 0
            var isMain = false
        }

        var small: [Line] = []
        var main: [Line] = []
        /// The evicted digests in order. A digest that returned is replaced by `nil`.
        var smallGhosts: [CacheKey.Digest?] = []
        var mainGhosts: [CacheKey.Digest?] = []
        var share = 0.1

        var lines: [Line] { small + main }
        var cost: Int { lines.reduce(0) { $0 + $1.cost } }
        private var window: Int { max(4, Int(Double(lines.count) * 0.2)) }

        func line(_ digest: CacheKey.Digest) -> Line? { lines.first { $0.digest == digest } }

        mutating func remove(_ digest: CacheKey.Digest) {
            small.removeAll { $0.digest == digest }
            main.removeAll { $0.digest == digest }
        }

        mutating func read(_ digest: CacheKey.Digest) {
            for index in small.indices where small[index].digest == digest {
                small[index].reads = min(3, small[index].reads + 1)
            }
            for index in main.indices where main[index].digest == digest {
                main[index].reads = min(3, main[index].reads + 1)
            }
        }

        mutating func store(_ digest: CacheKey.Digest, _ value: Int, cost: Int) {
            var line = Line(digest: digest, value: value, cost: cost)
            if let old = self.line(digest) {
                line.reads = old.reads
                line.isMain = old.isMain
            } else if let index = smallGhosts.firstIndex(of: digest) {
                line.isMain = true
                adjust(age: smallGhosts.count - 1 - index, by: 1)
                smallGhosts[index] = nil
            } else if let index = mainGhosts.firstIndex(of: digest) {
                line.isMain = true
                adjust(age: mainGhosts.count - 1 - index, by: -1)
                mainGhosts[index] = nil
            }
            remove(digest)
            if line.isMain { main.append(line) } else { small.append(line) }
        }

        private mutating func adjust(age: Int, by sign: Double) {
            guard age < window else { return }
            share = min(0.9, max(0.01, share + sign * (2 / Double(lines.count + 1))))
        }

        mutating func evict() -> Int? {
            while !lines.isEmpty {
                if !small.isEmpty,
                    main.isEmpty || Double(small.reduce(0) { $0 + $1.cost }) >= Double(cost) * share
                {
                    while !small.isEmpty {
                        var line = small.removeFirst()
                        if line.reads == 0 {
                            smallGhosts = (smallGhosts + [line.digest]).suffix(max(8, Int(Double(lines.count) * 0.7)))
                            return line.value
                        }
                        line.reads = 0
                        line.isMain = true
                        main.append(line)
                    }
                } else {
                    var line = main.removeFirst()
                    if line.reads == 0 {
                        mainGhosts = (mainGhosts + [line.digest]).suffix(window)
                        return line.value
                    }
                    line.reads = min(line.reads, share > 0.28 ? 1 : 3) - 1
                    main.append(line)
                }
            }
            return nil
        }
    }

    @Test("If the small queue has grown, only one read saves an entry of the main queue")
    func recency() {
        var share = SmallQueueShare()
        #expect(share.effectiveReads == 3)
        for _ in 0..<20 { share.entryReturned(age: 0, wasMain: false, count: 99) }
        #expect(share.value > 0.4 && share.effectiveReads == 1)
        for _ in 0..<20 { share.entryReturned(age: 0, wasMain: true, count: 99) }
        #expect(share.effectiveReads == 3)
    }

    @Test("Random operations have the same results as with the lists", arguments: 0..<12)
    func model(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var table = AdaptiveFIFOTable<Int>()
        var model = Model()
        // Few keys return soon after their eviction, and many fill the queues.
        let keys = [20, 60, 300][seed % 3]
        for step in 0..<3_000 {
            let digest = key(Int.random(in: 0..<keys, using: &random)).digest
            let known = model.line(digest)
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<5:
                let standing = table.standing(of: digest)
                #expect(table.remove(digest)?.value == known?.value)
                table.insert(step, for: digest, info: CachedImageInfo(cost: step % 7), standing: standing)
                model.store(digest, step, cost: step % 7)
            case 5..<8:
                if case .value(let found) = table.find(digest, uptime: { 0 }) {
                    #expect(known?.value == found)
                } else {
                    #expect(known == nil)
                }
                model.read(digest)
            case 8 where seed % 2 == 0:
                #expect(table.remove(digest)?.value == known?.value)
                model.remove(digest)
            default:
                #expect(table.evict()?.value == model.evict())
            }
            #expect(table.order == model.lines.map(\.digest))
            #expect(table.cost == model.cost && table.share.value == model.share)
        }
    }

    @Test("A scan over ten times the cache evicts none of the images that are read repeatedly")
    func scan() throws {
        let cache = MemoryCache(costLimit: 1 << 30, countLimit: 100)
        // Each entry has an image of its own, because the cache returns evicted images that are still in use elsewhere.
        func load(_ number: Int) throws {
            if cache.image(for: key(number)) == nil { cache.store(try picture(), for: key(number)) }
        }
        for _ in 0..<3 { for number in 0..<80 { try load(number) } }
        for number in 1_000..<2_000 { try load(number) }
        let afterScan = cache.statistics
        #expect(afterScan.evictions >= 980)
        for number in 0..<80 { try load(number) }
        #expect(cache.statistics.hits - afterScan.hits == 80)
        // Most images of the scan were evicted.
        for number in 1_000..<1_900 { #expect(cache.image(for: key(number)) == nil) }
    }

    @Test("An image that returns after its eviction is retained longer than new images")
    func returning() throws {
        let cache = MemoryCache(costLimit: 1 << 30, countLimit: 20)
        for number in 0..<21 { cache.store(try picture(), for: key(number)) }
        #expect(cache.image(for: key(0)) == nil)
        cache.store(try picture(), for: key(0))
        for number in 100..<118 { cache.store(try picture(), for: key(number)) }
        #expect(cache.image(for: key(0)) != nil)
        #expect(cache.image(for: key(1)) == nil)
    }

    @Test("A queue of evicted digests discards the oldest ones and reports the age of the others")
    func ghosts() {
        var queue = GhostQueue()
        for number in 0..<100 { queue.add(key(number).digest, limit: 50) }
        #expect(queue.count == 50)
        #expect(queue.take(key(49).digest) == nil)
        #expect(queue.take(key(99).digest) == 0)
        #expect(queue.take(key(50).digest) == 49)
        #expect(queue.take(key(50).digest) == nil)
        queue.add(key(60).digest, limit: 50)
        #expect(queue.take(key(60).digest) == 0)
        queue.add(key(7).digest, limit: 1)
        #expect(queue.count == 1 && queue.take(key(7).digest) == 0)
    }

    @Test("The smallest limit of the process's control group and its ancestors applies")
    func memoryLimit() {
        let files = [
            "/sys/fs/cgroup/a/memory.max": "2000\n", "/sys/fs/cgroup/a/b/memory.max": "max\n",
            "/sys/fs/cgroup/memory/c/memory.limit_in_bytes": "900\n",
        ]
        #expect(SystemMemory.smallest(ram: 5_000, groups: "0::/a/b\n") { files[$0] } == 2_000)
        #expect(SystemMemory.smallest(ram: 1_000, groups: "0::/a/b\n") { files[$0] } == 1_000)
        #expect(SystemMemory.smallest(ram: 5_000, groups: "4:cpu,memory:/c\n3:cpu:/a\n") { files[$0] } == 900)
        #expect(SystemMemory.smallest(ram: 5_000, groups: "") { files[$0] } == 5_000)
        #expect(MemoryCache.defaultCostLimit > 0)
    }
}
