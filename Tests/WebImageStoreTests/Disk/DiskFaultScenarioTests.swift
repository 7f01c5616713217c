// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@testable import WebImageStore

@Suite("Disk cache: scenarios of other libraries", .timeLimit(.minutes(5)))
struct DiskFaultScenarioTests {
    private let directory = TestDirectory()

    @Test(
        "K-09: While the index is loaded or rebuilt, stored, read, and removed entries have the correct results",
        arguments: [false, true])
    func duringLoading(rebuilds: Bool) async throws {
        let cache = try directory.open()
        for number in 0..<400 { cache.store(entry(number, count: 200)) }
        await cache.close()
        if rebuilds {
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.path)
            where name.hasPrefix("index") {
                try FileManager.default.removeItem(atPath: "\(directory.path)/\(name)")
            }
        }
        let again = try directory.open()
        for number in 400..<500 { again.store(entry(number, count: 200)) }
        for number in 0..<50 { again.remove(key(number)) }
        func check() async {
            for number in 0..<520 {
                let found = await again.entry(for: key(number))?.data
                #expect(found == ((50..<500).contains(number) ? bytes(number, count: 200) : nil), "\(number)")
            }
        }
        await check()
        await again.flush()
        await check()
        #expect(await again.info().entryCount == 450)
        await again.close()
    }

    @Test("K-10: Listing, verifying, trimming, storing, and reading at the same time all return")
    func concurrentOperations() async throws {
        let cache = try directory.open()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for number in 0..<300 { cache.store(entry(number % 40, count: 500)) } }
            group.addTask {
                for number in 0..<300 {
                    let found = await cache.entry(for: key(number % 40))
                    #expect(found == nil || found?.data == bytes(number % 40, count: 500))
                }
            }
            group.addTask { for _ in 0..<20 { _ = await cache.entries() } }
            group.addTask { for _ in 0..<5 { _ = await cache.verify() } }
            group.addTask { for _ in 0..<10 { await cache.trim(toCount: 20) } }
            group.addTask { for _ in 0..<20 { await cache.flush() } }
        }
        #expect(await cache.verify().corruptCount == 0)
        await cache.close()
    }

    @Test("Y-02: After a long time of reading and writing, the log of the index has at most a few megabytes")
    func indexLog() async throws {
        let cache = try directory.open()
        let other = try directory.open()
        for round in 0..<60 {
            for number in 0..<100 { (round % 2 == 0 ? cache : other).store(entry(number, version: round, count: 60)) }
            for number in 0..<20 { _ = await (round % 2 == 0 ? other : cache).entry(for: key(number)) }
            await cache.flush()
            await other.flush()
        }
        let logs = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasSuffix("-wal") }
        for log in logs {
            let size = try FileManager.default.attributesOfItem(atPath: "\(directory.path)/\(log)")[.size] as? Int
            #expect((size ?? 0) <= 6 << 20)
        }
        await cache.close()
        await other.close()
    }

    @Test("S-15: An entry that is read often remains, also after a restart")
    func readsCount() async throws {
        let time = ManualClock()
        var configuration = directory.configuration()
        configuration.countLimit = 20
        configuration.clock = time.clock
        var cache = try DiskCache(configuration: configuration)
        cache.store(entry(0, stored: time.now))
        for number in 1..<60 {
            time.advance(60)
            cache.store(entry(number, stored: time.now))
            #expect(await cache.entry(for: key(0)) != nil, "\(number)")
            await cache.flush()
            if number == 30 {
                await cache.close()
                cache = try DiskCache(configuration: configuration)
            }
        }
        await cache.trim(toCount: 20)
        #expect(await cache.entry(for: key(0)) != nil)
        #expect(await cache.info().entryCount <= 20)
        await cache.close()
    }

    @Test(
        "K-11: Maximum ages of any length neither overflow nor keep expired entries",
        arguments: [
            (Duration.zero, false), (.seconds(-5), false), (.seconds(1_000 * 365 * 86_400.0), true),
            (.seconds(Int64.max), true), (.seconds(1e18), true),
        ])
    func maximumAges(age: Duration, isKept: Bool) async throws {
        let time = ManualClock()
        var configuration = directory.configuration()
        configuration.clock = time.clock
        configuration.maxAge = age
        let cache = try DiskCache(configuration: configuration)
        cache.store(entry(1, stored: time.now))
        await cache.flush()
        time.advance(1)
        #expect((await cache.entry(for: key(1)) != nil) == isKept)
        await cache.trim(maxAge: age)
        #expect(await cache.entries().count == (isKept ? 1 : 0))
        await cache.close()
    }

    @Test("C-04: Entries whose files were deleted by others leave the accounting when they're used")
    func deletedFiles() async throws {
        let cache = try directory.open()
        for number in 0..<10 { cache.store(entry(number)) }
        await cache.flush()
        let size = await cache.info().size
        for name in try FileManager.default.subpathsOfDirectory(atPath: "\(directory.path)/blobs") {
            let isDeleted = (0..<5).contains { name.hasSuffix(key($0).fileName) }
            if isDeleted { try FileManager.default.removeItem(atPath: "\(directory.path)/blobs/\(name)") }
        }
        #expect(await cache.entry(for: key(0)) == nil)
        cache.store(entry(1, version: 2))
        cache.remove(key(2))
        await cache.flush()
        _ = await cache.verify()
        await cache.flush()
        #expect(await cache.info().entryCount == 6)
        #expect(await cache.info().size == size * 6 / 10)
        #expect(await cache.entry(for: key(1))?.data == bytes(1, version: 2))
        for number in 5..<10 { #expect(await cache.entry(for: key(number)) != nil) }
        await cache.close()
    }
}

@Suite("Memory cache: scenarios of other libraries")
struct MemoryFaultScenarioTests {
    private func image(_ side: Int = 8) throws -> DecodedImage {
        DecodedImage(pixels: try PixelCanvas(size: PixelSize(width: side, height: side)).finish(isOpaque: false))
    }

    @Test("Y-01: Removing a key removes exactly its entry and its share of the cost")
    func removeOne() throws {
        let cache = MemoryCache(costLimit: 1 << 20, countLimit: 10)
        let images = try (0..<10).map { try image(8 + $0) }
        for (number, image) in images.enumerated() { cache.store(image, for: key(number)) }
        let before = cache.statistics
        cache.remove(key(7))
        #expect(cache.statistics.count == 9 && cache.statistics.cost == before.cost - images[7].cost)
        for number in 0..<10 { #expect((cache.image(for: key(number)) != nil) == (number != 7)) }
    }

    @Test("G-05: The recorded cost is the sum of the retained images and never exceeds the limit", arguments: 0..<8)
    func cost(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var configuration = MemoryCache.Configuration()
        configuration.costLimit = 40 * 8 * 32
        configuration.entryCostLimit = 20 * 8 * 32
        let cache = MemoryCache(configuration: configuration)
        var inUse: [DecodedImage] = []
        for _ in 0..<4_000 {
            let number = Int.random(in: 0..<60, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5: cache.store(try image(Int.random(in: 1...16, using: &random)), for: key(number))
            case 5..<8: if let found = cache.image(for: key(number)), number < 10 { inUse.append(found) }
            case 8: cache.remove(key(number))
            default: inUse.removeAll { _ in Bool.random(using: &random) }
            }
            #expect(cache.statistics.cost <= configuration.costLimit)
        }
        // A lookup counts an image in use again, so compare with the statistics after the lookups.
        let found = (0..<60).compactMap { cache.image(for: key($0)) }
        inUse = []
        cache.trim(toCost: configuration.costLimit)
        #expect(cache.statistics.count <= found.count)
        for number in 0..<60 { cache.remove(key(number)) }
        #expect(cache.statistics.cost == 0 && cache.statistics.count == 0)
    }
}
