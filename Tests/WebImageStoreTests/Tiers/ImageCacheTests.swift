// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageTestSupport
import WebImageTesting

@testable import WebImageStore

/// A tier in memory that records its calls and can delay lookups.
private final class ShelfTier: CacheTier {
    private struct State {
        var entries: [CacheKey: DiskEntry] = [:]
        var log: [String] = []
    }

    let kind: CacheTiers
    private let state = Lock(State())
    private let gate: Gate?

    init(_ kind: CacheTiers = .remote, gate: Gate? = nil) {
        self.kind = kind
        self.gate = gate
    }

    var log: [String] { state.withLock { $0.log } }
    func has(_ key: CacheKey) -> Bool { state.withLock { $0.entries[key] != nil } }

    func entry(for key: CacheKey, matching request: HTTPFields) async -> DiskEntry? {
        await gate?.wait()
        return state.withLock { state in
            state.log.append("entry")
            return state.entries[key]
        }
    }

    func store(_ entry: DiskEntry, request: HTTPFields) async {
        state.withLock { state in
            state.log.append("store")
            state.entries[entry.key] = entry
        }
    }

    func remove(_ key: CacheKey, matching request: HTTPFields?) async {
        state.withLock { $0.entries[key] = nil }
    }

    func removeAll() async { state.withLock { $0.entries = [:] } }
}

@Suite("Multiple tiers as one cache", .timeLimit(.minutes(5)))
struct ImageCacheTests {
    private let key = CacheKey(["a"])
    private var entry: DiskEntry {
        DiskEntry(key: key, payload: Data("a".utf8), stored: Date(timeIntervalSince1970: 1_800_000_000))
    }

    private func cache(
        _ tiers: [ShelfTier], _ change: (inout ImageCache.Policies) -> Void = { _ in }
    ) -> ImageCache {
        var policies = ImageCache.Policies()
        change(&policies)
        return ImageCache(memory: nil, tiers: tiers, policies: policies)
    }

    @Test("A lookup ends at the first cache hit, and nearer tiers receive a copy of the entry")
    func serial() async {
        let tiers = [ShelfTier(.disk), ShelfTier(), ShelfTier()]
        let cache = cache(tiers)
        await tiers[1].store(entry, request: HTTPFields())
        let answer = await cache.entry(for: key, matching: HTTPFields())
        #expect(answer?.entry == entry && answer?.kind == .remote)
        #expect(tiers.map(\.log) == [["entry", "store"], ["store", "entry"], []])
        #expect(await cache.entry(for: key, matching: HTTPFields())?.kind == .disk)
    }

    @Test("Without promotion, no entry is copied")
    func noPromotion() async {
        let tiers = [ShelfTier(.disk), ShelfTier()]
        let cache = cache(tiers) { $0.promotes = false }
        await tiers[1].store(entry, request: HTTPFields())
        #expect(await cache.entry(for: key, matching: HTTPFields()) != nil)
        #expect(!tiers[0].has(key))
    }

    @Test("With concurrent queries, the faster tier serves the request even if the nearer one hangs")
    func concurrent() async {
        let gate = Gate()
        let tiers = [ShelfTier(.disk, gate: gate), ShelfTier()]
        for tier in tiers { await tier.store(entry, request: HTTPFields()) }
        let cache = cache(tiers) { $0.query = .concurrent }
        #expect(await cache.entry(for: key, matching: HTTPFields())?.kind == .remote)
        await tiers[1].removeAll()
        let asking = Task { await cache.entry(for: key, matching: HTTPFields()) != nil }
        await untilTrue { tiers[1].log == ["store", "entry", "entry"] }
        gate.open()
        #expect(await asking.value)
    }

    @Test(
        "Entries are stored in the tiers that the policy selects",
        arguments: [
            (ImageCache.OperationPolicy.serial, [true, true, true]), (.concurrent, [true, true, true]),
            (.highestOnly, [true, false, false]), (.lowestOnly, [false, false, true]),
        ])
    func storing(_ policy: ImageCache.OperationPolicy, places: [Bool]) async {
        let tiers = [ShelfTier(.disk), ShelfTier(), ShelfTier()]
        let cache = cache(tiers) { $0.store = policy }
        await cache.store(entry, request: HTTPFields())
        #expect(tiers.map { $0.has(key) } == places)
        await cache.remove(key)
        #expect(tiers.allSatisfy { !$0.has(key) })
    }

    @Test("The tiers of a request limit every operation")
    func kinds() async {
        let tiers = [ShelfTier(.disk), ShelfTier()]
        let cache = cache(tiers)
        await cache.store(entry, request: HTTPFields(), in: .remote)
        #expect(tiers.map { $0.has(key) } == [false, true])
        #expect(await cache.entry(for: key, matching: HTTPFields(), in: .disk) == nil)
        #expect(await cache.entry(for: key, matching: HTTPFields(), in: .memory) == nil)
        #expect(!cache.mayContain(key, in: .memory))
        #expect(await cache.entry(for: key, matching: HTTPFields(), in: .remote) != nil)
        await cache.remove(key, in: .disk)
        #expect(tiers[1].has(key))
        await cache.removeAll()
        #expect(!tiers[1].has(key))
    }

    @Test("A new response head reaches every tier that has the entry")
    func heads() async {
        let tiers = [ShelfTier(.disk), ShelfTier(), ShelfTier()]
        let cache = cache(tiers)
        for tier in tiers.prefix(2) { await tier.store(entry, request: HTTPFields()) }
        let head = StoredHead(
            head: ResponseHead(status: 200, fields: HTTPFields()), finalURL: "http://example.org/",
            requestTime: entry.stored, responseTime: entry.stored)
        await cache.updateHead(head, for: key, matching: HTTPFields())
        for tier in tiers.prefix(2) {
            #expect(await tier.entry(for: key, matching: HTTPFields())?.head == head)
        }
        #expect(!tiers[2].has(key))
    }

    @Test("Without tiers, every lookup is a cache miss and returns")
    func empty() async {
        let cache = cache([])
        await cache.store(entry, request: HTTPFields())
        #expect(await cache.entry(for: key, matching: HTTPFields()) == nil)
        await cache.removeAll()
        await cache.flush()
    }
}
