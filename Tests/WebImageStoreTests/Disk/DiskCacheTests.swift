// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageTestSupport

@testable import WebImageStore

@Suite("Disk cache")
struct DiskCacheTests {
    let directory = TestDirectory(onDisk: true)

    @Test("An entry is returned unchanged before and after it is written and after reopening")
    func roundTrip() async throws {
        var wanted = entry(1)
        wanted.userData = Data("mine".utf8)
        let cache = try directory.open()
        cache.store(wanted)
        #expect(await cache.entry(for: wanted.key) == wanted)
        await cache.flush()
        #expect(await cache.entry(for: wanted.key) == wanted)
        await cache.close()
        #expect(await cache.entry(for: wanted.key) == nil)

        let again = try directory.open()
        #expect(await again.entry(for: wanted.key) == wanted)
        #expect(await again.info().entryCount == 1)
        await again.close()
    }

    @Test("When the index is loaded, the cache can rule out an absent key")
    func knownMiss() async throws {
        var configuration = directory.configuration(sizeLimit: 64 << 20)
        configuration.refreshInterval = .infinity
        let cache = try DiskCache(configuration: configuration)
        cache.store(entry(1))
        await cache.flush()
        #expect(cache.mayContain(key(1)))
        #expect(!cache.mayContain(key(2)))
        #expect(await cache.entry(for: key(2)) == nil)
        await cache.close()
    }

    @Test("A removed entry disappears immediately and doesn't return after reopening")
    func removal() async throws {
        let cache = try directory.open()
        cache.store(entry(1))
        cache.store(entry(2))
        await cache.flush()
        cache.remove(key(1))
        #expect(await cache.entry(for: key(1)) == nil)
        await cache.close()
        let again = try directory.open()
        #expect(await again.entry(for: key(1)) == nil)
        #expect(await again.entry(for: key(2)) != nil)
        await again.close()
    }

    @Test("Removing everything keeps only the entries that are stored afterward")
    func removeAll() async throws {
        let cache = try directory.open()
        for number in 0..<50 { cache.store(entry(number)) }
        await cache.flush()
        await cache.removeAll()
        #expect(await cache.entry(for: key(3)) == nil)
        cache.store(entry(3, version: 1))
        await cache.flush()
        #expect(await cache.entry(for: key(3))?.data == bytes(3, version: 1))
        #expect(await cache.info().entryCount == 1)
        await cache.close()
        let again = try directory.open()
        #expect(await again.entries().map(\.key) == [key(3)])
        await again.close()
    }

    @Test("A new response head is visible immediately, even while it's being written", arguments: [false, true])
    func headWhileWriting(isRemote: Bool) async throws {
        var configuration = directory.configuration()
        configuration.fileSystem = FaultyFileSystem(isRemote: isRemote)
        let cache = try DiskCache(configuration: configuration)
        cache.store(entry(1))
        for number in 0..<200 {
            let newer = head(etag: "\"\(number)\"")
            cache.updateHead(newer, for: key(1))
            async let flushed: Void = cache.flush()
            #expect(await cache.entry(for: key(1))?.head == newer)
            await flushed
        }
        await cache.close()
    }

    @Test("The response head of a 304 response is visible immediately, after a flush, and after reopening")
    func headUpdate() async throws {
        let cache = try directory.open()
        cache.store(entry(1))
        await cache.flush()
        let newer = head(etag: "\"new\"")
        cache.updateHead(newer, for: key(1))
        #expect(await cache.entry(for: key(1))?.head == newer)
        await cache.flush()
        #expect(await cache.entry(for: key(1))?.head == newer)
        await cache.close()
        let again = try directory.open()
        #expect(await again.entry(for: key(1))?.head == newer)
        await again.flush()
        #expect(await again.entry(for: key(1))?.head == newer)
        again.store(entry(1, version: 2))
        await again.flush()
        #expect(await again.entry(for: key(1)) != nil)
        #expect(await again.entry(for: key(1))?.head?.head.headers["ETag"] == "\"1-2\"")
        await again.close()
    }

    @Test("The size limit is enforced, and the least recently used entries are evicted first")
    func sizeLimit() async throws {
        var configuration = directory.configuration(sizeLimit: 400_000)
        let time = ManualClock()
        configuration.clock = time.clock
        let cache = try DiskCache(configuration: configuration)
        for number in 0..<60 {
            time.advance(1)
            cache.store(entry(number, count: 8_000, stored: time.now))
            if number >= 10 {
                _ = await cache.entry(for: key(5))
                await cache.flush()
            }
        }
        await cache.flush()
        await cache.trim(toSize: 400_000)
        let info = await cache.info()
        #expect(info.size <= 400_000)
        #expect(info.counters.evicted > 0)
        #expect(await cache.entry(for: key(59)) != nil)
        #expect(await cache.entry(for: key(5)) != nil)
        #expect(await cache.entry(for: key(0)) == nil)
        await cache.close()
    }

    @Test("Trimming to a number of entries keeps the most recently used ones", arguments: [-1, 0, 1, 7, 40])
    func trimCount(_ count: Int) async throws {
        var configuration = directory.configuration(sizeLimit: 1 << 30)
        let time = ManualClock()
        configuration.clock = time.clock
        let cache = try DiskCache(configuration: configuration)
        for number in 0..<12 {
            time.advance(1)
            cache.store(entry(number, count: 100, stored: time.now))
        }
        await cache.flush()
        await cache.trim(toCount: count)
        let expected = min(12, max(0, count))
        #expect(await cache.info().entryCount == expected)
        for number in 0..<12 {
            let isKept = await cache.entry(for: key(number)) != nil
            #expect(isKept == (number >= 12 - expected), "entry \(number)")
        }
        await cache.close()
    }
}
