// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import Testing
import WebImageConcurrency
import WebImageHTTP
import WebImageTestSupport

@testable import WebImageStore

@Suite("Disk cache in unusual directories and at unusual times")
struct EntryPathTests {
    let directory = TestDirectory()

    private func configuration(_ files: FaultyFileSystem, _ time: ManualClock? = nil) -> DiskCache.Configuration {
        var configuration = directory.configuration()
        configuration.fileSystem = files
        if let time { configuration.clock = time.clock }
        return configuration
    }

    @Test("On a remote file system, all data, including later changes, is stored in the files")
    func remote() async throws {
        let files = FaultyFileSystem(isRemote: true)
        let cache = try DiskCache(configuration: configuration(files))
        for number in 0..<3 { cache.store(entry(number)) }
        await cache.flush()
        cache.updateHead(head(etag: "\"new\""), for: key(1))
        try cache.setUserData(Data("mine".utf8), for: key(1))
        #expect(await cache.userData(for: key(1)) == Data("mine".utf8))
        await cache.flush()
        #expect(await cache.info().entryCount == 3)
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/index.sqlite"))
        // An entry of another process isn't in the index of this one.
        let other = try DiskCache(configuration: configuration(FaultyFileSystem(isRemote: true)))
        other.store(entry(7))
        await other.flush()
        #expect(await cache.entry(for: key(7))?.data == bytes(7))
        await other.close()
        await cache.close()
        let again = try DiskCache(configuration: configuration(files))
        #expect(await again.entries().count == 4)
        let found = await again.entry(for: key(1))
        #expect(found?.userData == Data("mine".utf8))
        #expect(found?.head == head(etag: "\"new\"", time: found?.head?.responseTime ?? Date()))
        await again.trim(toSize: 0)
        #expect(try entryFiles(directory).isEmpty)
        await again.close()
    }

    @Test("A known cache miss makes no system calls, with or without read-only directories")
    func missWithoutCalls() async throws {
        for hasExtra in [false, true] {
            let files = FaultyFileSystem()
            var configuration = configuration(files)
            // Once per second, a cache miss queries the index for entries of other processes. This clock doesn't
            // advance.
            configuration.clock = ManualClock().clock
            if hasExtra { configuration.readOnlyDirectories = [URL(filePath: directory.path + "-bundle")] }
            let cache = try DiskCache(configuration: configuration)
            cache.store(entry(1))
            await cache.flush()
            if hasExtra { await cache.readers.run { $0.state.extras.load() } }
            // The first cache miss queries the index for entries of other processes.
            #expect(await cache.entry(for: key(2)) == nil)
            // Wait until the work after opening has finished, which means the comparison with the files, cleanup, and the
            // first eviction. The writer begins some of this work only when it has no jobs.
            await cache.settle()
            await untilTrue { cache.state.shared.withLock { $0.writerSleeps } }
            let before = files.calls
            for number in 2..<1_000 { #expect(await cache.entry(for: key(number)) == nil) }
            #expect(files.calls == before)
            await cache.close()
        }
    }

    @Test("The first cache hit needs at most four system calls, regardless of the number of entries")
    func firstHit() async throws {
        let first = try directory.open()
        for number in 0..<300 { first.store(entry(number)) }
        await first.close()
        let files = FaultyFileSystem()
        let state = DiskCacheState(configuration(files))
        let reader = EntryReader(state)
        let before = files.calls
        #expect(reader.read(key(5))?.data == bytes(5))
        #expect(files.calls - before <= 4)
    }

    @Test("Files and entries with future dates are neither kept indefinitely nor deleted immediately")
    func future() async throws {
        let time = ManualClock()
        let year = 365 * 86_400.0
        let cache = try DiskCache(configuration: configuration(FaultyFileSystem(), time))
        for number in 0..<4 {
            cache.store(entry(number, stored: time.now.addingTimeInterval(Double(number) * 3 * year)))
        }
        await cache.close()
        for number in 0..<4 {
            let path = CacheLayout(root: directory.path).entry(key(number).fileName)
            let date = time.now.addingTimeInterval(20 * year)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        }
        for loss in [false, true] {
            if loss { try FileManager.default.removeItem(atPath: directory.path + "/index.sqlite") }
            let again = try DiskCache(configuration: configuration(FaultyFileSystem(), time))
            await again.trim(maxAge: .seconds(86_400))
            #expect(await again.info().entryCount == 4)
            for number in 0..<4 { #expect(await again.entry(for: key(number)) != nil, "\(number)") }
            await again.close()
        }
        let last = try DiskCache(configuration: configuration(FaultyFileSystem(), time))
        await last.settle()
        time.jump(-10 * year)
        #expect(await last.entry(for: key(0)) != nil)
        time.jump(10 * year)
        time.advance(31 * 86_400)
        await last.trim(maxAge: .seconds(30 * 86_400))
        #expect(await last.info().entryCount == 0)
        #expect(try entryFiles(directory).isEmpty)
        await last.close()
    }

    @Test("After an unclean shutdown, a corrupt index is set aside and rebuilt with tags and sizes")
    func unclean() async throws {
        let first = try directory.open()
        for number in 0..<200 {
            var new = entry(number)
            new.tags = ["t\(number % 3)"]
            first.store(new)
        }
        await first.close()
        // A killed process leaves an open session.
        let path = directory.path + "/index.sqlite"
        try CacheIndex(writing: path).beginSession(99)
        var data = try Data(contentsOf: URL(filePath: path))
        // The pages after the first contain rows. The header remains valid.
        for offset in stride(from: 4_096 + 8, to: data.count, by: 4_096) {
            for place in offset..<min(offset + 400, data.count) { data[place] = 0xA5 }
        }
        try data.write(to: URL(filePath: path))
        let again = try directory.open()
        #expect(await again.info().entryCount == 200)
        #expect(await again.remove(tag: "t0").entryCount == 67)
        #expect(await again.verify().missingCount == 0)
        await again.close()
    }
}
