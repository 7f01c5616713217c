// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageCore

@testable import WebImageStore

@Suite("Expiration on disk", .timeLimit(.minutes(2)))
struct ExpirationTests {
    private let directory = TestDirectory()
    private let time = ManualClock()

    private func configuration(
        maxAge: Double = 1_000, expiration: CacheExpiration = .sinceStored
    ) -> DiskCache.Configuration {
        var configuration = directory.configuration()
        configuration.clock = time.clock
        configuration.maxAge = .seconds(maxAge)
        configuration.expiration = expiration
        return configuration
    }

    /// Returns an entry that is stored at the current time of the clock.
    private func item(_ number: Int, timeToLive: Duration? = nil) -> CacheEntry {
        var item = CacheEntry(key: key(number), data: bytes(number), storedAt: time.now)
        item.timeToLive = timeToLive
        return item
    }

    /// Deletes the expired entries as the periodic check does, and returns the number of remaining entries.
    private func remaining(_ cache: DiskCache, maxAge: Double = 1_000) async -> Int {
        await cache.perform { .trim(EvictionTarget(bytes: .max, maxAge: maxAge, includesExpired: true), nil, $0) }
        return await cache.info().entryCount
    }

    @Test("The time to live of an entry is stored with it, next to its tags and its custom value")
    func roundTrip() async throws {
        for (timeToLive, expected) in [(Duration.seconds(90), Duration.seconds(90)), (.seconds(-5), .zero)] {
            for (tags, userData) in [(Set<String>(), Data?.none), (["a", "b"], Data("mine".utf8))] {
                var wanted = item(1, timeToLive: timeToLive)
                wanted.tags = tags
                wanted.userData = userData
                let read = try CacheEntry(serialized: wanted.serialized())
                wanted.timeToLive = expected
                #expect(read == wanted)
            }
        }
    }

    @Test("A file with a truncated or invalid time to live isn't an entry")
    func invalid() throws {
        var wanted = item(1)
        wanted.userData = Data([1, 2, 3, 4])
        for userData in [Data([1, 2, 3, 4]), Data(repeating: 0xFF, count: 8)] {
            wanted.userData = userData
            var bytes = try #require(EntryFile.bytes(of: wanted))
            bytes[12] = 16
            #expect(failure(of: bytes) == .section("time to live"))
        }
    }

    /// Decodes the bytes of a file without checking the checksum and returns the error.
    private func failure(of bytes: [UInt8]) -> EntryFileError? {
        guard let file = FileBytes(count: bytes.count) else { return nil }
        file.mutableBytes.copyBytes(from: bytes)
        do throws(EntryFileError) {
            _ = try EntryFile.decode(file, key: nil, verify: false)
            return nil
        } catch {
            return error
        }
    }

    @Test("An entry expires after its own time to live, even if the index is lost", arguments: [false, true])
    func timeToLive(losesIndex: Bool) async throws {
        let cache = try DiskCache(configuration: configuration())
        cache.store(item(1, timeToLive: .seconds(100)))
        cache.store(item(2))
        await cache.flush()
        await cache.close()
        if losesIndex { try FileManager.default.removeItem(atPath: directory.path + "/index.sqlite") }
        let again = try DiskCache(configuration: configuration())
        await again.settle()
        time.advance(100)
        #expect(await again.entry(for: key(1)) != nil)
        time.advance(1)
        #expect(await again.entry(for: key(1)) == nil)
        #expect(await again.entry(for: key(2)) != nil)
        await again.close()
    }

    @Test("The periodic check deletes entries after the shorter one of both times")
    func periodic() async throws {
        let cache = try DiskCache(configuration: configuration())
        cache.store(item(1, timeToLive: .seconds(100)))
        cache.store(item(2, timeToLive: .seconds(5_000)))
        cache.store(item(3))
        await cache.flush()
        #expect(await remaining(cache) == 3)
        time.advance(101)
        #expect(await remaining(cache) == 2)
        #expect(await cache.entry(for: key(1)) == nil)
        time.advance(900)
        #expect(await cache.entry(for: key(2)) == nil)
        #expect(await remaining(cache) == 0)
        await cache.close()
    }

    @Test("A changed custom value doesn't restart the age")
    func changedUserData() async throws {
        let cache = try DiskCache(configuration: configuration(maxAge: 100))
        cache.store(item(1))
        await cache.flush()
        time.advance(60)
        try cache.setUserData(Data("mine".utf8), for: key(1))
        await cache.flush()
        #expect(await cache.entry(for: key(1))?.userData == Data("mine".utf8))
        time.advance(50)
        #expect(await cache.entry(for: key(1)) == nil)
        await cache.close()
    }

    @Test("A revalidation restarts the time to live")
    func revalidation() async throws {
        let cache = try DiskCache(configuration: configuration())
        var stored = item(1, timeToLive: .seconds(100))
        stored.head = head(etag: "\"1\"", time: time.now)
        cache.store(stored)
        await cache.flush()
        time.advance(90)
        cache.updateHead(head(etag: "\"1\"", time: time.now), for: key(1))
        await cache.flush()
        time.advance(90)
        #expect(await remaining(cache) == 1)
        #expect(await cache.entry(for: key(1)) != nil)
        time.advance(11)
        #expect(await cache.entry(for: key(1)) == nil)
        await cache.close()
    }

    @Test("If uses count, each read restarts the age, also after a restart and for a time to live")
    func sinceLastUse() async throws {
        let configuration = configuration(maxAge: 100, expiration: .sinceLastUse)
        let cache = try DiskCache(configuration: configuration)
        cache.store(item(1))
        cache.store(item(2, timeToLive: .seconds(60)))
        cache.store(item(3))
        await cache.flush()
        for _ in 0..<3 {
            time.advance(50)
            for number in 1...2 { #expect(await cache.entry(for: key(number)) != nil) }
        }
        #expect(await remaining(cache, maxAge: 100) == 2)
        #expect(await cache.entry(for: key(3)) == nil)
        await cache.flush()
        await cache.close()
        let again = try DiskCache(configuration: configuration)
        await again.settle()
        time.advance(61)
        #expect(await again.entry(for: key(2)) == nil)
        time.advance(38)
        #expect(await again.entry(for: key(1)) != nil)
        time.advance(101)
        #expect(await again.entry(for: key(1)) == nil)
        await again.close()
    }

    @Test("If only stores count, reads don't extend the age")
    func sinceStored() async throws {
        let cache = try DiskCache(configuration: configuration(maxAge: 100))
        cache.store(item(1))
        await cache.flush()
        time.advance(90)
        #expect(await cache.entry(for: key(1)) != nil)
        time.advance(20)
        #expect(await cache.entry(for: key(1)) == nil)
        await cache.close()
    }

    @Test("An eviction measures ages when it reads the index, so entries of a corrected clock remain")
    func correctedClock() throws {
        let index = try CacheIndex(writing: ":memory:")
        let now = 1_800_000_000.0
        let row = IndexRow(
            name: key(1).fileName, digest: key(1).storedDigest, key: key(1).canonical, size: 4_096, payload: 4_096,
            stored: now, renewed: now, accessed: now, lifetime: 500)
        try index.transaction { () throws(IndexError) in try index.insert(row) }
        // The clock was wrong by years when the eviction was requested, and right when it began.
        let goal = EvictionTarget(bytes: .max, maxAge: 1_000, includesExpired: true)
        var early = EvictionQueue()
        #expect(try early.next(goal, index, .sinceStored, now: now, limit: 10).isEmpty)
        var late = EvictionQueue()
        #expect(try late.next(goal, index, .sinceStored, now: now + 501, limit: 10).count == 1)
        var unlimited = EvictionQueue()
        let old = EvictionTarget(bytes: .max, maxAge: 1_000)
        #expect(try unlimited.next(old, index, .sinceStored, now: now + 501, limit: 10).isEmpty)
        #expect(old.combined(EvictionTarget(bytes: 5, maxAge: 500)) == EvictionTarget(bytes: 5, maxAge: 500))
    }
}
