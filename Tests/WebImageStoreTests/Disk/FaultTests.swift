// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageConcurrency
import WebImageHTTP
import WebImageTestSupport

@testable import WebImageStore

@Suite("Disk cache on a failing file system", .timeLimit(.minutes(5)))
struct FaultTests {
    /// Runs a short sequence of cache operations. Each returned entry must be one of the stored entries.
    private func run(_ folder: TestDirectory, _ files: FaultyFileSystem) async {
        var configuration = folder.configuration()
        configuration.fileSystem = files
        guard let cache = try? DiskCache(configuration: configuration) else { return }
        for number in 0..<3 { cache.store(entry(number)) }
        await cache.flush()
        for number in 0..<4 { await check(cache, number, versions: 0...0) }
        cache.updateHead(head(etag: "\"new\""), for: key(1))
        cache.store(entry(2, version: 1))
        cache.remove(key(0))
        await cache.flush()
        #expect(await cache.entry(for: key(0)) == nil)
        await check(cache, 2, versions: 1...1)
        await cache.trim(toSize: 8_192)
        for number in 0..<3 { await check(cache, number, versions: 0...1) }
        await cache.removeAll()
        #expect(await cache.entry(for: key(1)) == nil)
        cache.store(entry(5))
        await cache.flush()
        await check(cache, 5, versions: 0...0)
        await cache.close()
    }

    private func check(_ cache: DiskCache, _ number: Int, versions: ClosedRange<Int>) async {
        guard let found = await cache.entry(for: key(number)) else { return }
        #expect(found.key == key(number))
        #expect(versions.contains { found.data == bytes(number, version: $0) })
    }

    private func callCount() async -> Int {
        let files = FaultyFileSystem()
        await run(TestDirectory(), files)
        return files.calls
    }

    /// Each call fails twice: because the disk is full, which the cache treats specially, and by one of the other faults
    /// in turn.
    @Test(
        "If any system call fails, no wrong data is returned and the cache recovers",
        arguments: [
            [FaultyFileSystem.Fault.code(ENOSPC)],
            [.code(EIO), .code(EINTR), .code(EACCES), .code(EDQUOT), .code(EROFS), .short],
        ])
    func everyCall(_ faults: [FaultyFileSystem.Fault]) async throws {
        let count = await callCount()
        #expect(count > 50)
        for number in 1...(count + 5) {
            let folder = TestDirectory()
            let files = FaultyFileSystem()
            let fault = faults[number % faults.count]
            files.fail(number..<(number + 1), with: fault)
            await run(folder, files)
            #expect(files.strayUses.isEmpty, "after call \(number) failed: \(fault)")
            let again = try folder.open()
            for number in [0, 1, 2] { await check(again, number, versions: 0...1) }
            again.store(entry(9))
            await again.flush()
            #expect(await again.entry(for: key(9))?.data == bytes(9), "after call \(number) failed: \(fault)")
            #expect(await again.verify().corruptCount == 0)
            await again.close()
        }
    }

    @Test("If a call fails while a deleted directory is created again, no closed descriptor is used or closed again")
    func recreation() async throws {
        for number in 1...60 {
            let folder = TestDirectory()
            let files = FaultyFileSystem()
            var configuration = folder.configuration()
            configuration.fileSystem = files
            let cache = try DiskCache(configuration: configuration)
            cache.store(entry(1))
            await cache.flush()
            try FileManager.default.removeItem(atPath: folder.path)
            files.fail(number..<(number + 1), with: .code(EIO))
            cache.store(entry(2))
            await cache.flush()
            await cache.trim(toCount: 1)
            await cache.close()
            #expect(files.strayUses.isEmpty, "after call \(number)")
            if files.calls < number { return }
        }
    }

    @Test(
        "A cache on a file system without locks stores, returns, and evicts entries", arguments: [ENOLCK, EOPNOTSUPP])
    func noLocks(_ code: Int32) async throws {
        let folder = TestDirectory()
        let files = FaultyFileSystem()
        files.failLocks(.max, with: code)
        var configuration = folder.configuration()
        configuration.fileSystem = files
        let cache = try DiskCache(configuration: configuration)
        for number in 0..<3 { cache.store(entry(number)) }
        await cache.flush()
        #expect(files.remainingLockFaults < .max)
        #expect(await cache.info().entryCount == 3)
        #expect(await cache.entry(for: key(1))?.data == bytes(1))
        await cache.trim(toSize: 0)
        #expect(await cache.info().entryCount == 0)
        await cache.close()
    }

    @Test(
        "An eviction continues after another process ended its eviction, even if the uptime remains the same",
        arguments: [EWOULDBLOCK, EINTR])
    func evictorLock(_ code: Int32) async throws {
        let folder = TestDirectory()
        let files = FaultyFileSystem()
        var configuration = folder.configuration()
        configuration.fileSystem = files
        configuration.clock = ManualClock().clock
        let cache = try DiskCache(configuration: configuration)
        cache.store(entry(1))
        await cache.flush()
        files.failLocks(2, with: code)
        await cache.trim(toSize: 0)
        #expect(files.remainingLockFaults == 0)
        #expect(await cache.info().entryCount == 0)
        await cache.close()
    }

    @Test("A full disk pauses writing for one minute, then for two, while reads continue")
    func pauses() async throws {
        let folder = TestDirectory()
        let files = FaultyFileSystem()
        let time = ManualClock()
        var configuration = folder.configuration()
        configuration.fileSystem = files
        configuration.clock = time.clock
        let cache = try DiskCache(configuration: configuration)
        cache.store(entry(1, stored: time.now))
        await cache.flush()
        files.fail(0..<10_000, with: .code(ENOSPC))
        cache.store(entry(2, stored: time.now))
        await cache.flush()
        files.fail(0..<0, with: .short)
        #expect(await cache.entry(for: key(2)) == nil)
        #expect(await cache.entry(for: key(1)) != nil)
        #expect(await cache.info().suspensionReason != nil)
        time.advance(59)
        cache.store(entry(3, stored: time.now))
        #expect(await cache.entry(for: key(3)) == nil)
        time.advance(2)
        cache.store(entry(4, stored: time.now))
        await cache.flush()
        #expect(await cache.entry(for: key(4)) != nil)
        #expect(await cache.info().suspensionReason == nil)
        #expect(await cache.info().counters.dropped == 2)
        #expect(cache.droppedWrites == DiskCache.DroppedWrites(count: 2, errorNumber: ENOSPC))
        await cache.close()
    }

    @Test("Below the minimum free space, nothing is stored and entries are evicted")
    func freeSpace() async throws {
        let folder = TestDirectory()
        let files = FaultyFileSystem()
        var configuration = folder.configuration()
        configuration.fileSystem = files
        configuration.minimumFreeFraction = 0.05
        let time = ManualClock()
        configuration.clock = time.clock
        files.set(space: FreeSpace(free: 500_000, total: 1_000_000))
        let cache = try DiskCache(configuration: configuration)
        for number in 0..<10 { cache.store(entry(number, stored: time.now)) }
        await cache.flush()
        #expect(await cache.info().entryCount == 10)
        files.set(space: FreeSpace(free: 40_000, total: 1_000_000))
        time.advance(61)
        cache.store(entry(10, stored: time.now))
        await cache.flush()
        // The writer checks the free space only when it is idle.
        while await cache.info().entryCount >= 10, !Task.isCancelled { await Task.yield() }
        #expect(await cache.info().entryCount < 10)
        cache.store(entry(11, stored: time.now))
        await cache.flush()
        #expect(await cache.entry(for: key(11)) == nil)
        await cache.close()
    }
}
