// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageStore

/// A tier in memory that records its calls and can delay lookups.
private final class InMemoryTier: CacheTier {
    private struct State {
        var entries: [CacheKey: CacheEntry] = [:]
        var log: [String] = []
    }

    let category: ImageCache.Tiers
    private let state = Lock(State())
    private let gate: TestGate?

    init(_ kind: ImageCache.Tiers = .custom, gate: TestGate? = nil) {
        self.category = kind
        self.gate = gate
    }

    var log: [String] { state.withLock { $0.log } }
    func has(_ key: CacheKey) -> Bool { state.withLock { $0.entries[key] != nil } }

    func entry(for key: CacheKey, matching request: HTTPHeaderFields) async -> CacheEntry? {
        await gate?.wait()
        return state.withLock { state in
            state.log.append("entry")
            return state.entries[key]
        }
    }

    func store(_ entry: CacheEntry, matching: HTTPHeaderFields) async {
        state.withLock { state in
            state.log.append("store")
            state.entries[entry.key] = entry
        }
    }

    func remove(_ key: CacheKey, matching request: HTTPHeaderFields?) async {
        state.withLock { $0.entries[key] = nil }
    }

    func removeAll() async { state.withLock { $0.entries = [:] } }
}

/// A tier whose operations wait for gates.
private final class HeldTier: CacheTier {
    private struct State {
        var entries: [CacheKey: CacheEntry] = [:]
        var (stores, removals, lookups) = (0, 0, 0)
    }

    let (stores, removals, lookups) = (TestGate(), TestGate(), TestGate())
    private let holdsRemovalOfAll: Bool
    private let state = Lock(State())

    init(holdsRemovalOfAll: Bool = false) { self.holdsRemovalOfAll = holdsRemovalOfAll }

    var storeCount: Int { state.withLock { $0.stores } }
    var removalCount: Int { state.withLock { $0.removals } }
    var lookupCount: Int { state.withLock { $0.lookups } }

    /// Stores an entry without waiting for a gate.
    func put(_ entry: CacheEntry) { state.withLock { $0.entries[entry.key] = entry } }

    func entry(for key: CacheKey, matching request: HTTPHeaderFields) async -> CacheEntry? {
        // A lookup that begins after the store reads the entry immediately.
        let early = state.withLock { $0.entries[key] }
        state.withLock { $0.lookups += 1 }
        await lookups.wait()
        return state.withLock { early ?? $0.entries[key] }
    }

    func store(_ entry: CacheEntry, matching: HTTPHeaderFields) async {
        state.withLock { $0.stores += 1 }
        await stores.wait()
        state.withLock { $0.entries[entry.key] = entry }
    }

    func remove(_ key: CacheKey, matching request: HTTPHeaderFields?) async {
        state.withLock { $0.removals += 1 }
        await removals.wait()
        state.withLock { $0.entries[key] = nil }
    }

    func removeAll() async {
        if holdsRemovalOfAll {
            state.withLock { $0.removals += 1 }
            await removals.wait()
        }
        state.withLock { $0.entries = [:] }
    }
}

/// A tier that calls a closure when it's released.
private final class DepartingTier: CacheTier {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    deinit { action() }

    func entry(for key: CacheKey, matching request: HTTPHeaderFields) async -> CacheEntry? { nil }
    func store(_ entry: CacheEntry, matching: HTTPHeaderFields) async {}
    func remove(_ key: CacheKey, matching request: HTTPHeaderFields?) async {}
    func removeAll() async {}
}

@Suite("Multiple tiers as one cache", .timeLimit(.minutes(5)))
struct ImageCacheTests {
    @Test("A tier that is replaced can use the cache when it's released")
    func release() {
        let cache = ImageCache(memory: nil)
        let counts = Shared<[Int]>([])
        cache.tiers = [DepartingTier { [weak cache] in counts.update { $0.append(cache?.tiers.count ?? -1) } }]
        cache.tiers = []
        #expect(counts.value == [0])
    }

    private let key = CacheKey(["a"])
    private var entry: CacheEntry {
        CacheEntry(key: key, data: Data("a".utf8), storedAt: Date(timeIntervalSince1970: 1_800_000_000))
    }

    private func cache(
        _ tiers: [InMemoryTier], _ change: (inout ImageCache.TierPolicy) -> Void = { _ in }
    ) -> ImageCache {
        var policies = ImageCache.TierPolicy()
        change(&policies)
        return ImageCache(memory: nil, tiers: tiers, policy: policies)
    }

    @Test("A lookup ends at the first cache hit, and nearer tiers receive a copy of the entry")
    func serial() async {
        let tiers = [InMemoryTier(.disk), InMemoryTier(), InMemoryTier()]
        let cache = cache(tiers)
        await tiers[1].store(entry, matching: HTTPHeaderFields())
        let answer = await cache.entry(for: key, matching: HTTPHeaderFields())
        #expect(answer?.entry == entry && answer?.kind == .custom)
        #expect(tiers.map(\.log) == [["entry", "store"], ["store", "entry"], []])
        #expect(await cache.entry(for: key, matching: HTTPHeaderFields())?.kind == .disk)
    }

    @Test(
        "A removal during a store hides the entry from lookups until the store is undone", arguments: [false, true])
    func removalDuringStore(isDerived: Bool) async {
        let far = HeldTier()
        let near = InMemoryTier(.disk)
        let cache = ImageCache(memory: nil, tiers: [near, far], policy: ImageCache.TierPolicy())
        var entry = entry
        if isDerived { entry.key = key.appending(["final"]) }
        let (stored, generation) = (entry, cache.generation(of: key))
        let store = Task {
            await cache.store(
                stored, request: HTTPHeaderFields(), in: .custom, madeOf: key, generation)
        }
        await untilTrue { far.storeCount == 1 }
        await cache.removeAll()
        let lookup = Task { await cache.entry(for: stored.key, matching: HTTPHeaderFields()) }
        await untilTrue { far.lookupCount == 1 }
        far.stores.open()
        await untilTrue { far.removalCount == 1 }
        // This lookup reads the entry and ends after the undo.
        let during = Task { await cache.entry(for: stored.key, matching: HTTPHeaderFields()) }
        await untilTrue { far.lookupCount == 2 }
        far.removals.open()
        await store.value
        far.lookups.open()
        #expect(await lookup.value == nil)
        #expect(await during.value == nil)
        #expect(!near.has(stored.key))
        // An entry of the current generation is found.
        await cache.store(
            stored, request: HTTPHeaderFields(), in: .custom, madeOf: key, cache.generation(of: key))
        #expect(await cache.entry(for: stored.key, matching: HTTPHeaderFields())?.entry == stored)
    }

    @Test("During a removal, lookups find neither its entries nor those derived from them", arguments: [false, true])
    func lookupsDuringRemoval(removesAll: Bool) async {
        let tier = HeldTier(holdsRemovalOfAll: true)
        tier.lookups.open()
        tier.stores.open()
        let cache = ImageCache(memory: nil, tiers: [tier])
        let keys = [key, key.appending(["final"]), CacheKey(["b"])]
        for key in keys {
            var entry = entry
            entry.key = key
            tier.put(entry)
        }
        let removal = Task { removesAll ? await cache.removeAll() : await cache.remove(key) }
        await untilTrue { tier.removalCount == 1 }
        for (number, key) in keys.enumerated() {
            let isFound = await cache.entry(for: key) != nil
            #expect(isFound == (number == 2 && !removesAll), "\(key)")
        }
        #expect(tier.lookupCount == (removesAll ? 0 : 1))
        tier.removals.open()
        await removal.value
        #expect(await cache.entry(for: key) == nil)
        await cache.store(entry)
        #expect(await cache.entry(for: key) == entry)
    }

    @Test("During a removal from one tier, lookups find the entry in another tier", arguments: [false, true])
    func lookupsDuringPartialRemoval(removesAll: Bool) async {
        let tiers: (near: HeldTier, far: InMemoryTier) = (HeldTier(holdsRemovalOfAll: true), InMemoryTier(.disk))
        let cache = ImageCache(memory: nil, tiers: [tiers.near, tiers.far])
        tiers.near.put(entry)
        await tiers.far.store(entry, matching: HTTPHeaderFields())
        let removal = Task {
            removesAll ? await cache.removeAll(from: .custom) : await cache.remove(key, from: .custom)
        }
        await untilTrue { tiers.near.removalCount == 1 }
        #expect(await cache.entry(for: key, matching: HTTPHeaderFields())?.kind == .disk)
        #expect(tiers.near.lookupCount == 0)
        tiers.near.removals.open()
        await removal.value
        #expect(tiers.near.storeCount == 0)
    }

    @Test("A removal while a tier stores an entry again with a new head removes the entry")
    func removalDuringUpdateOfHead() async {
        let tier = HeldTier()
        let cache = ImageCache(memory: nil, tiers: [tier], policy: ImageCache.TierPolicy())
        tier.put(entry)
        tier.lookups.open()
        tier.removals.open()
        let generation = cache.generation(of: key)
        let head = StoredResponseHead(
            head: HTTPResponseHead(statusCode: 200, headers: HTTPHeaderFields()), finalURL: "http://example.org/",
            requestTime: entry.storedAt, responseTime: entry.storedAt)
        let update = Task { await cache.updateHead(head, for: key, matching: HTTPHeaderFields(), generation) }
        await untilTrue { tier.storeCount == 1 }
        await cache.remove(key)
        tier.stores.open()
        await update.value
        #expect(await cache.entry(for: key) == nil)
        #expect(tier.removalCount == 2)
    }

    @Test("Without promotion, no entry is copied")
    func noPromotion() async {
        let tiers = [InMemoryTier(.disk), InMemoryTier()]
        let cache = cache(tiers) { $0.promotesHits = false }
        await tiers[1].store(entry, matching: HTTPHeaderFields())
        #expect(await cache.entry(for: key, matching: HTTPHeaderFields()) != nil)
        #expect(!tiers[0].has(key))
    }

    @Test("With concurrent queries, the faster tier serves the request even if the nearer one hangs")
    func concurrent() async {
        let gate = TestGate()
        let tiers = [InMemoryTier(.disk, gate: gate), InMemoryTier()]
        for tier in tiers { await tier.store(entry, matching: HTTPHeaderFields()) }
        let cache = cache(tiers) { $0.lookup = .concurrent }
        #expect(await cache.entry(for: key, matching: HTTPHeaderFields())?.kind == .custom)
        await tiers[1].removeAll()
        let asking = Task { await cache.entry(for: key, matching: HTTPHeaderFields()) != nil }
        await untilTrue { tiers[1].log == ["store", "entry", "entry"] }
        gate.open()
        #expect(await asking.value)
    }

    @Test(
        "Entries are stored in the tiers that the policy selects",
        arguments: [
            (ImageCache.TierPolicy.Order.serial, [true, true, true]), (.concurrent, [true, true, true]),
            (.nearestOnly, [true, false, false]), (.farthestOnly, [false, false, true]),
        ])
    func storing(_ policy: ImageCache.TierPolicy.Order, places: [Bool]) async {
        let tiers = [InMemoryTier(.disk), InMemoryTier(), InMemoryTier()]
        let cache = cache(tiers) { $0.storage = policy }
        await cache.store(entry, matching: HTTPHeaderFields())
        #expect(tiers.map { $0.has(key) } == places)
        await cache.remove(key)
        #expect(tiers.allSatisfy { !$0.has(key) })
    }

    @Test("The tiers of a request limit every operation")
    func kinds() async {
        let tiers = [InMemoryTier(.disk), InMemoryTier()]
        let cache = cache(tiers)
        await cache.store(entry, matching: HTTPHeaderFields(), in: .custom)
        #expect(tiers.map { $0.has(key) } == [false, true])
        #expect(await cache.entry(for: key, matching: HTTPHeaderFields(), in: .disk) == nil)
        #expect(await cache.entry(for: key, matching: HTTPHeaderFields(), in: .memory) == nil)
        #expect(!cache.mayContain(key, in: .memory))
        #expect(await cache.entry(for: key, matching: HTTPHeaderFields(), in: .custom) != nil)
        await cache.remove(key, from: .disk)
        #expect(tiers[1].has(key))
        await cache.removeAll()
        #expect(!tiers[1].has(key))
    }

    @Test("A new response head reaches every tier that has the entry")
    func heads() async {
        let tiers = [InMemoryTier(.disk), InMemoryTier(), InMemoryTier()]
        let cache = cache(tiers)
        for tier in tiers.prefix(2) { await tier.store(entry, matching: HTTPHeaderFields()) }
        let head = StoredResponseHead(
            head: HTTPResponseHead(statusCode: 200, headers: HTTPHeaderFields()), finalURL: "http://example.org/",
            requestTime: entry.storedAt, responseTime: entry.storedAt)
        await cache.updateHead(head, for: key, matching: HTTPHeaderFields(), cache.generation(of: key))
        for tier in tiers.prefix(2) {
            #expect(await tier.entry(for: key, matching: HTTPHeaderFields())?.head == head)
        }
        #expect(!tiers[2].has(key))
    }

    @Test("The disk cache is the nearest tier, and a removal includes the images made of the data")
    func publicOperations() async throws {
        let folder = try TemporaryDirectory()
        let disk = try DiskCache(configuration: DiskCache.Configuration(path: folder.file("cache")))
        let tier = InMemoryTier()
        let cache = ImageCache(disk: disk, tiers: [tier])
        await cache.store(CacheEntry(key: key, data: Data("a".utf8)))
        #expect(await disk.entry(for: key)?.data == Data("a".utf8) && tier.has(key))
        #expect(await cache.entry(for: key)?.key == key)
        #expect(await cache.entry(for: key, in: .memory) == nil)
        let derived = CacheEntry(key: key.appending(["derived"]), data: Data("b".utf8))
        await cache.store(derived, in: .disk)
        await cache.remove(key)
        #expect(await cache.entry(for: key) == nil && !tier.has(key))
        #expect(await disk.entry(for: derived.key) == nil)
    }

    @Test("A serialized entry has all its values, and changed bytes throw")
    func serialization() throws {
        var entry = CacheEntry(key: key, data: Data([0xFF, 0xD8, 0xFF, 0xE0]), tags: ["t"], userData: Data("u".utf8))
        entry.storedAt = Date(timeIntervalSince1970: 1_800_000_000)
        let bytes = entry.serialized()
        #expect(try CacheEntry(serialized: bytes) == entry)
        #expect(entry.httpResponse == nil && entry.matches(["Accept": "image/png"]))
        for changed in [Data(), bytes.dropLast(), Data(bytes.map { $0 ^ 1 })] {
            #expect(throws: ImageError.self) { try CacheEntry(serialized: changed) }
        }
    }

    @Test("A serialized entry preserves the lifetime of redirects, which isn't a header field of its response")
    func redirectLifetime() throws {
        let date = Date(timeIntervalSince1970: 1_800_000_000)
        let response = HTTPResponseHead(statusCode: 200, headers: ["ETag": "\"a\""])
        var head = StoredResponseHead(
            head: response, finalURL: "https://a.example/b", requestTime: date, responseTime: date)
        let redirect = HTTPResponseHead(statusCode: 302, headers: ["Cache-Control": "max-age=60"])
        head.limitFreshness(byRedirects: [
            StoredResponseHead(
                head: redirect, finalURL: "https://a.example/a", requestTime: date, responseTime: date)
        ])
        let entry = CacheEntry(key: key, head: head, data: Data("a".utf8), storedAt: date)
        let copy = try CacheEntry(serialized: entry.serialized())
        #expect(copy == entry && copy.head?.redirectLifetime == 60)
        #expect(copy.httpResponse == response)
    }

    @Test("An entry matches the request header fields that Vary names, with and without hashed credentials")
    func matching() {
        var entry = entry
        let request: HTTPHeaderFields = ["Cookie": "a=1"]
        entry.head = StoredResponseHead(
            request: request.withHashedSecrets,
            response: HTTPResponseHead(statusCode: 200, headers: ["Vary": "Cookie"]), finalURL: "http://example.org/",
            requestTime: entry.storedAt, responseTime: entry.storedAt)
        #expect(entry.matches(request) && entry.matches(request.withHashedSecrets))
        #expect(!entry.matches(["Cookie": "a=2"]) && !entry.matches([:]))
        #expect(entry.httpResponse?.statusCode == 200)
    }

    @Test("Without tiers, every lookup is a cache miss and returns")
    func empty() async {
        let cache = cache([])
        await cache.store(entry, matching: HTTPHeaderFields())
        #expect(await cache.entry(for: key, matching: HTTPHeaderFields()) == nil)
        await cache.removeAll()
        await cache.flush()
    }
}
