// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageStore

/// Behaviors of the caches that the names of SDWebImage and YYCache in the articles stand for.
@Suite("Migration names: caches", .timeLimit(.minutes(5)))
struct CacheNameTests {
    private func key(_ number: Int) -> CacheKey { CacheKey(["name", "\(number)"]) }

    /// Returns a cache with entries of 100, 200, and so on up to `count` times 100 bytes, stored at intervals of one
    /// minute.
    private func filled(
        _ count: Int, in folder: TemporaryDirectory, _ time: TestTime = TestTime(),
        expiration: CacheExpiration = .sinceStored
    ) async throws -> DiskCache {
        var configuration = DiskCache.Configuration(path: folder.file("cache"))
        configuration.expiration = expiration
        configuration.clock = TimeSource(now: { time.now }, uptime: TimeSource.system.uptime)
        let cache = try DiskCache(configuration: configuration)
        for number in 1...count {
            cache.store(CacheEntry(key: key(number), head: nil, data: Data(count: number * 100), storedAt: time.now))
            time.pass(60)
        }
        await cache.flush()
        return cache
    }

    @Test("Caches in different directories are independent, and each keeps its entries after a restart")
    func namespaces() async throws {
        let folder = try TemporaryDirectory()
        func open(_ name: String) throws -> DiskCache {
            try DiskCache(
                configuration: DiskCache.Configuration(directory: URL(filePath: folder.file(name))))
        }
        let (first, second) = (try open("first"), try open("second"))
        await ImageCache(memory: nil, disk: first).store(CacheEntry(key: key(1), data: Data("one".utf8)))
        await first.flush()
        #expect(await second.entry(for: key(1)) == nil)
        await first.close()
        let again = try open("first")
        #expect(await again.entry(for: key(1))?.data == Data("one".utf8))
        await again.close()
        await second.close()
    }

    @Test("A closed cache keeps its entries if its directory is moved")
    func movedDirectory() async throws {
        let folder = try TemporaryDirectory()
        let cache = try DiskCache(configuration: DiskCache.Configuration(path: folder.file("old")))
        for number in 1...3 { cache.store(CacheEntry(key: key(number), data: Data(count: number * 100))) }
        await cache.flush()
        await cache.close()
        try FileManager.default.moveItem(atPath: folder.file("old"), toPath: folder.file("new"))
        let moved = try DiskCache(configuration: DiskCache.Configuration(path: folder.file("new")))
        for number in 1...3 { #expect(await moved.entry(for: key(number))?.data == Data(count: number * 100)) }
        #expect(folder.files == ["new"])
        await moved.close()
    }

    @Test("An image in memory serves a request only under the key for images, which differs from that of the data")
    func memoryKey() async throws {
        let table = try Migration()
        let manager = table.manager
        let image = DecodedImage(pixels: try TestImages.pixels(1))
        let (first, second) = (try table.request(1), try table.request(2))
        try await manager.store(image, for: first, in: .memory)
        #expect(manager.cachedImage(for: first)?.pixels === image.pixels)
        manager.memoryCache.store(image, for: manager.cacheKey(for: second))
        #expect(manager.cachedImage(for: second) == nil)
        let key = manager.cacheKeys(for: second).image
        manager.memoryCache.store(image, for: key)
        #expect(try await manager.image(for: second).pixels === image.pixels)
        #expect(table.requestCount == 0)
        manager.memoryCache.remove(key)
        #expect(manager.cachedImage(for: second) == nil)
    }

    @Test("A blocking lookup on disk returns no image that is only in memory")
    func diskOnly() async throws {
        let table = try Migration()
        let manager = table.manager
        let request = try table.request()
        let image = DecodedImage(pixels: try TestImages.pixels(1))
        try await manager.store(image, for: request, in: .memory)
        #expect(manager.loadCachedImageSynchronously(for: request)?.pixels === image.pixels)
        #expect(manager.loadCachedImageSynchronously(for: request, from: .disk) == nil)
        try await manager.store(TestImages.png(1), for: request, in: .disk)
        await manager.cache.flush()
        #expect(manager.loadCachedImageSynchronously(for: request, from: .disk)?.size.width == 64)
        #expect(table.requestCount == 0)
    }

    @Test("The information about a disk cache contains its directory, its number of entries, and their size")
    func diskInfo() async throws {
        let folder = try TemporaryDirectory()
        let cache = try await filled(3, in: folder)
        let info = await cache.info()
        #expect(info.directory.path == folder.file("cache"))
        #expect(info.entryCount == 3)
        #expect(info.size >= 600)
        await cache.removeAll()
        #expect(await cache.info().entryCount == 0)
        await cache.close()
    }

    @Test("Trimming by age deletes only the entries that are too old")
    func trimAge() async throws {
        let folder = try TemporaryDirectory()
        let cache = try await filled(4, in: folder)
        await cache.trim(maxAge: .seconds(150))
        #expect(await cache.entry(for: key(1)) == nil)
        #expect(await cache.entry(for: key(2)) == nil)
        #expect(await cache.entry(for: key(3)) != nil)
        #expect(await cache.info().entryCount == 2)
        await cache.close()
    }

    @Test("If uses count, trimming by age keeps the entries that were used")
    func trimUnused() async throws {
        let folder = try TemporaryDirectory()
        let time = TestTime()
        let cache = try await filled(3, in: folder, time, expiration: .sinceLastUse)
        #expect(await cache.entry(for: key(1)) != nil)
        await cache.flush()
        time.pass(60)
        await cache.trim(maxAge: .seconds(90))
        #expect(await cache.entry(for: key(1)) != nil)
        #expect(await cache.entry(for: key(2)) == nil)
        #expect(await cache.entry(for: key(3)) == nil)
        await cache.close()
    }

    @Test("Entries above a size can be removed")
    func removeLarge() async throws {
        let folder = try TemporaryDirectory()
        let cache = try await filled(4, in: folder)
        #expect(await cache.remove(where: { $0.dataSize > 200 }).entryCount == 2)
        #expect(await cache.entry(for: key(2)) != nil)
        #expect(await cache.entry(for: key(3)) == nil)
        await cache.close()
    }

    @Test("Entries that haven't been used since a date can be removed")
    func removeOld() async throws {
        let folder = try TemporaryDirectory()
        let time = TestTime()
        let cache = try await filled(3, in: folder, time)
        let limit = time.now
        time.pass(60)
        #expect(await cache.entry(for: key(1)) != nil)
        await cache.flush()
        #expect(await cache.remove(where: { $0.lastAccessedAt < limit }).entryCount == 2)
        #expect(await cache.entry(for: key(1)) != nil)
        await cache.close()
    }

    @Test("A listed entry has the dates of its storage and of its last use")
    func entryDates() async throws {
        let folder = try TemporaryDirectory()
        let time = TestTime()
        let start = time.now
        let cache = try await filled(1, in: folder, time)
        time.pass(600)
        _ = await cache.entry(for: key(1))
        await cache.flush()
        let entry = try #require(await cache.entries().first)
        #expect(abs(entry.storedAt.timeIntervalSince(start)) < 1)
        #expect(abs(entry.lastAccessedAt.timeIntervalSince(time.now)) < 1)
        await cache.close()
    }

    @Test("Memory and disk are emptied separately")
    func clear() async throws {
        let table = try Migration()
        let manager = table.manager
        let request = try table.request()
        await manager.load(request).waitUntilStored()
        manager.memoryCache.removeAll()
        #expect(manager.memoryCache.statistics.count == 0)
        #expect(await manager.cachedTiers(for: request).contains(.disk))
        _ = try await manager.image(for: request)
        await manager.cache.removeAll(from: .disk)
        #expect(await manager.cachedTiers(for: request) == .memory)
        await manager.cache.removeAll(from: .memory)
        #expect(await manager.cachedTiers(for: request).isEmpty)
    }

    @Test("A memory cache without space stores nothing, and images still load from disk")
    func memoryOff() async throws {
        let table = try Migration { $0.memoryCache.countLimit = 0 }
        let request = try table.request()
        await table.manager.load(request).waitUntilStored()
        #expect(table.manager.memoryCache.statistics.count == 0)
        await table.manager.letsGo(of: request)
        await untilTrue { table.manager.cachedImage(for: request) == nil }
        let response = try await table.manager.response(for: request)
        #expect(response.source == .diskCache && table.requestCount == 1)
    }

    @Test("Trimming to a number of images keeps the images that were read", arguments: [-1, 0, 2, 9])
    func trimMemoryCount(_ count: Int) throws {
        let cache = MemoryCache()
        for number in 1...5 { cache.store(DecodedImage(pixels: try TestImages.pixels(number)), for: key(number)) }
        _ = cache.image(for: key(1))
        cache.trim(toCount: count)
        #expect(cache.statistics.count == min(5, max(0, count)))
        if count >= 1 { #expect(cache.image(for: key(1)) != nil) }
    }

    @Test("Trimming to a cost evicts images until they fit")
    func trimMemoryCost() throws {
        let cache = MemoryCache()
        let cost = DecodedImage(pixels: try TestImages.pixels(1)).cost
        for number in 1...5 { cache.store(DecodedImage(pixels: try TestImages.pixels(number)), for: key(number)) }
        cache.trim(toCost: 2 * cost + 1)
        #expect(cache.statistics.count == 2 && cache.statistics.cost == 2 * cost)
    }

    @Test("A program reports memory pressure to empty the memory cache when it becomes inactive")
    func background() async throws {
        let table = try Migration()
        _ = try await table.manager.image(for: table.request())
        #expect(table.manager.memoryCache.statistics.count == 1)
        table.manager.configuration.memoryPressureMonitor.report(.critical)
        #expect(table.manager.memoryCache.statistics.count == 0)
    }

    @Test("Removing all negative cache entries contacts the server again")
    func removeFailures() async throws {
        let table = try Migration()
        let url = try Migration.url(1)
        table.loader.respond(to: url, with: StubLoader.Response(error: BinderImages.notFound))
        for _ in 0..<2 { await #expect(throws: ImageError.self) { try await table.manager.image(for: url) } }
        #expect(table.requestCount == 1)
        table.manager.removeRememberedFailures()
        try table.serve()
        #expect(try await table.manager.image(for: url).size.width == 64)
        #expect(table.requestCount == 2)
    }

    @Test("Removing the negative cache entries of a request affects no other image and keeps cached images")
    func removeFailure() async throws {
        let table = try Migration()
        let (first, second) = (try Migration.url(1), try Migration.url(2))
        for url in [first, second] {
            table.loader.respond(to: url, with: StubLoader.Response(error: BinderImages.notFound))
            await #expect(throws: ImageError.self) { try await table.manager.image(for: url) }
        }
        #expect(table.requestCount == 2)
        table.manager.removeRememberedFailures(for: ImageRequest(url: first, size: .fit(width: 8)))
        try table.serve()
        #expect(try await table.manager.image(for: first).size.width == 64)
        #expect(table.requestCount == 3)
        await #expect(throws: ImageError.self) { try await table.manager.image(for: second) }
        #expect(table.requestCount == 3)
        table.manager.removeRememberedFailures(for: ImageRequest(url: first))
        #expect(table.manager.cachedImage(for: ImageRequest(url: first)) != nil)
    }
}
