// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Several qualities of an image", .timeLimit(.minutes(5)))
struct LowerQualityTests {
    private let loader = StubLoader()
    private let conditions = NetworkConditions()

    init() {
        for number in 1...3 { loader.respond(to: url(number), with: Numbered.response(number)) }
    }

    /// The URL of a quality. Number 1 is the highest quality.
    private func url(_ number: Int) -> URL { URL.sample.appending(path: "\(number)") }

    private func configure(_ configuration: inout ImageManager.Configuration) {
        configuration.loaders = [loader]
        configuration.networkConditions = conditions
    }

    private func fixture() throws -> ManagerFixture { try ManagerFixture { configure(&$0) } }

    private var request: ImageRequest {
        var request = ImageRequest(url: url(1))
        request.lowerQuality.urls = [url(2), url(3)]
        return request
    }

    private var requested: [URL] { loader.requests.map(\.url) }

    // MARK: - Selection

    @Test("The throughput selects the quality, and a metered network selects the lowest one")
    func position() {
        func positions(_ count: Int, _ speeds: [Double?]) -> [Int] {
            let options = ImageRequest.LowerQuality(urls: (0..<count).map(url))
            return speeds.map { options.position(isMetered: false, throughput: $0) }
        }
        let speeds: [Double?] = [nil, 0, 50_000, 50_001, 274_999, 275_000, 275_001, 499_999, 500_000, 1e9]
        #expect(positions(0, speeds) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(positions(1, speeds) == [0, 1, 1, 1, 1, 0, 0, 0, 0, 0])
        #expect(positions(2, speeds) == [0, 2, 2, 1, 1, 1, 1, 1, 0, 0])
        #expect(positions(3, speeds) == [0, 3, 3, 2, 2, 2, 1, 1, 0, 0])
        var options = ImageRequest.LowerQuality(urls: [url(2), url(3)])
        #expect(options.position(isMetered: true, throughput: 1e9) == 2)
        options.isUsedOnMeteredNetworks = false
        #expect(options.position(isMetered: true, throughput: 1e9) == 0)
        options.throughputRange = nil
        #expect(options.position(isMetered: true, throughput: 1) == 0)
        options.throughputRange = 5...5
        #expect([4.0, 5, 6].map { options.position(isMetered: false, throughput: $0) } == [2, 0, 0])
        #expect(options.position(isMetered: false, throughput: .nan) < 3)
    }

    @Test("The throughput is a moving average of large downloads and expires after a minute")
    func average() {
        let time = Shared(0.0)
        let conditions = NetworkConditions(time: TimeSource(now: { Date() }, uptime: { time.value }))
        #expect(conditions.throughput == nil)
        conditions.recordDownload(byteCount: (16 << 10) - 1, duration: .seconds(1))
        conditions.recordDownload(byteCount: 100_000, duration: .zero)
        conditions.recordDownload(byteCount: 100_000, duration: .seconds(-1))
        #expect(conditions.throughput == nil)
        conditions.recordDownload(byteCount: 100_000, duration: .seconds(1))
        #expect(conditions.throughput == 100_000)
        conditions.recordDownload(byteCount: 400_000, duration: .seconds(2))
        #expect(conditions.throughput == 120_000)
        time.value = 59
        #expect(conditions.throughput == 120_000)
        time.value = 60
        #expect(conditions.throughput == nil)
        // The average begins again.
        conditions.recordDownload(byteCount: 50_000, duration: .seconds(1))
        #expect(conditions.throughput == 50_000)
    }

    @Test("Downloads of the manager are measured, and files aren't")
    func measured() async throws {
        let data = Numbered.data(1) + Data(count: 100_000)
        let server = try LoopbackServer(routes: ["/a": .ok(data, contentType: "image/png")])
        let fixture = try ManagerFixture { $0.networkConditions = conditions }
        let file = URL(filePath: fixture.directory.file("a.png"))
        try data.write(to: file)
        _ = try await fixture.manager.data(for: file)
        #expect(conditions.throughput == nil)
        _ = try await fixture.manager.data(for: server.url("/a"))
        #expect((conditions.throughput ?? 0) > 0)
    }

    @Test("The conditions at the start select the URL, which determines the key and the URL of the response")
    func selection() async throws {
        let fixture = try fixture()
        let best = fixture.manager.cacheKey(for: request)
        #expect(best == fixture.manager.cacheKey(for: ImageRequest(url: url(1))))
        conditions.isMetered = true
        #expect(fixture.manager.cacheKey(for: request) == fixture.manager.cacheKey(for: ImageRequest(url: url(3))))
        let task = fixture.manager.load(request)
        let response = try await task.response
        #expect(Numbered.number(of: response.image) == 3 && response.url == url(3) && task.request == request)
        conditions.isMetered = false
        conditions.recordDownload(byteCount: 100_000, duration: .seconds(1))
        #expect(try await fixture.manager.response(for: request).url == url(2))
        let other = try ManagerFixture {
            configure(&$0)
            $0.networkConditions = NetworkConditions()
        }
        #expect(try await other.manager.response(for: request).url == url(1))
        #expect(requested == [url(3), url(2), url(1)])
    }

    // MARK: - Caches

    /// The place of the image in the highest quality.
    enum Place: String, CaseIterable, Sendable { case nowhere, memory, disk, staleOnDisk }

    @Test(
        "On a metered network, a cached image in a higher quality serves the request if the policy allows it",
        arguments: Place.allCases, CachePolicy.allCases)
    func cached(_ place: Place, _ policy: CachePolicy) async throws {
        var fixture = try fixture()
        if place != .nowhere { _ = try await fixture.manager.image(for: url(1)) }
        if place != .memory { fixture = try await fixture.restarted { configure(&$0) } }
        if place == .staleOnDisk { fixture.pass(seconds: 61) }
        conditions.isMetered = true
        var request = request
        request.cachePolicy = policy
        let task = fixture.manager.load(request)
        let isUsed =
            switch policy {
            case .cacheFirst, .cacheOnly: place != .nowhere
            case .http: place == .memory || place == .disk
            case .refresh, .reload: false
            }
        if policy == .cacheOnly, !isUsed {
            #expect(await task.code == 3001)
        } else {
            #expect(try await task.response.url == (isUsed ? url(1) : url(3)))
            #expect(
                try await task.response.source == (!isUsed ? .network : place == .memory ? .memoryCache : .diskCache))
        }
        // The image in the highest quality isn't downloaded on the metered network.
        #expect(requested.count { $0 == url(1) } == (place == .nowhere ? 0 : 1))
    }

    @Test("A stored image in a higher quality serves every kind of request")
    func kinds() async throws {
        for kind in 0..<5 {
            var fixture = try fixture()
            _ = try await fixture.manager.image(for: url(1))
            fixture = try await fixture.restarted { configure(&$0) }
            conditions.isMetered = true
            let before = loader.requests.count
            switch kind {
            case 0: #expect(try await fixture.manager.data(for: request) == Numbered.data(1))
            case 1:
                let encoded = try await fixture.manager.encodedImage(for: request, as: .png).data
                #expect(Numbered.number(of: try ImageCoderRegistry.standard.decode(encoded)) == 1)
            case 2:
                let image = fixture.manager.loadCachedImageSynchronously(for: request)
                #expect(image.map(Numbered.number) == 1)
            case 3: #expect(await fixture.manager.cachedTiers(for: request) == .disk)
            default:
                var request = request
                request.includesOriginalData = true
                #expect(try await fixture.manager.response(for: request).originalData == Numbered.data(1))
            }
            #expect(loader.requests.count == before)
            conditions.isMetered = false
        }
    }

    @Test("Lookups return the highest quality in memory, and removals remove all qualities")
    func lookups() async throws {
        let fixture = try fixture()
        for number in [3, 2] {
            _ = try await fixture.manager.image(for: url(number))
            #expect(fixture.manager.cachedImage(for: request).map(Numbered.number) == number)
        }
        await fixture.manager.removeCachedImage(for: request, from: .memory)
        #expect(fixture.manager.cachedImage(for: request) == nil)
        await fixture.manager.removeCachedImage(for: request)
        for number in 1...3 {
            #expect(await fixture.manager.cachedTiers(for: ImageRequest(url: url(number))).isEmpty)
        }
        conditions.isMetered = true
        try await fixture.manager.store(Numbered.data(1), for: request)
        #expect(try await fixture.manager.response(for: request).url == url(1))
    }

    @Test("With a custom key, the qualities have different keys")
    func customKey() async throws {
        let fixture = try fixture()
        var request = request
        request.caching.key = "photo"
        conditions.isMetered = true
        #expect(try await fixture.manager.response(for: request).url == url(3))
        conditions.isMetered = false
        #expect(try await fixture.manager.response(for: request).url == url(1))
        var plain = ImageRequest(url: url(1))
        plain.caching.key = "photo"
        #expect(try await fixture.manager.response(for: plain).source == .memoryCache)
    }

    @Test(
        "If the configuration returns one key for several qualities, a lower quality doesn't serve a higher one",
        arguments: [1, 2, 3])
    func configuredKey(_ kind: Int) async throws {
        let (high, middle) = (url(1).absoluteString, url(2).absoluteString)
        let fixture = try ManagerFixture {
            configure(&$0)
            $0.makeCacheKey = { url in
                switch kind {
                // All qualities, only the lower ones, or two URLs of which one is the key of the other.
                case 1: "photo"
                case 2: url.absoluteString == high ? nil : "photo"
                default: url.absoluteString == high ? middle : nil
                }
            }
        }
        let manager = fixture.manager
        #expect(Set(request.qualities.map { manager.cacheKey(for: $0) }).count == 3)
        conditions.isMetered = true
        #expect(try await manager.response(for: request).url == url(3))
        conditions.isMetered = false
        conditions.recordDownload(byteCount: 100_000, duration: .seconds(1))
        #expect(Numbered.number(of: try await manager.image(for: request)) == 2)
        conditions.recordDownload(byteCount: 100_000_000, duration: .seconds(1))
        #expect(Numbered.number(of: try await manager.image(for: request)) == 1)
        #expect(requested == [url(3), url(2), url(1)])
        await manager.removeCachedImage(for: request)
        #expect(manager.cachedImage(for: request) == nil)
    }

    @Test("A key of the configuration that differs between the qualities isn't changed")
    func distinctKeys() throws {
        let fixture = try ManagerFixture {
            configure(&$0)
            $0.makeCacheKey = { "signed|\($0.path())" }
        }
        let manager = fixture.manager
        for (number, quality) in zip(1..., request.qualities) {
            #expect(manager.cacheKey(for: quality) == manager.cacheKey(for: ImageRequest(url: url(number))))
        }
    }

    // MARK: - Other features

    @Test("Interceptors receive the request of the caller, and the selection follows")
    func interceptors() async throws {
        let seen = Shared<[URL]>([])
        let fixture = try ManagerFixture {
            configure(&$0)
            $0.interceptors = [Watcher(seen: seen)]
        }
        conditions.isMetered = true
        #expect(try await fixture.manager.response(for: request).url == url(3))
        #expect(seen.value == [url(1)])
    }

    @Test("Concurrent requests for the same quality share the load, also if one selected it")
    func shared() async throws {
        let gate = TestGate()
        loader.respond(to: url(3), with: Numbered.response(3, responseGate: gate))
        let fixture = try fixture()
        conditions.isMetered = true
        let tasks = [fixture.manager.load(request), fixture.manager.load(url(3))]
        await fixture.manager.waitForLoads(2)
        // A later change of the conditions has no effect on running requests.
        conditions.isMetered = false
        gate.open()
        for task in tasks { #expect(await task.number == 3) }
        #expect(requested == [url(3)])
    }

    @Test("The alternatives of a request apply to the selected quality")
    func alternatives() async throws {
        loader.respond(to: url(3), with: StubLoader.Response(error: .network(.init(.offline, url: url(3)))))
        let fixture = try fixture()
        conditions.isMetered = true
        var request = request
        request.network.alternativeURLs = [url(2)]
        #expect(Numbered.number(of: try await fixture.manager.image(for: request)) == 2)
        #expect(requested == [url(3), url(2)])
    }

    @Test("A quality on another server receives no secret header fields")
    func otherOrigin() async throws {
        let body = try TestImages.png(1)
        let servers = try (0..<2).map { _ in try LoopbackServer { _ in .ok(body, contentType: "image/png") } }
        for isSameOrigin in [true, false] {
            let conditions = NetworkConditions()
            conditions.isMetered = true
            let fixture = try ManagerFixture { $0.networkConditions = conditions }
            var request = ImageRequest(url: servers[0].url("/high"))
            request.headers["Authorization"] = "Bearer 1"
            request.lowerQuality.urls = [servers[isSameOrigin ? 0 : 1].url("/low")]
            _ = try await fixture.manager.image(for: request)
        }
        #expect(servers.map { $0.requests.map { $0.headers["Authorization"] } } == [["Bearer 1"], [nil]])
    }

    @Test("Prefetchers pause with the conditions of their manager and prefetch the selected quality")
    func prefetcher() async throws {
        let fixture = try fixture()
        let prefetcher = ImagePrefetcher(manager: fixture.manager)
        conditions.isMetered = true
        #expect(prefetcher.isSuspended)
        conditions.isMetered = false
        #expect(!prefetcher.isSuspended)
        conditions.recordDownload(byteCount: 20_000, duration: .seconds(1))
        #expect(await prefetcher.prefetch([request]).result.loadedCount == 1)
        #expect(requested == [url(3)])
    }
}

/// An interceptor that records the URLs of requests.
private struct Watcher: ImageRequestInterceptor {
    let seen: Shared<[URL]>

    func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> ImageResponse {
        seen.update { $0.append(request.url) }
        return try await next(request)
    }
}
