// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageHTTP
import WebImageTestSupport

@testable import WebImageStore

@Suite("Read-only directories")
struct ExtraDirectoryTests {
    let directory = TestDirectory()
    let bundle = TestDirectory()
    private let clock = ManualClock()

    private func fillBundle(_ numbers: Range<Int>) async throws {
        let cache = try bundle.open()
        for number in numbers { cache.store(entry(number)) }
        await cache.close()
    }

    private func open() throws -> DiskCache {
        var configuration = directory.configuration()
        configuration.readOnlyDirectories = [URL(filePath: "/nowhere/at/all"), URL(filePath: bundle.path)]
        configuration.clock = clock.clock
        return try DiskCache(configuration: configuration)
    }

    @Test("A cache miss is served from the bundle, and a stored entry takes precedence over it")
    func lookUp() async throws {
        try await fillBundle(0..<3)
        let before = try FileManager.default.subpathsOfDirectory(atPath: bundle.path).sorted()
        let cache = try open()
        for number in 0..<3 { #expect(await cache.entry(for: key(number))?.data == bytes(number)) }
        #expect(cache.mayContain(key(1)))
        cache.store(entry(1, version: 5, stored: clock.now))
        #expect(await cache.entry(for: key(1))?.data == bytes(1, version: 5))
        await cache.flush()
        #expect(await cache.info().entryCount == 1)
        #expect(await cache.info().counters.hits == 4)
        #expect(await cache.info().counters.misses == 0)
        // Until the bundle has been listed, the cache can't rule out any key.
        await untilTrue { !cache.mayContain(key(7)) }
        #expect(!cache.mayContain(key(7)))
        #expect(await cache.entry(for: key(7)) == nil)
        cache.remove(key(1))
        #expect(await cache.entry(for: key(1))?.data == bytes(1))
        await cache.removeAll()
        await cache.trim(toSize: 0)
        #expect(await cache.entry(for: key(2))?.data == bytes(2))
        await cache.close()
        #expect(try FileManager.default.subpathsOfDirectory(atPath: bundle.path).sorted() == before)
    }

    @Test("A newer response head for an entry of the bundle is stored with a copy of the entry")
    func newHead() async throws {
        try await fillBundle(0..<1)
        let cache = try open()
        // This lookup waits until the names in both directories are known.
        #expect(await cache.entry(for: key(0)) != nil)
        await cache.flush()
        // Since the index was read, another process could have stored the entry.
        clock.advance(60)
        cache.updateHead(head(etag: "\"new\""), for: key(0))
        while await cache.info().entryCount == 0 { await cache.flush() }
        #expect(await cache.entry(for: key(0))?.head?.head.headers.combined("ETag") == "\"new\"")
        await cache.close()
    }

    @Test("Corrupt files in the bundle are ignored, and links aren't followed")
    func hostile() async throws {
        try await fillBundle(0..<4)
        let layout = CacheLayout(root: bundle.path)
        var damaged = try Data(contentsOf: URL(filePath: layout.entry(key(0).fileName)))
        damaged[damaged.count - 30] ^= 1
        try damaged.write(to: URL(filePath: layout.entry(key(0).fileName)))
        // Replace a file and a directory with symbolic links.
        let other = bundle.path + "/elsewhere"
        #expect(rename(layout.entry(key(1).fileName), other) == 0)
        #expect(symlink(other, layout.entry(key(1).fileName)) == 0)
        let shard = "\(layout.blobs)/\(key(2).fileName.prefix(2))"
        #expect(rename(shard, bundle.path + "/shard") == 0)
        #expect(symlink(bundle.path + "/shard", shard) == 0)
        let cache = try open()
        for number in 0..<3 { #expect(await cache.entry(for: key(number)) == nil, "\(number)") }
        #expect(await cache.entry(for: key(3)) != nil)
        #expect(FileManager.default.fileExists(atPath: layout.entry(key(0).fileName)))
        await cache.close()
        // Repeat the lookups without `openat2`.
        let plain = ExtraDirectories([bundle.path], files: FaultyFileSystem())
        for number in 0..<3 { #expect(plain.entry(for: key(number), limit: 1 << 20) == nil, "\(number)") }
        #expect(plain.entry(for: key(3), limit: 1 << 20) != nil)
        #expect(plain.entry(for: key(3), limit: 100) == nil)
    }
}
