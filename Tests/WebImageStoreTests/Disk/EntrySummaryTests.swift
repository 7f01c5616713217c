// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP
import WebImageTestSupport

@testable import WebImageStore

@Suite("Metadata of large entries without their data")
struct EntrySummaryTests {
    private static let large = 300_000

    private func open(
        _ folder: TestDirectory, _ files: any FileSystem = SystemFileSystem(), isEncrypted: Bool = false,
        clock: ManualClock? = nil
    ) throws -> DiskCache {
        var configuration = folder.configuration(sizeLimit: 256 << 20)
        configuration.fileSystem = files
        configuration.encryptionKey = try testKey(isEncrypted)
        if let clock { configuration.clock = clock.clock }
        return try DiskCache(configuration: configuration)
    }

    private func summary(of entry: CacheEntry?) -> EntrySummary? {
        entry.map { EntrySummary(head: $0.head, content: ContentDigest(of: $0.data), byteCount: $0.data.count) }
    }

    @Test(
        "After the first summary, the metadata of a large entry comes from the first bytes of its file",
        arguments: [false, true])
    func partialRead(isEncrypted: Bool) async throws {
        let folder = TestDirectory()
        let files = BlockingFileSystem()
        let cache = try open(folder, files, isEncrypted: isEncrypted)
        cache.store(entry(1, count: Self.large))
        await cache.flush()
        let expected = summary(of: await cache.entry(for: key(1)))
        for isFirst in [true, false] {
            let (before, hits) = (files.readByteCount, await cache.info().counters.hits)
            let found = await cache.summary(for: key(1))
            #expect(found != nil && found == expected)
            #expect(files.readByteCount - before <= (isFirst ? Self.large : 0) + (17 << 10))
            #expect(await cache.info().counters.hits == hits + 1)
        }
        await cache.close()
    }

    @Test("Small entries have no summary, because they are read as fast")
    func small() async throws {
        let folder = TestDirectory()
        let cache = try open(folder)
        cache.store(entry(1, count: 100_000))
        await cache.flush()
        #expect(await cache.entry(for: key(1)) != nil)
        #expect(await cache.summary(for: key(1)) == nil)
        await cache.close()
    }

    @Test("A summary has the latest head and data, and expired and removed entries have none")
    func changes() async throws {
        let folder = TestDirectory()
        let clock = ManualClock()
        let cache = try open(folder, clock: clock)
        await cache.settle()
        func store(_ version: Int) async {
            cache.store(entry(1, version: version, count: Self.large, stored: clock.now))
            await cache.flush()
            #expect(await cache.entry(for: key(1)) != nil)
        }
        await store(0)
        cache.updateHead(head(etag: "\"new\"", time: clock.now), for: key(1))
        await cache.flush()
        #expect(await cache.summary(for: key(1))?.head?.head.headers["ETag"] == "\"new\"")
        cache.store(entry(1, version: 1, count: Self.large, stored: clock.now))
        let new = ContentDigest(of: bytes(1, version: 1, count: Self.large))
        // The entry may not be written yet.
        let early = await cache.summary(for: key(1))
        #expect(early == nil || early?.content == new)
        await cache.flush()
        #expect(await cache.summary(for: key(1))?.content == new)
        cache.remove(key(1))
        #expect(await cache.summary(for: key(1)) == nil)
        await cache.flush()
        #expect(await cache.summary(for: key(1)) == nil)
        await store(2)
        clock.advance(400 * 86_400)
        let misses = await cache.info().counters.misses
        #expect(await cache.summary(for: key(1)) == nil)
        #expect(await cache.entry(for: key(1)) == nil)
        #expect(await cache.info().counters.misses == misses + 1)
        await cache.close()
    }

    @Test("The summary of an entry that another process replaced is new, and a deleted entry has none")
    func otherProcess() async throws {
        let folder = TestDirectory()
        let (cache, other) = (try open(folder), try open(folder))
        cache.store(entry(1, count: Self.large))
        await cache.flush()
        #expect(await cache.entry(for: key(1)) != nil)
        await other.settle()
        other.store(entry(1, version: 1, count: Self.large))
        await other.flush()
        #expect(await cache.summary(for: key(1))?.content == ContentDigest(of: bytes(1, version: 1, count: Self.large)))
        other.remove(key(1))
        await other.flush()
        #expect(await cache.summary(for: key(1)) == nil)
        await cache.close()
        await other.close()
    }

    @Test("A corrupt file has no summary, and a read removes it", arguments: [false, true])
    func corrupt(isEncrypted: Bool) async throws {
        let folder = TestDirectory()
        let cache = try open(folder, isEncrypted: isEncrypted)
        cache.store(entry(1, count: Self.large))
        await cache.flush()
        let path = cache.state.layout.entry(cache.state.name(of: key(1)))
        var file = try Data(contentsOf: URL(filePath: path))
        file[file.count / 2] ^= 1
        try file.write(to: URL(filePath: path))
        #expect(await cache.summary(for: key(1)) == nil)
        #expect(await cache.entry(for: key(1)) == nil)
        #expect(await cache.info().counters.corrupt == 1)
        await cache.close()
    }

    /// A response with a large body that varies on a header field.
    private func response(_ number: Int, version: Int, _ theme: HTTPHeaderFields, count: Int) -> CacheEntry {
        var response = HTTPResponseHead(statusCode: 200, headers: HTTPHeaderFields())
        response.headers["Vary"] = "Theme"
        response.headers["ETag"] = "\"\(version)\""
        let time = Date(timeIntervalSinceNow: -10)
        let head = StoredResponseHead(
            request: theme, response: response, finalURL: "https://example.org/\(number).jpg", requestTime: time,
            responseTime: time)
        return CacheEntry(
            key: key(number), head: head, data: bytes(number, version: version, count: count), storedAt: time)
    }

    @Test("In any order of operations, a summary is that of the entry a read returns", arguments: 0..<6)
    func model(seed: Int) async throws {
        let folder = TestDirectory()
        var generator = SeededGenerator(seed: UInt64(seed))
        let isEncrypted = seed % 2 == 1
        let (cache, other) = (try open(folder, isEncrypted: isEncrypted), try open(folder, isEncrypted: isEncrypted))
        let stores = [VariantDiskTier(cache), VariantDiskTier(other)]
        let caches = [ImageCache(disk: cache), ImageCache(disk: other)]
        await cache.settle()
        await other.settle()
        var found = 0
        for step in 0..<150 {
            let number = Int.random(in: 0..<3, using: &generator)
            let theme = HTTPHeaderFields([.init(name: "Theme", value: Bool.random(using: &generator) ? "a" : "b")])
            let index = Int.random(in: 0..<4, using: &generator) == 0 ? 1 : 0
            switch Int.random(in: 0..<10, using: &generator) {
            case 0:
                let count = Bool.random(using: &generator) ? Self.large : Self.large + 1
                await stores[index].store(response(number, version: step, theme, count: count), matching: theme)
            case 1: await stores[index].remove(key(number), matching: Bool.random(using: &generator) ? theme : nil)
            case 2:
                let head = response(number, version: step, theme, count: 1).head
                if let head { await stores[index].updateHead(head, for: key(number), matching: theme) }
            case 3, 4: await (index == 0 ? cache : other).flush()
            default:
                // Without the other process, nothing changes between the two.
                await other.flush()
                let summary = await caches[0].summary(for: key(number), matching: theme, in: .all)
                let entry = await caches[0].entry(for: key(number), matching: theme)?.entry
                guard let summary else { continue }
                found += 1
                #expect(summary == self.summary(of: entry), "step \(step)")
            }
        }
        #expect(found > 5)
        await cache.close()
        await other.close()
    }
}
