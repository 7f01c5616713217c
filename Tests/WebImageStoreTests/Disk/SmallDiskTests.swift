// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageTestSupport

@testable import WebImageStore

@Suite(
    "Disk cache on a small disk", .enabled(if: SmallDisk.isPermitted, "mounting a tmpfs requires root privileges"))
struct SmallDiskTests {
    private func open(_ disk: SmallDisk, _ time: ManualClock) throws -> DiskCache {
        var configuration = DiskCache.Configuration(
            path: disk.path + "/cache", sizeLimit: 64 << 20, minimumFreeFraction: 0)
        configuration.clock = time.clock
        return try DiskCache(configuration: configuration)
    }

    @Test("A full disk drops entries that don't fit, serves the others, and accepts entries when space is free")
    func full() async throws {
        let disk = try #require(SmallDisk(bytes: 2 << 20))
        let time = ManualClock()
        let cache = try open(disk, time)
        for number in 0..<100 { cache.store(entry(number, count: 50_000, stored: time.now)) }
        await cache.flush()
        #expect(await cache.info().counters.dropped > 0)
        var served = 0
        for number in 0..<100 {
            guard let found = await cache.entry(for: key(number)) else { continue }
            #expect(found.data == bytes(number, count: 50_000))
            served += 1
        }
        #expect(served < 50)
        // Only the cache itself frees space.
        await cache.trim(maxAge: .seconds(1_000_000))
        // The first attempt after a pause may find that the disk is still full.
        var tries = 0
        while await cache.entry(for: key(200)) == nil, tries < 4 {
            tries += 1
            time.advance(1_000)
            cache.store(entry(200, count: 50_000, stored: time.now))
            await cache.flush()
            await cache.trim(maxAge: .seconds(1_000_000))
        }
        #expect(await cache.entry(for: key(200))?.data == bytes(200, count: 50_000))
        #expect(await cache.entries().count == (try entryFiles(in: disk.path + "/cache").count))
        #expect(await cache.verify().corruptCount == 0)
        await cache.close()
    }

    @Test("A disk that becomes read-only still serves entries, and stores entries again when it's writable")
    func readOnly() async throws {
        let disk = try #require(SmallDisk(bytes: 4 << 20))
        let time = ManualClock()
        let first = try open(disk, time)
        for number in 0..<5 { first.store(entry(number, stored: time.now)) }
        await first.close()
        try #require(disk.setReadOnly(true))
        let cache = try open(disk, time)
        for number in 0..<5 { #expect(await cache.entry(for: key(number))?.data == bytes(number)) }
        cache.store(entry(9, stored: time.now))
        await cache.flush()
        #expect(await cache.entry(for: key(9)) == nil)
        #expect(await cache.entry(for: key(1)) != nil)
        try #require(disk.setReadOnly(false))
        time.advance(2_000)
        cache.store(entry(10, stored: time.now))
        await cache.flush()
        #expect(await cache.entry(for: key(10))?.data == bytes(10))
        await cache.close()
    }
}
