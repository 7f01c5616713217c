// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A tier that stores entries in memory and records for each lookup whether its task runs on an executor that the
/// caller provides instead of Swift's cooperative pool.
private final class RecordingLookupTier: CacheTier {
    private let entries = Lock<[CacheKey: CacheEntry]>([:])
    let lookupsOffThePool = Shared<[Bool]>([])

    func entry(for key: CacheKey, matching request: HTTPHeaderFields) async -> CacheEntry? {
        let isOff = withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil }
        lookupsOffThePool.update { $0.append(isOff) }
        await Task.yield()
        return entries.withLock { $0[key] }
    }
    func store(_ entry: CacheEntry, matching: HTTPHeaderFields) async { entries.withLock { $0[entry.key] = entry } }
    func remove(_ key: CacheKey, matching request: HTTPHeaderFields?) async { entries.withLock { $0[key] = nil } }
    func removeAll() async { entries.withLock { $0 = [:] } }
}

@Suite("Blocking lookups", .timeLimit(.minutes(5)))
struct BlockingLookupTests {
    private func fixture(_ tiers: [RecordingLookupTier]) throws -> (LoopbackServer, ManagerFixture) {
        let resource = ServerResource(body: try TestImages.png(1), type: "image/png", cacheControl: "max-age=60")
        let server = try LoopbackServer { resource.response(to: $0) }
        var policies = ImageCache.TierPolicy()
        policies.lookup = .concurrent
        policies.storage = .concurrent
        let cache = ImageCache(memory: nil, tiers: tiers, policy: policies)
        return (server, try ManagerFixture { $0.originalCache = cache })
    }

    @Test("A blocking lookup needs no thread of Swift's cooperative pool, also with concurrent queries")
    func needsNoPool() async throws {
        let tiers = [RecordingLookupTier(), RecordingLookupTier()]
        let (server, fixture) = try fixture(tiers)
        let request = ImageRequest(url: server.url("/a"))
        let task = fixture.manager.load(request)
        _ = try await task.response
        await task.waitUntilStored()
        fixture.manager.memoryCache.removeAll()
        for tier in tiers { tier.lookupsOffThePool.value = [] }
        // Run on a dedicated thread, like a call on the main thread.
        let (found, isOver) = (Shared(false), TestGate())
        Thread {
            found.value = fixture.manager.loadCachedImageSynchronously(for: request, from: .all) != nil
            isOver.open()
        }.start()
        await isOver.wait()
        #expect(found.value)
        await untilTrue { tiers.allSatisfy { !$0.lookupsOffThePool.value.isEmpty } }
        for tier in tiers { #expect(tier.lookupsOffThePool.value == [true]) }
    }

    @Test("K-24: Simultaneous blocking lookups on every thread of Swift's cooperative pool finish")
    func onEveryThread() async throws {
        let (server, fixture) = try fixture([RecordingLookupTier(), RecordingLookupTier()])
        let request = ImageRequest(url: server.url("/a"))
        let task = fixture.manager.load(request)
        _ = try await task.response
        await task.waitUntilStored()
        fixture.manager.memoryCache.removeAll()
        let manager = fixture.manager
        let found = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 * ProcessInfo.processInfo.activeProcessorCount {
                group.addTask {
                    manager.memoryCache.removeAll()
                    return manager.loadCachedImageSynchronously(for: request, from: .all) != nil
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(found.allSatisfy { $0 })
    }
}
