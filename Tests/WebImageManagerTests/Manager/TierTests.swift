// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A tier that stores its entries in a dictionary.
private final class DictionaryTier: CacheTier {
    private let entries = Lock<[CacheKey: CacheEntry]>([:])
    var count: Int { entries.withLock { $0.count } }
    var all: [CacheEntry] { entries.withLock { Array($0.values) } }

    func entry(for key: CacheKey, matching request: HTTPHeaderFields) async -> CacheEntry? {
        entries.withLock { $0[key] }
    }
    func store(_ entry: CacheEntry, matching: HTTPHeaderFields) async { entries.withLock { $0[entry.key] = entry } }
    func remove(_ key: CacheKey, matching request: HTTPHeaderFields?) async { entries.withLock { $0[key] = nil } }
    func removeAll() async { entries.withLock { $0 = [:] } }
}

@Suite("Cache tiers of requests", .timeLimit(.minutes(5)))
struct TierTests {
    private func server() throws -> LoopbackServer {
        let resource = ServerResource(body: try TestImages.png(1), type: "image/png", cacheControl: "max-age=60")
        return try LoopbackServer { resource.response(to: $0) }
    }

    @Test("An additional tier serves a request if memory and disk are empty, and its entry is copied to the disk cache")
    func further() async throws {
        let server = try server()
        let tier = DictionaryTier()
        let first = try ManagerFixture { $0.cacheTiers = [tier] }
        _ = try await first.manager.image(for: server.url("/a"))
        #expect(tier.count == 1)
        let second = try ManagerFixture { $0.cacheTiers = [tier] }
        #expect(try await second.manager.response(for: ImageRequest(url: server.url("/a"))).source == .cacheTier)
        second.manager.memoryCache.removeAll()
        #expect(try await second.manager.response(for: ImageRequest(url: server.url("/a"))).source == .diskCache)
        #expect(server.counters.requests == 1)
    }

    @Test("Each request selects the tiers for reading and storing images and data")
    func sets() async throws {
        let server = try server()
        let tier = DictionaryTier()
        let fixture = try ManagerFixture { $0.cacheTiers = [tier] }
        var request = ImageRequest(url: server.url("/a"))
        request.caching.writeTo = []
        request.caching.originalWriteTo = .custom
        _ = try await fixture.manager.image(for: request)
        #expect(fixture.manager.cachedImage(for: request) == nil)
        await fixture.manager.diskCache?.flush()
        #expect(await fixture.manager.diskCache?.entries().isEmpty == true)
        request.caching.originalReadFrom = .disk
        #expect(try await fixture.manager.response(for: request).source == .network)
        let other = try ManagerFixture { $0.cacheTiers = [tier] }
        request.caching.originalReadFrom = .custom
        #expect(try await other.manager.response(for: request).source == .cacheTier)
        request.caching.originalReadFrom = []
        request.caching.readFrom = []
        request.caching.writeTo = .memory
        #expect(try await fixture.manager.response(for: request).source == .network)
        #expect(try await fixture.manager.response(for: request).source == .network)
        request.caching.readFrom = .memory
        #expect(try await fixture.manager.response(for: request).source == .memoryCache)
    }

    @Test("Original data that another request is still using is returned only to requests that read it from memory")
    func dataInUse() async throws {
        let (server, loader, gate) = (try server(), StubLoader(), TestGate())
        let fixture = try ManagerFixture()
        // A manager keeps data in use for as long as any request runs.
        var slow = ImageRequest(url: server.url("/slow"))
        slow.loader = loader
        loader.respond(to: slow.url, with: .init(body: try TestImages.png(1), responseGate: gate))
        let running = fixture.manager.load(slow)
        await loader.waitForRequests(count: 1)
        var request = ImageRequest(url: server.url("/a"))
        request.caching.originalWriteTo = []
        request.caching.readFrom = []
        #expect(try await fixture.manager.response(for: request).source == .network)
        #expect(try await fixture.manager.response(for: request).source == .memoryCache)
        for tiers in [[], .disk, .custom, [.disk, .custom]] as [ImageCache.Tiers] {
            request.caching.originalReadFrom = tiers
            #expect(try await fixture.manager.response(for: request).source == .network)
        }
        request.caching.originalReadFrom = .memory
        #expect(try await fixture.manager.response(for: request).source == .memoryCache)
        gate.open()
        _ = try await running.image
    }

    @Test("A cached image is returned only to requests that read from memory and don't reload")
    func cachedImage() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        var request = ImageRequest(url: server.url("/a"))
        _ = try await fixture.manager.image(for: request)
        #expect(fixture.manager.cachedImage(for: request) != nil)
        request.caching.readFrom = .disk
        #expect(fixture.manager.cachedImage(for: request) == nil)
        request.caching.readFrom = .memory
        request.cachePolicy = .reload
        #expect(fixture.manager.cachedImage(for: request) == nil)
        #expect(fixture.manager.loadCachedImageSynchronously(for: request) == nil)
        request.cachePolicy = .cacheFirst
        #expect(fixture.manager.cachedImage(for: request) != nil)
    }

    @Test("A request can have its own cache and a separate cache for the original data")
    func ownCaches() async throws {
        let server = try server()
        let (pictures, originals) = (DictionaryTier(), DictionaryTier())
        let fixture = try ManagerFixture { $0.originalCache = ImageCache(memory: nil, tiers: [originals]) }
        let own = ImageCache(tiers: [pictures])
        var request = ImageRequest(url: server.url("/a"), size: .fit(width: 20))
        request.caching.processedEncoding = .png
        request.caching.waitsUntilStored = true
        _ = try await fixture.manager.image(for: request)
        #expect(originals.count == 1)
        request.caching.cache = own
        #expect(fixture.manager.cachedImage(for: request) == nil)
        request.caching.originalCache = ImageCache(memory: nil, tiers: [originals])
        _ = try await fixture.manager.image(for: request)
        #expect(server.counters.requests == 1)
        #expect(fixture.manager.cachedImage(for: request) != nil)
        #expect(pictures.count == 1)
        own.memory?.removeAll()
        await originals.removeAll()
        #expect(try await fixture.manager.response(for: request).source == .cacheTier)
        await fixture.manager.removeCachedImage(for: request)
        #expect(pictures.count == 0)
    }

    @Test("The serializer determines the stored data, which later reads return")
    func serializer() async throws {
        let server = try server()
        let other = try TestImages.png(9, width: 10, height: 10)
        let tier = DictionaryTier()
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = [tier]
            $0.cacheSerializer = { image, data, request in
                request.url.path == "/none" ? nil : image.map { _ in other } ?? data
            }
        }
        _ = try await fixture.manager.image(for: server.url("/none"))
        #expect(tier.count == 0)
        _ = try await fixture.manager.image(for: server.url("/a"))
        #expect(tier.all.map(\.data) == [other])
        #expect(tier.all.map(\.tags) == [[]])
        fixture.manager.memoryCache.removeAll()
        // The data of the first load may still be in use.
        var stored = ImageRequest(url: server.url("/a"))
        stored.caching.originalReadFrom.remove(.memory)
        #expect(try await fixture.manager.image(for: stored).size == PixelSize(width: 10, height: 10))
        #expect(try await fixture.manager.data(for: ImageRequest(url: server.url("/b"))) == TestImages.png(1))
        #expect(tier.count == 2)
    }

    @Test("S-05: After a request with `waitsForStore` or `task.waitUntilStored()`, the files exist")
    func waiting() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        func files() throws -> Int {
            try FileManager.default.subpathsOfDirectory(atPath: fixture.directory.file("cache/blobs"))
                .filter { $0.contains("/") }.count
        }
        var request = ImageRequest(url: server.url("/a"))
        request.caching.waitsUntilStored = true
        request.caching.tags = ["album"]
        _ = try await fixture.manager.image(for: request)
        #expect(try files() == 1)
        #expect(await fixture.manager.diskCache?.entries().map(\.tags) == [["album"]])
        request = ImageRequest(url: server.url("/b"))
        request.caching.processedEncoding = .png
        let task = fixture.manager.load(request)
        await task.waitUntilStored()
        #expect(try files() == 3)
    }
}
