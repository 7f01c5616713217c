// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A loader that responds with one image and the given header fields, and with 304 to a matching condition.
private func revalidatingLoader(_ fields: [(String, String)], gate: TestGate? = nil) -> StubLoader {
    StubLoader { request in
        let lines = [("Content-Type", "image/png"), ("ETag", "\"1\"")] + fields
        let headers = HTTPHeaderFields(lines.map { .init(name: $0, value: $1) })
        let isCurrent = request.acceptsNotModified && request.headers["If-None-Match"] == "\"1\""
        return StubLoader.Response(
            body: isCurrent ? Data() : Numbered.data(1),
            httpResponse: HTTPResponseHead(statusCode: isCurrent ? 304 : 200, headers: headers), responseGate: gate)
    }
}

extension StubLoader {
    /// The conditions of all requests in the order of their arrival.
    fileprivate var conditions: [String?] { requests.map { $0.headers["If-None-Match"] } }
}

@Suite("The revalidation interval", .timeLimit(.minutes(5)))
struct RevalidationIntervalTests {
    private static let standard = ImageManager.Configuration().revalidationInterval

    private func fixture(_ loader: StubLoader, interval: Duration = standard) throws -> ManagerFixture {
        try ManagerFixture {
            $0.loaders = [loader]
            $0.revalidationInterval = interval
        }
    }

    /// Requests the image and returns the source of the response.
    private func source(_ fixture: ManagerFixture, _ request: ImageRequest = ImageRequest(url: .sample)) async throws
        -> ImageResponse.Source
    {
        try await fixture.manager.response(for: request).source
    }

    // MARK: - Responses that leave their freshness open

    @Test("Ten requests within five minutes for a response without caching header fields send one request")
    func ten() async throws {
        let loader = revalidatingLoader([])
        let fixture = try fixture(loader)
        #expect(try await source(fixture) == .network)
        for _ in 0..<9 {
            fixture.pass(seconds: 30)
            #expect(try fixture.manager.load(.sample).result?.get().source == .memoryCache)
        }
        #expect(loader.requests.count == 1)
    }

    @Test("The interval ends exactly after its duration, and a 304 renews it")
    func boundary() async throws {
        let loader = revalidatingLoader([])
        let fixture = try fixture(loader, interval: .seconds(100))
        _ = try await source(fixture)
        fixture.pass(seconds: 99)
        #expect(try await source(fixture) == .memoryCache)
        fixture.pass(seconds: 1)
        #expect(try await source(fixture) == .revalidated)
        fixture.pass(seconds: 99)
        #expect(try await source(fixture) == .memoryCache)
        fixture.pass(seconds: 1)
        #expect(try await source(fixture) == .revalidated)
        #expect(loader.conditions == [nil, "\"1\"", "\"1\""])
    }

    @Test(
        "Header fields that don't decide about freshness in a private cache leave the interval in force",
        arguments: [
            [], [("Cache-Control", "private")], [("Cache-Control", "public")], [("Cache-Control", "s-maxage=0")],
            [("Cache-Control", "proxy-revalidate")], [("Cache-Control", "no-cache=\"Set-Cookie\"")],
            [("Cache-Control", "public"), ("Pragma", "no-cache")], [("Last-Modified", "not a date")],
        ])
    func open(fields: [(String, String)]) async throws {
        let loader = revalidatingLoader(fields)
        let fixture = try fixture(loader)
        _ = try await source(fixture)
        fixture.pass(seconds: 200)
        #expect(try await source(fixture) == .memoryCache)
        #expect(loader.requests.count == 1)
    }

    @Test(
        "A response that forbids it is revalidated before each use",
        arguments: [
            [("Cache-Control", "no-store")], [("Cache-Control", "no-cache")], [("Cache-Control", "must-revalidate")],
            [("Cache-Control", "max-age=0")], [("Cache-Control", "max-age=never")],
            [("Expires", "Thu, 01 Jan 1970 00:00:00 GMT")], [("Expires", "0")], [("Pragma", "no-cache")],
            [("Vary", "*")],
        ])
    func forbidden(fields: [(String, String)]) async throws {
        let loader = revalidatingLoader(fields)
        let fixture = try fixture(loader)
        for _ in 0..<3 {
            _ = try await source(fixture)
            await fixture.manager.letsGo(of: ImageRequest(url: .sample))
        }
        #expect(loader.requests.count == 3)
    }

    @Test("An explicit lifetime decides even if it's shorter than the interval, and so does the default lifetime")
    func explicit() async throws {
        for isPolicy in [false, true] {
            let loader = revalidatingLoader(isPolicy ? [] : [("Cache-Control", "max-age=60")])
            let fixture = try ManagerFixture {
                $0.loaders = [loader]
                $0.revalidationInterval = Self.standard
                if isPolicy { $0.httpCachePolicy.defaultLifetime = .seconds(60) }
            }
            _ = try await source(fixture)
            fixture.pass(seconds: 61)
            #expect(try await source(fixture) == .revalidated)
        }
    }

    @Test("An image that changed a moment ago is used for the interval although its heuristic lifetime is shorter")
    func heuristic() async throws {
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
        let date = "Sun, 06 Nov 1994 08:49:47 GMT"
        let loader = revalidatingLoader([("Last-Modified", modified), ("Date", date)])
        let fixture = try fixture(loader)
        _ = try await source(fixture)
        fixture.pass(seconds: 200)
        #expect(try await source(fixture) == .memoryCache)
        fixture.pass(seconds: 101)
        #expect(try await source(fixture) == .revalidated)
    }

    @Test("A temporary redirect without a lifetime of its own is sent again, and a permanent one isn't")
    func redirects() async throws {
        let picture = Numbered.data(1)
        let server = try LoopbackServer(routes: [
            "/302": .redirect(302, to: "/a"), "/301": .redirect(301, to: "/a"),
            "/a": .ok(picture, contentType: "image/png"),
        ])
        defer { server.stop() }
        let fixture = try ManagerFixture { $0.revalidationInterval = Self.standard }
        for (path, count) in [("/302", 4), ("/301", 2)] {
            let before = server.counters.requests
            for _ in 0..<2 { _ = try await source(fixture, ImageRequest(url: server.url(path))) }
            #expect(server.counters.requests - before == count)
        }
    }

    @Test("An interval of zero, a negative interval, and the configuration for servers revalidate each time")
    func off() async throws {
        for interval in [.zero, .seconds(-5), ImageManager.Configuration.server.revalidationInterval] {
            let loader = revalidatingLoader([])
            let fixture = try fixture(loader, interval: interval)
            _ = try await source(fixture)
            #expect(try await source(fixture) == .revalidated)
        }
    }

    // MARK: - Where the response is

    @Test("Data on disk counts until the manager is closed, and another manager revalidates it first")
    func restart() async throws {
        let loader = revalidatingLoader([])
        var fixture = try fixture(loader)
        _ = try await source(fixture)
        fixture.manager.memoryCache.removeAll()
        await fixture.manager.letsGo(of: ImageRequest(url: .sample))
        #expect(try await source(fixture) == .diskCache)
        #expect(loader.requests.count == 1)
        fixture = try await fixture.restarted {
            $0.loaders = [loader]
            $0.revalidationInterval = Self.standard
        }
        #expect(try await source(fixture) == .revalidated)
        fixture.manager.memoryCache.removeAll()
        await fixture.manager.letsGo(of: ImageRequest(url: .sample))
        #expect(try await source(fixture) == .diskCache)
        #expect(loader.conditions == [nil, "\"1\""])
    }

    @Test(
        "After a restart, a response without a validator serves requests until the interval since its receipt has passed",
        arguments: [nil, "Last-Modified: yesterday", "no-cache", "max-age=60"])
    func restartWithoutValidator(field: String?) async throws {
        let loader = StubLoader { _ in
            var head = HTTPResponseHead(statusCode: 200, headers: ["Content-Type": "image/png"])
            if field == "Last-Modified: yesterday" {
                head.headers["Last-Modified"] = "yesterday"
            } else {
                head.headers["Cache-Control"] = field
            }
            return StubLoader.Response(body: Numbered.data(1), httpResponse: head)
        }
        let configure = { @Sendable (configuration: inout ImageManager.Configuration) in
            configuration.loaders = [loader]
            configuration.revalidationInterval = Self.standard
        }
        var fixture = try ManagerFixture(configure)
        _ = try await source(fixture)
        fixture.pass(seconds: 200)
        fixture = try await fixture.restarted(configure)
        // The fields of the response decide if it has any.
        let isOpen = field == nil || field?.hasPrefix("Last-Modified") == true
        #expect(try await source(fixture) == (isOpen ? .diskCache : .network))
        guard isOpen else { return }
        fixture.pass(seconds: 99)
        #expect(try await source(fixture) == .memoryCache)
        fixture.pass(seconds: 1)
        fixture = try await fixture.restarted(configure)
        #expect(try await source(fixture) == .network)
        #expect(loader.requests.count == 2)
        // If the clock was set back, the time since the receipt is unknown.
        fixture.pass(seconds: -1_000)
        fixture = try await fixture.restarted(configure)
        #expect(try await source(fixture) == .network)
    }

    @Test("A removed image is loaded again")
    func removal() async throws {
        let loader = revalidatingLoader([])
        let fixture = try fixture(loader)
        _ = try await source(fixture)
        await fixture.manager.removeCachedImage(for: ImageRequest(url: .sample))
        await fixture.manager.letsGo(of: ImageRequest(url: .sample))
        #expect(try await source(fixture) == .network)
        #expect(loader.conditions == [nil, nil])
    }

    @Test("Other sizes and the data use the same response, and another partition loads its own")
    func keys() async throws {
        let loader = revalidatingLoader([])
        let fixture = try fixture(loader)
        _ = try await source(fixture)
        _ = try await source(fixture, ImageRequest(url: .sample, size: .fit(width: 3)))
        _ = try await fixture.manager.data(for: ImageRequest(url: .sample))
        _ = try await fixture.manager.encodedImage(for: ImageRequest(url: .sample), as: .png)
        #expect(loader.requests.count == 1)
        var other = ImageRequest(url: .sample)
        other.caching.partition = "ada"
        #expect(try await source(fixture, other) == .network)
        #expect(loader.conditions == [nil, nil])
    }

    @Test("Each variant counts separately")
    func variants() async throws {
        let loader = StubLoader { request in
            let isDark = request.headers["Theme"] == "dark"
            var response = Numbered.response(isDark ? 1 : 2)
            response.httpResponse?.headers["Cache-Control"] = nil
            response.httpResponse?.headers["Vary"] = "Theme"
            guard request.acceptsNotModified else { return response }
            response.httpResponse?.statusCode = 304
            response.chunks = []
            return response
        }
        let fixture = try fixture(loader)
        func request(_ theme: String) -> ImageRequest {
            var request = ImageRequest(url: .sample)
            request.headers["Theme"] = theme
            request.caching.keyHeaders = []
            return request
        }
        _ = try await source(fixture, request("dark"))
        fixture.pass(seconds: 200)
        _ = try await source(fixture, request("light"))
        #expect(try await source(fixture, request("light")) == .memoryCache)
        fixture.pass(seconds: 101)
        #expect(try await source(fixture, request("light")) == .memoryCache)
        #expect(loader.requests.count == 2)
        await fixture.manager.letsGo(of: request("dark"))
        #expect(try await source(fixture, request("dark")) == .revalidated)
        #expect(loader.requests.count == 3)
    }

    // MARK: - Requests

    @Test("`refresh` and `reload` contact the server, and begin the interval again")
    func policies() async throws {
        let loader = revalidatingLoader([])
        let fixture = try fixture(loader, interval: .seconds(100))
        _ = try await source(fixture)
        for (policy, expected) in [(CachePolicy.refresh, ImageResponse.Source.revalidated), (.reload, .network)] {
            fixture.pass(seconds: 60)
            var request = ImageRequest(url: .sample)
            request.cachePolicy = policy
            #expect(try await source(fixture, request) == expected)
            fixture.pass(seconds: 60)
            #expect(try await source(fixture) == .memoryCache)
        }
        #expect(loader.requests.count == 3)
    }

    @Test(
        "A request can require a revalidation",
        arguments: [
            ("Cache-Control", "no-cache"), ("Cache-Control", "max-age=5"), ("Cache-Control", "min-fresh=1"),
            ("Pragma", "no-cache"),
        ])
    func directives(name: String, value: String) async throws {
        let loader = revalidatingLoader([])
        let fixture = try fixture(loader)
        _ = try await source(fixture)
        fixture.pass(seconds: 10)
        var request = ImageRequest(url: .sample)
        request.headers[name] = value
        #expect(try await source(fixture, request) == .revalidated)
        #expect(loader.requests.count == 2)
    }

    @Test("A request that accepts only a cached response, or one of a sufficient age, receives it")
    func accepting() async throws {
        let loader = revalidatingLoader([])
        let fixture = try fixture(loader)
        _ = try await source(fixture)
        fixture.pass(seconds: 10)
        for value in ["only-if-cached", "max-age=60", "max-stale=5"] {
            var request = ImageRequest(url: .sample)
            request.headers["Cache-Control"] = value
            #expect(try await source(fixture, request) == .memoryCache)
        }
        #expect(loader.requests.count == 1)
    }
}

@Suite("The first use of a prefetched image", .timeLimit(.minutes(5)))
struct PrefetchedResponseTests {
    private func fixture(_ loader: StubLoader) throws -> ManagerFixture {
        try ManagerFixture { $0.loaders = [loader] }
    }

    private func prefetch(
        _ fixture: ManagerFixture, _ destination: ImagePrefetcher.Destination = .memoryCache
    ) async -> PrefetchTask.Progress {
        let prefetcher = ImagePrefetcher(manager: fixture.manager) { $0.network = NetworkConditions() }
        return await prefetcher.prefetch([ImageRequest(url: .sample)], to: destination).result
    }

    private func source(_ fixture: ManagerFixture, _ request: ImageRequest = ImageRequest(url: .sample)) async throws
        -> ImageResponse.Source
    {
        await fixture.manager.letsGo(of: request)
        return try await fixture.manager.response(for: request).source
    }

    @Test(
        "A prefetched image serves exactly one request without contacting the server, regardless of its freshness",
        arguments: [
            nil, "no-cache", "max-age=0", "must-revalidate, max-age=60", "max-age=60",
            "max-age=5, stale-while-revalidate=9",
        ],
        [ImagePrefetcher.Destination.memoryCache, .diskCache])
    func once(cacheControl: String?, destination: ImagePrefetcher.Destination) async throws {
        let loader = revalidatingLoader(cacheControl.map { [("Cache-Control", $0)] } ?? [])
        let fixture = try fixture(loader)
        #expect(await prefetch(fixture, destination).loadedCount == 1)
        fixture.pass(seconds: 1_000)
        #expect(try await source(fixture) == (destination == .memoryCache ? .memoryCache : .diskCache))
        #expect(loader.requests.count == 1)
        #expect(try await source(fixture) == .revalidated)
        #expect(loader.conditions == [nil, "\"1\""])
    }

    @Test("A response with `no-store` isn't prefetched, and a request without cached responses isn't served")
    func forbidden() async throws {
        let loader = revalidatingLoader([("Cache-Control", "no-store")])
        let fixture = try fixture(loader)
        _ = await prefetch(fixture)
        #expect(try await source(fixture) == .network)
        let open = revalidatingLoader([])
        let other = try self.fixture(open)
        _ = await prefetch(other)
        var request = ImageRequest(url: .sample)
        request.headers["Cache-Control"] = "no-cache"
        #expect(try await source(other, request) == .revalidated)
        #expect(open.requests.count == 2)
    }

    @Test("The first use can be a request for another size or for the data")
    func otherRequests() async throws {
        for wantsData in [false, true] {
            let loader = revalidatingLoader([])
            let fixture = try fixture(loader)
            _ = await prefetch(fixture)
            await fixture.manager.letsGo(of: ImageRequest(url: .sample))
            if wantsData {
                _ = try await fixture.manager.data(for: ImageRequest(url: .sample))
            } else {
                #expect(try await source(fixture, ImageRequest(url: .sample, size: .fit(width: 3))) == .diskCache)
            }
            #expect(loader.requests.count == 1)
            #expect(try await source(fixture) == .revalidated)
        }
    }

    @Test("A use while the image is fresh is the first use")
    func fresh() async throws {
        let loader = revalidatingLoader([("Cache-Control", "max-age=60")])
        let fixture = try fixture(loader)
        _ = await prefetch(fixture)
        #expect(try await source(fixture) == .memoryCache)
        fixture.pass(seconds: 61)
        #expect(try await source(fixture) == .revalidated)
    }

    @Test("Prefetching again allows another use, even if the image was still fresh")
    func again() async throws {
        let loader = revalidatingLoader([("Cache-Control", "max-age=60")])
        let fixture = try fixture(loader)
        _ = try await source(fixture)
        _ = try await source(fixture)
        fixture.pass(seconds: 59)
        for destination in [ImagePrefetcher.Destination.memoryCache, .diskCache] {
            #expect(await prefetch(fixture, destination).skippedCount == 1)
        }
        fixture.pass(seconds: 60)
        #expect(try await source(fixture) == .memoryCache)
        #expect(loader.requests.count == 1)
        #expect(try await source(fixture) == .revalidated)
        fixture.pass(seconds: 61)
        #expect(await prefetch(fixture).loadedCount == 1)
        fixture.pass(seconds: 61)
        #expect(try await source(fixture) == .memoryCache)
        #expect(loader.requests.count == 3)
    }

    @Test("A request that joins the prefetch is the first use")
    func joined() async throws {
        let gate = TestGate()
        let loader = revalidatingLoader([], gate: gate)
        let fixture = try fixture(loader)
        async let prefetched = prefetch(fixture)
        await loader.waitForRequests(count: 1)
        let visible = fixture.manager.load(.sample)
        await untilTrue { fixture.manager.statistics.coalescedLoads == 1 }
        gate.open()
        _ = try await visible.image
        #expect(await prefetched.loadedCount == 1)
        #expect(try await source(fixture) == .revalidated)
    }

    @Test("Another manager for the same directory revalidates a prefetched image")
    func restart() async throws {
        let loader = revalidatingLoader([])
        var fixture = try fixture(loader)
        _ = await prefetch(fixture, .diskCache)
        fixture = try await fixture.restarted { $0.loaders = [loader] }
        #expect(try await source(fixture) == .revalidated)
    }

    @Test("Interceptors don't change the rule")
    func interceptors() async throws {
        let loader = revalidatingLoader([])
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.interceptors = [ModelInterceptor()]
        }
        _ = await prefetch(fixture)
        fixture.pass(seconds: 1_000)
        #expect(try await source(fixture) == .memoryCache)
        #expect(try await source(fixture) == .revalidated)
    }

    @Test("An interceptor that doesn't apply to memory hits isn't called for the first use")
    func skippedInterceptor() async throws {
        let loader = revalidatingLoader([])
        let calls = Shared(0)
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.interceptors = [ModelInterceptor(), MissInterceptor(calls: calls)]
        }
        _ = await prefetch(fixture)
        fixture.pass(seconds: 1_000)
        let before = calls.value
        #expect(try await source(fixture) == .memoryCache)
        #expect(calls.value == before && loader.requests.count == 1)
        #expect(try await source(fixture) == .revalidated)
        #expect(calls.value == before + 1)
    }

    @Test(
        "A prefetched image in a higher quality serves one request on a slow network, after any number of lookups",
        arguments: [ImagePrefetcher.Destination.memoryCache, .diskCache])
    func quality(destination: ImagePrefetcher.Destination) async throws {
        let loader = revalidatingLoader([("Cache-Control", "no-cache")])
        let conditions = NetworkConditions()
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.networkConditions = conditions
        }
        let manager = fixture.manager
        #expect(await prefetch(fixture, destination).loadedCount == 1)
        await manager.letsGo(of: ImageRequest(url: .sample))
        conditions.isMetered = true
        var request = ImageRequest(url: .sample)
        let low = URL.sample.appending(path: "low")
        request.lowerQuality.urls = [low]
        _ = manager.cacheKey(for: request)
        _ = manager.cachedPlaceholder(for: request)
        #expect(await manager.cachedTiers(for: request).contains(.disk))
        let response = try await manager.response(for: request)
        #expect(response.url == .sample && response.source == (destination == .memoryCache ? .memoryCache : .diskCache))
        #expect(loader.requests.map(\.url) == [.sample])
        await manager.letsGo(of: ImageRequest(url: .sample))
        #expect(try await manager.response(for: request).url == low)
    }

    @Test("Prefetching a lower quality leaves the first use of a prefetched higher quality to a later request")
    func prefetchedQuality() async throws {
        let loader = revalidatingLoader([("Cache-Control", "no-cache")])
        let conditions = NetworkConditions()
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.networkConditions = conditions
        }
        #expect(await prefetch(fixture, .diskCache).loadedCount == 1)
        await fixture.manager.letsGo(of: ImageRequest(url: .sample))
        conditions.recordDownload(byteCount: 20_000, duration: .seconds(1))
        var request = ImageRequest(url: .sample)
        let low = URL.sample.appending(path: "low")
        request.lowerQuality.urls = [low]
        let prefetcher = ImagePrefetcher(manager: fixture.manager) { $0.network = NetworkConditions() }
        #expect(await prefetcher.prefetch([request], to: .diskCache).result.loadedCount == 1)
        #expect(loader.requests.map(\.url) == [.sample, low])
        #expect(try await source(fixture) == .diskCache)
        #expect(loader.requests.count == 2)
    }

    @Test("Of concurrent requests for a prefetched image, one uses it and the others revalidate it")
    func concurrentUses() async throws {
        let loader = revalidatingLoader([("Cache-Control", "no-cache")])
        let fixture = try fixture(loader)
        for _ in 0..<20 {
            _ = await prefetch(fixture)
            await fixture.manager.letsGo(of: ImageRequest(url: .sample))
            let manager = fixture.manager
            let used = try await withThrowingTaskGroup(of: ImageResponse.Source.self) { group in
                for _ in 0..<8 { group.addTask { try await manager.response(for: ImageRequest(url: .sample)).source } }
                return try await group.reduce(0) { $0 + ($1 == .memoryCache ? 1 : 0) }
            }
            #expect(used == 1)
        }
    }
}

/// An interceptor that counts its calls and isn't called for images in memory.
private struct MissInterceptor: ImageRequestInterceptor {
    let calls: Shared<Int>

    var appliesToMemoryHits: Bool { false }

    func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> ImageResponse {
        calls.update { $0 += 1 }
        return try await next(request)
    }
}

@Suite("The table of recent responses")
struct RecentResponsesTests {
    private func head(_ number: Int) -> StoredResponseHead {
        let time = Date(timeIntervalSince1970: 1_800_000_000 + Double(number))
        // The table decides only about responses with a validator.
        return StoredResponseHead(
            head: HTTPResponseHead(statusCode: 200, headers: ["ETag": "\"1\""]), finalURL: "http://example.org/",
            requestTime: time, responseTime: time)
    }

    @Test("A lookup of a prefetched response doesn't use it, and one use does")
    func use() {
        let table = RecentResponses()
        let (key, other) = (CacheKey(["a"]), CacheKey(["b"]))
        table.recordPrefetch(of: head(0), for: key, since: .now)
        for _ in 0..<2 {
            #expect(table.isUnusedPrefetch(head(0), for: key) && table.hasUnusedPrefetches)
            #expect(!table.isUnusedPrefetch(head(0), for: other) && !table.isUnusedPrefetch(head(1), for: key))
        }
        #expect(table.recordUse(of: head(0), for: key))
        #expect(!table.recordUse(of: head(0), for: key))
        #expect(!table.isUnusedPrefetch(head(0), for: key) && !table.hasUnusedPrefetches)
    }

    @Test("The oldest responses leave a full table, together with their unused prefetches")
    func limit() {
        let table = RecentResponses()
        let key = CacheKey(["a"])
        table.recordPrefetch(of: head(0), for: key, since: .now)
        #expect(table.hasUnusedPrefetches)
        for number in 1...RecentResponses.limit { table.record(head(number), for: key) }
        #expect(!table.hasUnusedPrefetches)
        #expect(!table.recordUse(of: head(0), for: key))
        let now = head(1).responseTime
        #expect(!table.contains(head(0), for: key, within: 100, now: now))
        #expect(table.contains(head(1), for: key, within: 100, now: now))
    }

    @Test("A clock that was set back by more than a minute ends the interval")
    func clock() {
        let table = RecentResponses()
        let key = CacheKey(["a"])
        table.record(head(0), for: key)
        let time = head(0).responseTime
        for (seconds, isRecent) in [(-61.0, false), (-59, true), (0, true), (99, true), (100, false)] {
            #expect(table.contains(head(0), for: key, within: 100, now: time + seconds) == isRecent, "\(seconds)")
        }
    }
}
