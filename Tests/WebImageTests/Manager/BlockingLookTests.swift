// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A tier that stores entries in memory and records for each lookup whether its task runs on an executor that the
/// caller provides instead of Swift's cooperative pool.
private final class NotingTier: CacheTier {
    private let entries = Lock<[CacheKey: DiskEntry]>([:])
    let askedOffThePool = Shared<[Bool]>([])

    func entry(for key: CacheKey, matching request: HTTPFields) async -> DiskEntry? {
        let isOff = withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil }
        askedOffThePool.update { $0.append(isOff) }
        await Task.yield()
        return entries.withLock { $0[key] }
    }
    func store(_ entry: DiskEntry, request: HTTPFields) async { entries.withLock { $0[entry.key] = entry } }
    func remove(_ key: CacheKey, matching request: HTTPFields?) async { entries.withLock { $0[key] = nil } }
    func removeAll() async { entries.withLock { $0 = [:] } }
}

@Suite("Blocking lookups", .timeLimit(.minutes(5)))
struct BlockingLookTests {
    private func fixture(_ tiers: [NotingTier]) throws -> (LoopbackServer, ManagerFixture) {
        let resource = ServerResource(body: try TestPictures.png(1), type: "image/png", cacheControl: "max-age=60")
        let server = try LoopbackServer { resource.response(to: $0) }
        var policies = ImageCache.Policies()
        policies.query = .concurrent
        policies.store = .concurrent
        let cache = ImageCache(memory: nil, tiers: tiers, policies: policies)
        return (server, try ManagerFixture { $0.originalCache = cache })
    }

    @Test("A blocking lookup needs no thread of Swift's cooperative pool, also with concurrent queries")
    func needsNoPool() async throws {
        let tiers = [NotingTier(), NotingTier()]
        let (server, fixture) = try fixture(tiers)
        let request = ImageRequest(server.url("/a"))
        let task = fixture.manager.load(request)
        _ = try await task.response
        await task.stored
        fixture.manager.memoryCache.removeAll()
        for tier in tiers { tier.askedOffThePool.value = [] }
        // Run on a dedicated thread, like a call on the main thread.
        let (found, isOver) = (Shared(false), Gate())
        Thread {
            found.value = fixture.manager.cachedImage(for: request, tiers: .all) != nil
            isOver.open()
        }.start()
        await isOver.wait()
        #expect(found.value)
        await untilTrue { tiers.allSatisfy { !$0.askedOffThePool.value.isEmpty } }
        for tier in tiers { #expect(tier.askedOffThePool.value == [true]) }
    }

    @Test("Simultaneous blocking lookups on every thread of Swift's cooperative pool finish")
    func onEveryThread() async throws {
        let (server, fixture) = try fixture([NotingTier(), NotingTier()])
        let request = ImageRequest(server.url("/a"))
        let task = fixture.manager.load(request)
        _ = try await task.response
        await task.stored
        fixture.manager.memoryCache.removeAll()
        let manager = fixture.manager
        let found = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 * ProcessInfo.processInfo.activeProcessorCount {
                group.addTask {
                    manager.memoryCache.removeAll()
                    return manager.cachedImage(for: request, tiers: .all) != nil
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(found.allSatisfy { $0 })
    }
}
