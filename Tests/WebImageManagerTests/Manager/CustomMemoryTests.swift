// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A memory tier that notes the costs of its images and evicts on demand.
private final class NotingTier: MemoryCacheTier {
    private let images = Lock<[CacheKey: (image: DecodedImage, cost: Int)]>([:])

    var costs: [Int] { images.withLock { $0.values.map(\.cost).sorted() } }

    func image(for key: CacheKey) -> DecodedImage? { images.withLock { $0[key]?.image } }
    func store(_ image: DecodedImage, for key: CacheKey, cost: Int) {
        images.withLock { $0[key] = (image, cost) }
    }
    func remove(_ key: CacheKey) { images.withLock { $0[key] = nil } }
    func removeAll() { images.withLock { $0 = [:] } }
}

@Suite("Managers with a custom memory tier", .timeLimit(.minutes(5)))
struct CustomMemoryTests {
    private let tier = NotingTier()
    private let loader = StubLoader { _ in Numbered.response(1) }

    private func fixture(_ configure: (inout ImageManager.Configuration) -> Void = { _ in }) throws -> ManagerFixture {
        try ManagerFixture { [tier, loader] configuration in
            configuration.customMemoryCache = tier
            configuration.loaders = [loader]
            configure(&configuration)
        }
    }

    @Test("Images are stored with their costs and delivered synchronously, and the built-in cache remains empty")
    func hits() async throws {
        let fixture = try fixture()
        let manager = fixture.manager
        let image = try await manager.image(for: .sample)
        #expect(tier.costs == [image.cost] && manager.memoryCache.statistics.count == 0)
        let task = manager.load(.sample)
        #expect(try task.result?.get().image === image && task.result?.get().source == .memoryCache)
        #expect(manager.cachedImage(for: .sample) === image)
        #expect(await manager.cachedTiers(for: ImageRequest(url: .sample)).contains(.memory))
        #expect(manager.cache.memory == nil && manager.cache.customMemory === tier)
        // An image that the tier evicts comes from the disk.
        await manager.diskCache?.flush()
        tier.removeAll()
        #expect(manager.cachedImage(for: .sample) == nil)
        #expect(try await manager.response(for: ImageRequest(url: .sample)).source == .diskCache)
        #expect(loader.requests.count == 1)
    }

    @Test("Other sizes serve as larger images and placeholders, and all sizes are removed together")
    func sizes() async throws {
        let fixture = try fixture()
        let manager = fixture.manager
        let image = try await manager.image(for: .sample)
        var small = ImageRequest(url: .sample, size: .fit(width: 4))
        #expect(manager.cachedPlaceholder(for: small) === image)
        #expect(manager.load(small).result == nil)
        small.caching.allowsLargerImages = true
        #expect(try manager.load(small).result?.get().image === image)
        small.caching.allowsLargerImages = false
        _ = try await manager.image(for: small)
        #expect(tier.costs.count == 2)
        await manager.removeCachedImage(for: ImageRequest(url: .sample))
        #expect(tier.costs.isEmpty && manager.cachedImage(for: small) == nil)
        _ = try await manager.image(for: small)
        await manager.removeAllCachedImages()
        #expect(tier.costs.isEmpty)
    }

    @Test("Images of a request that was running during a removal aren't stored")
    func removalDuringRequest() async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1, responseGate: gate) }
        let fixture = try fixture { $0.loaders = [loader] }
        let task = fixture.manager.load(.sample)
        await loader.waitForRequests(count: 1)
        await fixture.manager.removeCachedImage(for: ImageRequest(url: .sample))
        gate.open()
        #expect(await task.number == 1)
        await fixture.manager.rest()
        #expect(tier.costs.isEmpty)
    }

    @Test("A stale image in a custom memory tier is revalidated, and a 304 response makes it fresh")
    func revalidation() async throws {
        let loader = StubLoader { request in
            var response = Numbered.response(1)
            if request.acceptsNotModified {
                response.httpResponse?.statusCode = 304
                response.chunks = []
            }
            return response
        }
        let fixture = try fixture { $0.loaders = [loader] }
        let image = try await fixture.manager.image(for: .sample)
        fixture.pass(seconds: 70)
        #expect(try await fixture.manager.response(for: ImageRequest(url: .sample)).source == .revalidated)
        #expect(try fixture.manager.load(.sample).result?.get().image === image)
        #expect(fixture.manager.statistics.decodes == 1)
    }

    @Test(
        "Memory pressure reaches the tier, which removes its images at medium pressure by default",
        arguments: [MemoryPressureLevel.low, .medium, .critical])
    func pressure(_ level: MemoryPressureLevel) async throws {
        let fixture = try fixture()
        _ = try await fixture.manager.image(for: .sample)
        fixture.manager.configuration.memoryPressureMonitor.report(level)
        let count = level >= .medium ? 0 : 1
        await untilTrue { tier.costs.count == count }
        #expect(tier.costs.count == count)
    }

    @Test("The time to live of a request applies to its image")
    func timeToLive() async throws {
        let time = Shared(0.0)
        let fixture = try fixture {
            $0.memoryCache.clock = TimeSource(now: { Date() }, uptime: { time.value })
        }
        var request = ImageRequest(url: .sample)
        request.caching.timeToLive = .seconds(10)
        let image = try await fixture.manager.image(for: request)
        time.value = 9
        #expect(fixture.manager.cachedImage(for: request) === image)
        time.value = 10
        #expect(fixture.manager.cachedImage(for: request) == nil && tier.costs.isEmpty)
    }

    @Test("A request can use a cache with a custom memory tier")
    func ownCache() async throws {
        let fixture = try ManagerFixture { [loader] in $0.loaders = [loader] }
        var request = ImageRequest(url: .sample)
        request.caching.cache = ImageCache(customMemory: tier)
        let image = try await fixture.manager.image(for: request)
        #expect(tier.costs.count == 1 && fixture.manager.memoryCache.statistics.count == 0)
        #expect(try fixture.manager.load(request).result?.get().image === image)
        #expect(fixture.manager.cachedImage(for: request) === image)
    }
}
