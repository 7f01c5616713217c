// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import Testing
import WebImageConcurrency
import WebImageCore

@testable import WebImageStore

@Suite("Administration of the disk cache")
struct AdministrationTests {
    let directory = TestDirectory()

    private func entry(_ url: String, count: Int, tags: Set<String> = [], age: Double = 0) -> CacheEntry {
        CacheEntry(
            key: CacheKey(["data", url]), data: bytes(url.utf8.count, count: count), tags: tags,
            storedAt: Date().addingTimeInterval(-age))
    }

    private func filled() async throws -> DiskCache {
        let cache = try directory.open()
        cache.store(entry("https://b.example/large.png", count: 60_000, tags: ["news", "big"], age: 30))
        cache.store(entry("https://a.example:8443/one.jpg", count: 100, tags: ["news"], age: 500))
        cache.store(entry("https://www.a.example/two.jpg", count: 20_000, age: 100))
        cache.store(entry("file:///home/me/three.gif", count: 9_000, age: 300))
        await cache.flush()
        return cache
    }

    private func names(_ entries: [DiskCache.EntryInfo]) -> [String] {
        entries.map { $0.source.split(separator: "/").last.map(String.init) ?? "" }
    }

    @Test("Entries are listed by size, age, and host, and filtered by a pattern for their source")
    func lists() async throws {
        let cache = try await filled()
        #expect(
            names(await cache.entries(matching: nil, sortedBy: .size))
                == ["large.png", "two.jpg", "three.gif", "one.jpg"])
        #expect(
            names(await cache.entries(matching: nil, sortedBy: .age))
                == ["one.jpg", "three.gif", "two.jpg", "large.png"])
        #expect(
            names(await cache.entries(matching: nil, sortedBy: .host))
                == ["one.jpg", "large.png", "two.jpg", "three.gif"])
        #expect(names(await cache.entries(matching: "*.jpg", sortedBy: .size)) == ["two.jpg", "one.jpg"])
        #expect(names(await cache.entries(matching: "https://?.example*")) == ["large.png", "one.jpg"])
        #expect(await cache.entries(matching: "nothing").isEmpty)
        await cache.close()
    }

    @Test("Entries are removed by host including subdomains, by tag, and by a custom condition")
    func removes() async throws {
        let cache = try await filled()
        #expect(await cache.remove(host: "A.example").entryCount == 2)
        #expect(await cache.entry(for: CacheKey(["data", "https://www.a.example/two.jpg"])) == nil)
        #expect(await cache.remove(tag: "big").entryCount == 1)
        #expect(await cache.remove(tag: "big") == DiskCache.MaintenanceReport())
        #expect(await cache.remove { $0.dataSize == 9_000 }.size >= 9_000)
        #expect(await cache.info().entryCount == 0)
        #expect(await cache.info().size == 0)
        #expect(try entryFiles(directory).isEmpty)
        await cache.close()
    }

    @Test("An entry that waits to be written survives the removal of the entry that it replaces")
    func removalSparesTheNew() async throws {
        let cache = try await filled()
        let seen = Lock<[String]>([])
        await cache.remove { summary in
            seen.withLock { $0.append(summary.source) }
            if summary.host == "b.example" {
                cache.store(entry("https://b.example/large.png", count: 5))
            }
            return summary.host == "b.example"
        }
        #expect(seen.withLock { $0.count } == 4)
        #expect(await cache.entry(for: CacheKey(["data", "https://b.example/large.png"]))?.data.count == 5)
        await cache.flush()
        #expect(await cache.info().entryCount == 4)
        await cache.close()
    }

    @Test("Tags survive a restart and the loss of the index")
    func tags() async throws {
        await (try await filled()).close()
        for loss in [false, true] {
            if loss { try FileManager.default.removeItem(atPath: directory.path + "/index.sqlite") }
            let cache = try directory.open()
            let found = await cache.entries(matching: "*large*")
            #expect(found.map(\.tags) == [["news", "big"]])
            let key = CacheKey(["data", "https://b.example/large.png"])
            #expect(await cache.entry(for: key)?.tags == ["news", "big"])
            await cache.close()
        }
    }

    @Test("An entry with more tags than the limit isn't stored")
    func tooManyTags() async throws {
        let cache = try directory.open()
        cache.store(entry("https://a.example/", count: 5, tags: Set((0...CacheEntry.tagLimit).map(String.init))))
        await cache.flush()
        #expect(await cache.info().counters.dropped == 1)
        #expect(await cache.info().entryCount == 0)
        await cache.close()
    }

    @Test("The thread of the writer is a batch job only during an eviction")
    func batchScheduling() async throws {
        let cache = try await filled()
        let policies = Lock<[Int32]>([])
        await cache.trim(toSize: await cache.info().size - 1) { _, _ in
            policies.withLock { $0.append(sched_getscheduler(0)) }
        }
        // The module Glibc lacks SCHED_BATCH, which is 3.
        #expect(policies.withLock { $0.allSatisfy { $0 == 3 } && !$0.isEmpty })
        let after = await withCheckedContinuation { continuation in
            _ = cache.state.enqueueIfOpen(.flush { continuation.resume(returning: sched_getscheduler(0)) })
        }
        #expect(after == 0)
        await cache.close()
    }

    @Test("Long operations report their progress")
    func progress() async throws {
        let cache = try await filled()
        let steps = Lock<[(Int, Int)]>([])
        let progress: DiskProgress = { done, total in steps.withLock { $0.append((done, total)) } }
        func last() -> (Int, Int)? {
            steps.withLock { steps in
                defer { steps = [] }
                #expect(steps.map(\.0) == steps.map(\.0).sorted())
                return steps.last
            }
        }
        _ = await cache.verify(progress: progress)
        let verified = try #require(last())
        #expect(verified.0 == verified.1 && verified.1 > 0)
        await cache.trim(toSize: await cache.info().size - 1, progress: progress)
        let trimmed = try #require(last())
        #expect(trimmed.0 == trimmed.1 && trimmed.1 > 0)
        await cache.remove(progress: progress) { _ in true }
        let removed = try #require(last())
        #expect(removed.0 == removed.1)
        cache.store(entry("https://a.example/", count: 5))
        await cache.removeAll()
        await cache.deleteTrash(progress: progress)
        #expect(
            !(try FileManager.default.contentsOfDirectory(atPath: directory.path)).contains { $0.hasPrefix("trash-") })
        await cache.close()
    }

    @Test("All files that were set aside are deleted, even if the uptime remains the same", .timeLimit(.minutes(1)))
    func deletionWithoutClock() async throws {
        for number in 0..<4 {
            let trash = "\(directory.path)/trash-\(number)"
            try FileManager.default.createDirectory(atPath: trash, withIntermediateDirectories: true)
            try bytes(number).write(to: URL(filePath: "\(trash)/file"))
        }
        var configuration = directory.configuration()
        configuration.clock = ManualClock().clock
        let cache = try DiskCache(configuration: configuration)
        await cache.deleteTrash()
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(!names.contains { $0.hasPrefix("trash-") })
        await cache.close()
    }

    @Test("Hits and misses accumulate over restarts")
    func hitRate() async throws {
        let cache = try await filled()
        #expect(await cache.info().hitRate == nil)
        #expect(await cache.entry(for: CacheKey(["data", "https://www.a.example/two.jpg"])) != nil)
        for number in 0..<3 { #expect(await cache.entry(for: key(number)) == nil) }
        await cache.close()
        let again = try directory.open()
        #expect(await again.entry(for: CacheKey(["data", "https://www.a.example/two.jpg"])) != nil)
        await again.close()
        let third = try directory.open()
        let info = await third.info()
        #expect(info.hits == 2 && info.misses == 3)
        #expect(info.hitRate == 0.4)
        await third.close()
    }

    @Test("The source and the host of a key are found, even if the key is nested in another key")
    func sources() {
        func source(_ fields: [String]) -> String? { CacheKey.source(ofKey: CacheKey(fields).canonical) }
        #expect(source(["data", "https://a.example/x"]) == "https://a.example/x")
        #expect(source(["GET", "file:///x"]) == "file:///x")
        #expect(source(["http-response", CacheKey(["GET", "http://b/"]).canonical]) == "http://b/")
        #expect(source(["data", "an identity"]) == nil)
        #expect(source(["data", "1a://x"]) == nil)
        #expect(CacheKey.host("https://me:secret@A.Example:80/x@y") == "a.example")
        #expect(CacheKey.host("https://[::1]:80/x") == "::1")
        #expect(CacheKey.host("https://a.example?x/y") == "a.example")
        #expect(CacheKey.host("file:///x") == nil)
        #expect(CacheKey.host("mailto:x") == nil)
    }

    @Test("The fields of a key are parsed from its text")
    func keys() {
        let key = "4:data26:https://example.org/é.png4:vary6:accept"
        #expect(CacheKey.components(ofKey: key) == ["data", "https://example.org/é.png", "vary", "accept"])
        #expect(CacheKey.components(ofKey: "9223372036854775807:x").isEmpty)
        #expect(CacheKey.components(ofKey: "-1:x").isEmpty)
        #expect(CacheKey.components(ofKey: "").isEmpty)
    }

    @Test("Random text as a key never crashes the parser")
    func keyFuzz() {
        var random = SeededGenerator(seed: 7)
        let letters = Array("0123456789:é-x")
        for _ in 0..<2_000 {
            let text = String(
                (0..<Int.random(in: 0...24, using: &random)).compactMap { _ in letters.randomElement(using: &random) })
            #expect(CacheKey.components(ofKey: text).joined().count <= text.count)
        }
    }
}
