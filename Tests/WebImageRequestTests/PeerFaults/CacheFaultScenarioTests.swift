// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageStore

@Suite("Caches of a manager: scenarios of other libraries", .timeLimit(.minutes(5)))
struct CacheFaultScenarioTests {
    @Test("N-13: The return to normal memory pressure removes nothing")
    func normalPressure() async throws {
        let monitor = MemoryPressureMonitor(observesSystem: false)
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.memoryPressureMonitor = monitor
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        monitor.report(.critical)
        await untilTrue { manager.memoryCache.statistics.count == 0 }
        for number in 0..<5 { _ = try await manager.image(for: .sample.appending(path: "\(number)")) }
        monitor.report(.normal)
        await passing()
        #expect(manager.memoryCache.statistics.count == 5)
    }

    @Test("G-07: An image that is removed while a view shows it isn't found again")
    func removedWhileShown() async throws {
        let loader = StubLoader()
        loader.respond(to: .sample, with: Numbered.response(1), Numbered.response(2))
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        var shown: DecodedImage? = try await manager.image(for: .sample)
        await manager.removeCachedImage(for: ImageRequest(url: .sample))
        #expect(manager.cachedImage(for: URL.sample) == nil)
        #expect(await manager.load(.sample).number == 2)
        #expect(shown.map(Numbered.number) == 1)
        shown = nil
        #expect(manager.cachedImage(for: URL.sample).map(Numbered.number) == 2)
    }

    @Test(
        "G-08: After a removal, no request uses data of a running request",
        arguments: [CachePolicy.http, .cacheFirst, .cacheOnly], [false, true])
    func removedInUse(policy: CachePolicy, removesAll: Bool) async throws {
        let gate = TestGate()
        let loader = StubLoader()
        loader.respond(to: .sample, with: Numbered.response(1), Numbered.response(2))
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let holding = HoldingTransformer(gate)
        let running = manager.load(ImageRequest(url: .sample, transformers: [holding]))
        await untilTrue { holding.isHolding }
        if removesAll {
            await manager.removeAllCachedImages()
        } else {
            await manager.removeCachedImage(for: ImageRequest(url: .sample))
        }
        var request = ImageRequest(url: .sample)
        request.cachePolicy = policy
        let later = manager.load(request)
        if policy == .cacheOnly {
            #expect(await later.code == 3001)
        } else {
            #expect(await later.number == 2)
        }
        gate.open()
        #expect(await running.number == 1)
    }

    @Test("C-01: Images whose sides don't divide evenly and transformers that shrink are found in memory again")
    func unevenSides() async throws {
        let loader = StubLoader { _ in
            StubLoader.Response(body: (try? TestImages.png(1, width: 101, height: 67)) ?? Data())
        }
        let counter = CountingCoder()
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.coders.register(counter)
            $0.cachePolicy = .cacheFirst
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        for width in [7.0, 33, 50.5, 99] {
            let request = ImageRequest(url: .sample, size: .fit(width: width, height: width))
            let shrinking = ImageRequest(
                url: .sample, size: .fit(width: width), transformers: [.crop(width: 3, height: 3)])
            for request in [request, shrinking] {
                _ = try await manager.image(for: request)
                #expect(try manager.load(request).result?.get().source == .memoryCache, "\(width)")
            }
            var smaller = ImageRequest(url: .sample, size: .fit(width: width - 1, height: width - 1))
            smaller.caching.allowsLargerImages = true
            #expect(try manager.load(smaller).result?.get().source == .memoryCache, "\(width)")
        }
        #expect(counter.decodes <= 8)
    }

    @Test("C-02: A small image that is requested at a huge size is found in memory again")
    func hugeSize() async throws {
        let counter = CountingCoder()
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.coders.register(counter)
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        for size in [TargetSize.fit(width: 100_000, height: 100_000), .fill(width: 5_000, height: 9_000)] {
            let request = ImageRequest(url: .sample, size: size)
            let image = try await manager.image(for: request)
            #expect(image.size.width <= 8 && image.size.height == 6)
            let again = try manager.load(request).result?.get()
            #expect(again?.source == .memoryCache && again?.image === image)
        }
        #expect(counter.decodes <= 2 && loader.requests.count == 1)
    }

    @Test("S-14: A request that stores only its data keeps no image in memory and is served from disk")
    func diskOnly() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        var request = ImageRequest(url: .sample)
        request.caching.writeTo = []
        request.caching.originalWriteTo = .disk
        request.caching.waitsUntilStored = true
        #expect(await manager.load(request).number == 1)
        await manager.rest()
        #expect(manager.memoryCache.statistics.count == 0)
        await manager.letsGo(of: request)
        let again = try await manager.response(for: request)
        #expect(again.source == .diskCache && loader.requests.count == 1)
        #expect(manager.memoryCache.statistics.count == 0)
    }

    @Test("G-09: At critical memory pressure, the images and the pooled buffers are released")
    func pressureOrder() async throws {
        let monitor = MemoryPressureMonitor(observesSystem: false)
        let loader = StubLoader { _ in
            StubLoader.Response(body: (try? TestImages.png(1, width: 640, height: 480)) ?? Data())
        }
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.memoryPressureMonitor = monitor
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        for number in 0..<8 {
            let url = URL.sample.appending(path: "\(number)")
            _ = try await manager.image(for: url)
        }
        await manager.rest()
        #expect(manager.memoryCache.statistics.count == 8)
        let references = (0..<8).compactMap { number in
            manager.cachedImage(for: URL.sample.appending(path: "\(number)")).map { Weak($0) }
        }
        #expect(references.count == 8)
        monitor.report(.critical)
        await untilTrue { manager.memoryCache.statistics.cost == 0 && references.allSatisfy { $0.value == nil } }
        #expect(manager.memoryCache.statistics.count == 0 && references.allSatisfy { $0.value == nil })
        // Other tests use the pool at the same time, but not for images of this size.
        await untilTrue { PixelPool.shared.idleBytes < 8 * 640 * 480 * 4 }
    }

    /// The ways in which a manager has no memory cache.
    enum Off: String, CaseIterable, Sendable { case cost, count, custom }

    @Test(
        "C-03: Without a memory cache, images are loaded, prefetched, and removed, and none is retained",
        arguments: Off.allCases)
    func noMemory(off: Off) async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            if off == .cost { $0.memoryCache.costLimit = 0 }
            if off == .count { $0.memoryCache.countLimit = 0 }
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        var request = ImageRequest(url: .sample)
        if off == .custom { request.caching.cache = ImageCache(memory: nil, disk: manager.diskCache) }
        let task = manager.load(request)
        #expect(await task.number == 1)
        await task.waitUntilStored()
        let prefetcher = ImagePrefetcher(manager: manager) { $0.network = NetworkConditions() }
        var other = request
        other.url = .sample.appending(path: "other")
        #expect(await prefetcher.prefetch([other]).result.finishedCount == 1)
        await manager.letsGo(of: request)
        #expect(await manager.load(request).number == 1)
        await manager.removeCachedImage(for: request)
        await manager.rest()
        #expect(manager.memoryCache.statistics.count == 0 && manager.memoryCache.statistics.cost == 0)
        await untilTrue { manager.cachedImage(for: request) == nil }
    }

    @Test("S-17: URLs with unusual characters have entries of their own")
    func unusualURLs() async throws {
        let texts = [
            "https://e.test/", "https://e.test/a@b", "https://e.test/a%00b", "https://e.test/a%2523",
            "https://e.test/%F0%9F%98%80", "https://e.test/a;b=c$d", "https://e.test/a%2Fb", "https://e.test/a/b",
            "https://e.test/" + String(repeating: "x", count: 5_000),
            "https://e.test/?" + String(repeating: "y", count: 900),
        ]
        let urls = try texts.map { try #require(URL(string: $0)) }
        let loader = StubLoader { request in Numbered.response((urls.firstIndex(of: request.url) ?? -2) + 1) }
        var fixture = try ManagerFixture { $0.loaders = [loader] }
        for (index, url) in urls.enumerated() { #expect(await fixture.manager.load(url).number == index + 1) }
        #expect(loader.requests.count == urls.count)
        await fixture.manager.diskCache?.flush()
        #expect(await fixture.manager.diskCache?.entries().count == urls.count)
        fixture = try await fixture.restarted { $0.loaders = [] }
        for (index, url) in urls.enumerated() {
            let response = try await fixture.manager.response(for: ImageRequest(url: url))
            #expect(Numbered.number(of: response.image) == index + 1 && response.source == .diskCache)
        }
    }

    @Test("C-05, S-26: Header fields with Latin-1 and UTF-8 bytes survive a 304 response and a restart")
    func headerBytes() async throws {
        let fields: [(String, [UInt8])] = [
            ("X-Latin", Array("caf".utf8) + [0xE9]), ("X-UTF", Array("Grüße".utf8)),
        ]
        let image = Numbered.data(1)
        let server = try LoopbackServer { request in
            let isRevalidation = request.headers["If-None-Match"] != nil
            var raw = Data("HTTP/1.1 \(isRevalidation ? "304 Not Modified" : "200 OK")\r\n".utf8)
            raw += Data("ETag: \"1\"\r\nCache-Control: max-age=60\r\nX-Count: \(request.index)\r\n".utf8)
            for (name, bytes) in fields { raw += Data("\(name): ".utf8) + Data(bytes) + Data("\r\n".utf8) }
            if !isRevalidation { raw += Data("Content-Type: image/png\r\nContent-Length: \(image.count)\r\n".utf8) }
            raw += Data("\r\n".utf8)
            return .raw(isRevalidation ? raw : raw + image, ending: .close)
        }
        var fixture = try ManagerFixture()
        let first = try await fixture.manager.response(for: ImageRequest(url: server.url("/a")))
        fixture.pass(seconds: 61)
        fixture = try await fixture.restarted()
        let confirmed = try await fixture.manager.response(for: ImageRequest(url: server.url("/a")))
        #expect(confirmed.source == .revalidated)
        fixture = try await fixture.restarted()
        let stored = try await fixture.manager.response(for: ImageRequest(url: server.url("/a")))
        #expect(stored.source == .diskCache && server.counters.requests == 2)
        for (name, _) in fields {
            let value = try #require(first.httpResponse?.headers[name])
            #expect(confirmed.httpResponse?.headers[name] == value && stored.httpResponse?.headers[name] == value)
        }
        #expect(stored.httpResponse?.headers["X-Count"] == "1")
    }

    @Test("F-05: Files, data URLs, and data aren't copied to disk, regardless of the case of their scheme")
    func localSources() async throws {
        let directory = try TestImages.temporaryDirectory()
        let path = directory.file("a.png")
        try Numbered.data(1).write(to: URL(filePath: path))
        let base64 = Numbered.data(1).base64EncodedString()
        let fixture = try ManagerFixture()
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let texts = [
            "file://\(path)", "FILE://\(path)", "data:image/png;base64,\(base64)", "DATA:image/png;base64,\(base64)",
        ]
        for text in texts {
            #expect(await manager.load(try #require(URL(string: text))).number == 1, "\(text.prefix(8))")
        }
        #expect(await manager.load(ImageRequest(data: Numbered.data(1))).number == 1)
        #expect(await manager.load(ImageRequest(data: Numbered.data(1), cacheKey: "key")).number == 1)
        await manager.diskCache?.flush()
        #expect(await manager.diskCache?.entries().isEmpty == true)
    }

    @Test("C-06: Two managers that open a new cache directory at the same time lose no entry", arguments: 0..<10)
    func simultaneousOpening(round: Int) async throws {
        let directory = try TemporaryDirectory()
        let loader = StubLoader { Numbered.response(Int($0.url.lastPathComponent) ?? 0) }
        let managers = await withTaskGroup(of: ImageManager?.self) { group in
            for _ in 0..<2 {
                group.addTask { try? ManagerFixture(directory: directory) { $0.loaders = [loader] }.manager }
            }
            return await group.reduce(into: [ImageManager]()) { if let manager = $1 { $0.append(manager) } }
        }
        #expect(managers.count == 2 && managers.allSatisfy { $0.diskCacheError == nil })
        await withTaskGroup(of: Void.self) { group in
            for (index, manager) in managers.enumerated() {
                group.addTask {
                    for number in index * 10..<index * 10 + 10 {
                        let task = manager.load(.sample.appending(path: "\(number)"))
                        #expect(await task.number == number)
                        await task.waitUntilStored()
                    }
                    await manager.diskCache?.flush()
                }
            }
        }
        for manager in managers { await manager.shutdown() }
        let again = try ManagerFixture(directory: directory) { $0.loaders = [] }.manager
        for number in 0..<20 { #expect(await again.load(.sample.appending(path: "\(number)")).number == number) }
        await again.shutdown()
    }

    @Test("K-15: Unchanged local content is found again, and changed content is loaded, also after a restart")
    func localKeys() async throws {
        let directory = try TestImages.temporaryDirectory()
        let file = URL(filePath: directory.file("a.png"))
        try Numbered.data(1).write(to: file)
        let calls = Shared(0)
        @Sendable func source(_ key: String, _ number: Int) -> ImageRequest {
            ImageRequest(cacheKey: key) {
                calls.update { $0 += 1 }
                return Numbered.data(number)
            }
        }
        var fixture = try ManagerFixture()
        let keys = fixture.manager.cacheKeys(for: source("a", 1))
        #expect(await fixture.manager.load(source("a", 1)).number == 1)
        #expect(await fixture.manager.load(file).number == 1)
        #expect(await fixture.manager.load(ImageRequest(data: Numbered.data(5), cacheKey: "bytes")).number == 5)
        fixture = try await fixture.restarted()
        #expect(fixture.manager.cacheKeys(for: source("a", 1)) == keys)
        #expect(await fixture.manager.load(source("a", 2)).number == 1 && calls.value == 1)
        #expect(await fixture.manager.load(source("b", 2)).number == 2 && calls.value == 2)
        #expect(await fixture.manager.load(file).number == 1)
        try Numbered.data(3).write(to: file)
        #expect(await fixture.manager.load(file).number == 3)
    }

    @Test(
        "K-22: An entry that disappears between the check for it and its use is loaded from the source",
        arguments: CachePolicy.allCases)
    func vanishes(policy: CachePolicy) async throws {
        let tier = VanishingTier()
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = [tier]
            $0.loaders = [loader]
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        var request = ImageRequest(url: .sample)
        request.cachePolicy = policy
        let code = await manager.load(request).code
        #expect(code == (policy == .cacheOnly ? 3001 : nil))
        #expect(loader.requests.count == (policy == .cacheOnly ? 0 : 1))
    }
}

/// A tier that claims to contain every entry and returns none.
private struct VanishingTier: CacheTier {
    func mayContain(_ key: CacheKey) -> Bool { true }
    func entry(for key: CacheKey, matching headers: HTTPHeaderFields) async -> CacheEntry? { nil }
    func store(_ entry: CacheEntry, matching headers: HTTPHeaderFields) async {}
    func remove(_ key: CacheKey, matching headers: HTTPHeaderFields?) async {}
    func removeAll() async {}
}
