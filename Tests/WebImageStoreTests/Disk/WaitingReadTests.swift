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

/// A cache with the entries 1 to 8 whose reader threads are all blocked while they read the entries 1 and 2.
private final class BusyCache: Sendable {
    let disk: DiskCache
    let files = BlockingFileSystem()
    private let directory = TestDirectory()
    private let gates: [TestGate]
    private let holders: [Task<CacheEntry?, Never>]

    /// - Parameter prepare: A closure that stores additional entries.
    init(_ prepare: (DiskCache) async throws -> Void = { _ in }) async throws {
        let first = try directory.open()
        for number in 1...8 { first.store(entry(number)) }
        try await prepare(first)
        await first.close()
        var configuration = directory.configuration()
        configuration.fileSystem = files
        let disk = try DiskCache(configuration: configuration)
        await disk.settle()
        gates = [1, 2].map { [files] in files.block(key($0).fileName) }
        holders = [1, 2].map { number in Task { await disk.entry(for: key(number)) } }
        self.disk = disk
        await untilTrue { [files] in files.opened.count == 2 }
    }

    /// The numbers of the entries that were opened for reading after the first two.
    var read: [Int] { files.opened.dropFirst(2).compactMap { name in (1...8).first { key($0).fileName == name } } }

    /// Waits until `count` reads wait for a thread.
    func waits(for count: Int) async { await untilTrue { disk.readers.waitingCount == count } }

    /// Unblocks one thread, which then performs all waiting reads on its own. The order of the reads is the order of
    /// the queue.
    func releaseOne() { gates[0].open() }

    /// Unblocks both threads and closes the cache.
    func end() async {
        for gate in gates { gate.open() }
        for holder in holders { #expect(await holder.value != nil) }
        await disk.close()
    }
}

/// A task whose completion a test can check without waiting.
private final class Lookup<Value: Sendable>: Sendable {
    private let outcome = Shared<Value?>(nil)
    private let task: Task<Void, Never>

    init(_ priority: ObservableValue<RequestPriority>? = nil, _ body: @escaping @Sendable () async -> Value) {
        task = Task { [outcome] in
            let value = await ReadPriority.$current.withValue(priority) { await body() }
            outcome.value = value
        }
    }

    /// The result, or `nil` while the lookup runs.
    var value: Value? { outcome.value }
    func cancel() { task.cancel() }
    func ends() async { await untilTrue { outcome.value != nil } }
}

@Suite("Disk reads that wait for a thread", .timeLimit(.minutes(5)))
struct WaitingReadTests {
    private func found(_ number: Int, in cache: BusyCache, _ priority: ObservableValue<RequestPriority>? = nil)
        -> Lookup<Bool>
    {
        Lookup(priority) { [disk = cache.disk] in await disk.entry(for: key(number)) != nil }
    }

    // MARK: - Cancellation

    @Test("A canceled lookup ends immediately, and its waiting read never reaches the file system")
    func canceled() async throws {
        let cache = try await BusyCache()
        let lookups = (3...6).map { found($0, in: cache) }
        await cache.waits(for: 4)
        for lookup in lookups[1...2] { lookup.cancel() }
        for lookup in lookups[1...2] { await lookup.ends() }
        #expect(lookups.map(\.value) == [nil, false, false, nil])
        await cache.end()
        for lookup in lookups { await lookup.ends() }
        #expect(lookups.map(\.value) == [true, false, false, true])
        #expect(Set(cache.read) == [3, 6])
        // A canceled lookup counts neither as a hit nor as a miss.
        let counters = cache.disk.state.shared.withLock { $0.counters }
        #expect(counters.hits == 4 && counters.misses == 0)
    }

    @Test("A lookup by a canceled task reads no file but finds entries in memory")
    func begunCanceled() async throws {
        let folder = TestDirectory()
        var configuration = folder.configuration()
        let files = BlockingFileSystem()
        configuration.fileSystem = files
        let disk = try DiskCache(configuration: configuration)
        await disk.settle()
        disk.store(entry(1))
        await disk.flush()
        // Block the writer so that the second entry stays in memory.
        let (held, gate) = (TestGate(), TestGate())
        _ = disk.state.enqueueIfOpen(
            .flush {
                held.open()
                gate.blockingWait()
            })
        await held.wait()
        disk.store(entry(2))
        let lookup = Lookup {
            withUnsafeCurrentTask { $0?.cancel() }
            return (await disk.entry(for: key(1))?.data, await disk.entry(for: key(2))?.data)
        }
        await lookup.ends()
        #expect(lookup.value?.0 == nil)
        #expect(lookup.value?.1 == bytes(2))
        #expect(files.opened.isEmpty)
        gate.open()
        #expect(await disk.entry(for: key(1))?.data == bytes(1))
        await disk.close()
    }

    @Test("After a canceled disk lookup, no further tier is queried")
    func fartherTier() async throws {
        let busy = try await BusyCache()
        let asked = Shared(0)
        let cache = ImageCache(memory: nil, tiers: [VariantDiskTier(busy.disk), CountingTier(asked)])
        let lookup = Lookup { await cache.entry(for: key(3), matching: HTTPHeaderFields()) != nil }
        await busy.waits(for: 1)
        lookup.cancel()
        await lookup.ends()
        #expect(lookup.value == false)
        #expect(asked.value == 0)
        await busy.end()
    }

    @Test("When another tier is faster, the waiting disk read is withdrawn")
    func fasterTier() async throws {
        let busy = try await BusyCache()
        var policies = ImageCache.TierPolicy()
        policies.lookup = .concurrent
        let gate = TestGate()
        let faster = CountingTier(Shared(0), entry(3), gate)
        let cache = ImageCache(memory: nil, tiers: [VariantDiskTier(busy.disk), faster], policy: policies)
        let lookup = Lookup { await cache.entry(for: key(3), matching: HTTPHeaderFields())?.kind }
        await busy.waits(for: 1)
        gate.open()
        await lookup.ends()
        #expect(lookup.value == .custom)
        await busy.waits(for: 0)
        await busy.end()
        #expect(busy.read.isEmpty)
    }

    // MARK: - Several variants

    private let dark = HTTPHeaderFields([.init(name: "Theme", value: "dark")])
    private let light = HTTPHeaderFields([.init(name: "Theme", value: "light")])

    private func variant(_ text: String, _ request: HTTPHeaderFields) -> CacheEntry {
        var response = HTTPResponseHead(statusCode: 200)
        response.headers["Vary"] = "Theme"
        let time = Date(timeIntervalSince1970: 1_800_000_000)
        let head = StoredResponseHead(
            request: request, response: response, finalURL: "http://example.org/a", requestTime: time,
            responseTime: time)
        return CacheEntry(key: key(100), head: head, data: Data(text.utf8), storedAt: Date())
    }

    private func busyVariants() async throws -> (BusyCache, VariantDiskTier) {
        let cache = try await BusyCache { disk in
            let store = VariantDiskTier(disk)
            await store.store(variant("dark", dark), matching: dark)
            await store.store(variant("light", light), matching: light)
        }
        return (cache, VariantDiskTier(cache.disk))
    }

    private func text(_ store: VariantDiskTier, _ fields: HTTPHeaderFields) async -> String? {
        await store.entry(for: key(100), matching: fields).map { String(decoding: $0.data, as: UTF8.self) }
    }

    @Test("A canceled lookup removes no variant from the list")
    func keptVariant() async throws {
        let (cache, store) = try await busyVariants()
        cache.releaseOne()
        // The list of variants is now in memory.
        #expect(await text(store, dark) == "dark")
        let gate = cache.files.block(key(8).fileName)
        let holder = found(8, in: cache)
        await untilTrue { cache.read.contains(8) }
        let lookup = Lookup { [self] in await text(store, light) }
        await cache.waits(for: 1)
        lookup.cancel()
        await lookup.ends()
        #expect(lookup.value == .some(nil))
        gate.open()
        await holder.ends()
        #expect(await text(store, light) == "light")
        #expect(await text(store, dark) == "dark")
        await cache.end()
    }

    @Test("A canceled task stores a variant next to the others")
    func storedVariant() async throws {
        let (cache, store) = try await busyVariants()
        let storing = Lookup { [self] in
            withUnsafeCurrentTask { $0?.cancel() }
            await store.store(variant("new", light), matching: light)
            return true
        }
        await cache.waits(for: 1)
        cache.releaseOne()
        await storing.ends()
        #expect(await text(store, dark) == "dark")
        #expect(await text(store, light) == "new")
        await cache.end()
    }

    // MARK: - Priority

    @Test("Waiting reads run by priority and, for equal priorities, in order of arrival")
    func order() async throws {
        let cache = try await BusyCache()
        var lookups: [Lookup<Bool>] = []
        for (index, priority) in [RequestPriority.low, nil, .high, .normal, .high, .veryLow].enumerated() {
            lookups.append(found(index + 3, in: cache, priority.map { ObservableValue($0) }))
            await cache.waits(for: index + 1)
        }
        cache.releaseOne()
        for lookup in lookups { await lookup.ends() }
        #expect(cache.read == [5, 7, 4, 6, 3, 8])
        await cache.end()
    }

    @Test("Changing the priority of a waiting read moves it in the queue")
    func changed() async throws {
        let cache = try await BusyCache()
        let priorities = (0..<3).map { _ in ObservableValue(RequestPriority.normal) }
        var lookups: [Lookup<Bool>] = []
        for (index, priority) in priorities.enumerated() {
            lookups.append(found(index + 3, in: cache, priority))
            await cache.waits(for: index + 1)
        }
        priorities[0].value = .low
        priorities[2].value = .veryHigh
        cache.releaseOne()
        for lookup in lookups { await lookup.ends() }
        #expect(cache.read == [5, 4, 3])
        await cache.end()
    }
}

/// A thread-safe tier that counts its lookups.
private struct CountingTier: CacheTier {
    let category = ImageCache.Tiers.custom
    private let count: Shared<Int>
    private let entry: CacheEntry?
    private let gate: TestGate?

    init(_ count: Shared<Int>, _ answer: CacheEntry? = nil, _ gate: TestGate? = nil) {
        self.count = count
        self.entry = answer
        self.gate = gate
    }

    func entry(for key: CacheKey, matching request: HTTPHeaderFields) async -> CacheEntry? {
        count.update { $0 += 1 }
        await gate?.wait()
        return entry
    }

    func store(_ entry: CacheEntry, matching: HTTPHeaderFields) async {}
    func remove(_ key: CacheKey, matching request: HTTPHeaderFields?) async {}
    func removeAll() async {}
}
