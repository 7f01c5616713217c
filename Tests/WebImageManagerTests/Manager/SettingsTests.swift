// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A coder for data of one letter, which becomes an image of one pixel with the number of the coder.
private struct LetterCoder: ImageCoder {
    let number: Int
    var gate: TestGate?

    var identifier: String { "letter" }

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == nil && prefix.first == UInt8(ascii: "L") }

    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        gate?.blockingWait()
        do {
            return DecodedImage(pixels: try TestImages.pixels(number, width: 2, height: 2))
        } catch {
            throw .decoding(.noData)
        }
    }

    func canEncode(_ format: ImageFormat) -> Bool { false }

    func encode(_ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        throw .processing(.noEncoder(.png))
    }
}

/// A loader for one scheme that returns an image with its number.
private struct SchemeLoader: ImageLoader {
    let number: Int
    var gate: TestGate?

    func canLoad(_ url: URL) -> Bool { url.scheme == "asset" }

    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        await gate?.wait()
        return LoadResponse(body: Numbered.data(number), url: request.url)
    }
}

/// A loader, a coder, and a cache tier in one, which calls a closure when it's released.
private final class Departing: ImageLoader, ImageCoder, CacheTier {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    deinit { action() }

    var identifier: String { "departing" }

    func canLoad(_ url: URL) -> Bool { false }
    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        throw .cancelled
    }

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { false }
    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        throw .decoding(.noData)
    }
    func canEncode(_ format: ImageFormat) -> Bool { false }
    func encode(_ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        throw .processing(.noEncoder(.png))
    }

    func entry(for key: CacheKey, matching request: HTTPHeaderFields) async -> CacheEntry? { nil }
    func store(_ entry: CacheEntry, matching: HTTPHeaderFields) async {}
    func remove(_ key: CacheKey, matching request: HTTPHeaderFields?) async {}
    func removeAll() async {}
}

@Suite("Settings of a running manager", .timeLimit(.minutes(5)))
struct SettingsTests {
    @Test("Loaders, coders, and tiers that are replaced can use the manager when they are released")
    func release() throws {
        let fixture = try ManagerFixture()
        let manager = fixture.manager
        let released = Shared(0)
        let action: @Sendable () -> Void = { [weak manager] in
            manager?.update { $0.headers["X-Released"] = "1" }
            released.update { $0 += manager?.settings.headers["X-Released"] == "1" ? 1 : 0 }
        }
        manager.update { settings in
            settings.loaders = [Departing(action)]
            settings.coders.register(Departing(action))
            settings.cacheTiers = [Departing(action)]
        }
        #expect(released.value == 0)
        manager.update { settings in
            settings.loaders = []
            settings.coders.unregister("departing")
            settings.cacheTiers = []
        }
        #expect(released.value == 3)
    }

    private func request(_ url: URL, _ policy: CachePolicy? = nil) -> ImageRequest {
        var request = ImageRequest(url: url)
        request.cachePolicy = policy
        return request
    }

    private func image(_ number: Int, _ gate: TestGate? = nil) -> LoopbackServer.Response {
        .ok(Numbered.data(number), contentType: "image/png").with { $0.headGate = gate }
    }

    @Test("Settings begin with the values of the configuration, and a change replaces only what it names")
    func values() async throws {
        let tier = RecordingTier()
        let fixture = try ManagerFixture { configuration in
            configuration.downloader.headers["A"] = "1"
            configuration.downloader.maxConnectionsPerHost = 3
            configuration.downloader.maxConnections = 9
            configuration.cacheTiers = [tier]
            configuration.memoryCache.countLimit = 50
            configuration.diskCache?.sizeLimit = 5 << 20
        }
        let manager = fixture.manager
        let before = manager.settings
        #expect(before.headers["A"] == "1" && before.maxConnectionsPerHost == 3 && before.maxConnections == 9)
        #expect(before.loaders.isEmpty && before.cacheTiers.count == 1)
        #expect(before.coders.identifiers == manager.configuration.coders.identifiers)
        #expect(before.memoryCache.countLimit == 50 && before.diskCache?.sizeLimit == 5 << 20)
        let revision = manager.pipeline.defaults.settings.current.revision
        manager.update { settings in
            settings.headers["A"] = "2"
            settings.maxConnections = 0
            settings.memoryCache.countLimit = 10
            settings.diskCache?.countLimit = 7
        }
        #expect(manager.downloader.headers["A"] == "2" && manager.downloader.maxConnections == 1)
        #expect(manager.downloader.maxConnectionsPerHost == 3)
        #expect(manager.memoryCache.configuration.countLimit == 10)
        #expect(manager.diskCache?.limits.countLimit == 7 && manager.diskCache?.limits.sizeLimit == 5 << 20)
        // The coders and loaders didn't change, so new requests join the work of running ones.
        #expect(manager.pipeline.defaults.settings.current.revision == revision)
        #expect(manager.configuration.downloader.headers["A"] == "1")
    }

    @Test("Changed header fields apply to later requests, which don't join the download of an earlier one")
    func headers() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { request in
            image(request.headers["X-Number"].flatMap { Int($0) } ?? 0, gate)
        }
        let fixture = try ManagerFixture { $0.downloader.headers["X-Number"] = "1" }
        let manager = fixture.manager
        let old = manager.load(server.url("/a"))
        await server.waitForRequests(count: 1)
        manager.update { $0.headers["X-Number"] = "2" }
        let new = (0..<2).map { _ in manager.load(server.url("/a")) }
        await server.waitForRequests(count: 2)
        gate.open()
        #expect(await old.number == 1)
        for task in new { #expect(await task.number == 2) }
        #expect(server.counters.requests == 2)
    }

    @Test("An image that was loaded with other header fields is returned neither from memory nor from disk")
    func headersSeparateUsers() async throws {
        let server = try LoopbackServer { request in
            image(request.headers["Authorization"].flatMap { Int($0) } ?? 0).with {
                $0.headers["Cache-Control"] = "max-age=1000"
            }
        }
        let fixture = try ManagerFixture()
        let manager = fixture.manager
        func load() async throws -> Int? {
            let task = manager.load(server.url("/a"))
            _ = try await task.response
            await task.waitUntilStored()
            return await task.number
        }
        #expect(try await load() == 0)
        for user in 1...2 {
            manager.update { $0.headers["Authorization"] = "\(user)" }
            #expect(manager.cachedImage(for: server.url("/a")) == nil)
            #expect(try await load() == user)
        }
        #expect(server.counters.requests == 3)
        // Each user has entries in memory and on disk, which a header field without effect on the data doesn't hide.
        for user in [1, 0, 2] {
            manager.update { settings in
                settings.headers["Authorization"] = user == 0 ? nil : "\(user)"
                settings.headers["User-Agent"] = "Example/\(user)"
            }
            #expect(try await load() == user)
            manager.memoryCache.removeAll()
            #expect(try await load() == user)
        }
        #expect(server.counters.requests == 3)
    }

    @Test("Managers with different configured header fields don't share images in a cache directory")
    func configuredHeadersSeparateUsers() async throws {
        let server = try LoopbackServer { request in
            image(request.headers["Authorization"].flatMap { Int($0) } ?? 0).with {
                $0.headers["Cache-Control"] = "max-age=1000"
            }
        }
        let directory = URL.temporaryDirectory.appending(path: "webimage-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        for _ in 1...2 {
            for user in [nil, "1", "2"] {
                let fixture = try ManagerFixture { configuration in
                    configuration.diskCache?.directory = directory
                    configuration.downloader.headers["Authorization"] = user
                    // A header field without effect on the data doesn't separate the images.
                    configuration.downloader.headers["User-Agent"] = UUID().uuidString
                }
                let task = fixture.manager.load(server.url("/a"))
                #expect(await task.number == user.flatMap { Int($0) } ?? 0)
                await task.waitUntilStored()
                await fixture.manager.shutdown()
            }
        }
        #expect(server.counters.requests == 3)
    }

    @Test("A request that was made before header fields change is stored for the earlier ones")
    func headersAfterPlan() async throws {
        let server = try LoopbackServer { request in
            image(request.headers["Authorization"].flatMap { Int($0) } ?? 0)
        }
        let manager = try ManagerFixture().manager
        let plan = RequestPlan(request(server.url("/a")), manager.pipeline.defaults)
        manager.update { $0.headers["Authorization"] = "1" }
        #expect(await manager.pipeline.start(plan, known: nil).number == 0)
        #expect(await manager.load(server.url("/a")).number == 1)
        #expect(server.requests.map { $0.headers["Authorization"] } == [nil, "1"])
    }

    @Test("A request that waits in the cache lookup when header fields change is sent with the earlier ones")
    func headersDuringLookup() async throws {
        let server = try LoopbackServer { request in
            image(request.headers["X-Number"].flatMap { Int($0) } ?? 0)
        }
        let gate = TestGate()
        let tier = RecordingTier(lookupGate: gate)
        let fixture = try ManagerFixture { configuration in
            configuration.downloader.headers["X-Number"] = "1"
            configuration.cacheTiers = [tier]
        }
        let old = fixture.manager.load(server.url("/a"))
        await untilTrue { tier.lookups == 1 }
        fixture.manager.update { $0.headers["X-Number"] = "2" }
        gate.open()
        #expect(await old.number == 1)
    }

    @Test("Data of a request with earlier header fields doesn't serve a later request that waits in the cache lookup")
    func arrivalDuringLookup() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { request in
            image(request.headers["X-Number"].flatMap { Int($0) } ?? 0, request.headers["X-Number"] == "1" ? gate : nil)
        }
        let tier = RecordingTier()
        let fixture = try ManagerFixture { configuration in
            configuration.downloader.headers["X-Number"] = "1"
            configuration.cacheTiers = [tier]
            configuration.diskCache = nil
        }
        let manager = fixture.manager
        let held = TestGate()
        var first = ImageRequest(url: server.url("/a"))
        // The data remains in use while the transformer waits.
        first.transformers = [HoldingTransformer(held)]
        first.caching.originalWriteTo = []
        let old = manager.load(first)
        await server.waitForRequests(count: 1)
        manager.update { $0.headers["X-Number"] = "2" }
        let lookup = TestGate()
        tier.blockLookups(lookup)
        // The lookup of the processed image precedes the check for data that is in use.
        var second = ImageRequest(url: server.url("/a"))
        second.caching.processedEncoding = .png
        let lookups = tier.lookups
        let new = manager.load(second)
        await untilTrue { tier.lookups > lookups }
        gate.open()
        await untilTrue { manager.statistics.loadedByteCount > 0 }
        lookup.open()
        #expect(await new.number == 2)
        held.open()
        #expect(await old.number == 1)
    }

    @Test("A request with a downloader of its own is sent with the header fields of that downloader")
    func otherDownloader() async throws {
        let server = try LoopbackServer { request in
            image(request.headers["X-Number"].flatMap { Int($0) } ?? 0)
        }
        let fixture = try ManagerFixture { $0.downloader.headers["X-Number"] = "1" }
        var configuration = ImageDownloader.Configuration()
        configuration.proxy = .disabled
        configuration.headers["X-Number"] = "9"
        var request = ImageRequest(url: server.url("/a"))
        request.loader = ImageDownloader(configuration: configuration)
        #expect(await fixture.manager.load(request).number == 9)
    }

    @Test("Responses that vary by a header field of the settings are cached for each of its values")
    func variants() async throws {
        let server = try LoopbackServer { request in
            let number = request.headers["X-Number"].flatMap { Int($0) } ?? 0
            return image(number).with {
                $0.headers["Vary"] = "X-Number"
                $0.headers["Cache-Control"] = "max-age=1000"
            }
        }
        let fixture = try ManagerFixture()
        let manager = fixture.manager
        for number in [1, 2, 1, 2] {
            manager.update { $0.headers["X-Number"] = "\(number)" }
            #expect(await manager.load(server.url("/a")).number == number)
            await manager.rest()
        }
        #expect(server.counters.requests == 2)
        #expect(manager.cachedImage(for: server.url("/a")) != nil)
        manager.update { $0.headers["X-Number"] = "3" }
        #expect(manager.cachedImage(for: server.url("/a")) == nil)
    }

    @Test("A negative cache entry doesn't apply after a change of the header fields")
    func failures() async throws {
        let server = try LoopbackServer { request in
            request.headers["X-Number"] == "7" ? image(7) : .status(404)
        }
        let fixture = try ManagerFixture()
        let manager = fixture.manager
        let request = ImageRequest(url: server.url("/a"))
        let code = try #require(await manager.code(of: request))
        #expect(await manager.code(of: request) == -code && server.counters.requests == 1)
        manager.update { $0.headers["X-Number"] = "7" }
        #expect(await manager.load(request).number == 7)
    }

    @Test("A registered coder decodes data that was remembered as undecodable, and running decodes aren't disturbed")
    func coders() async throws {
        let loader = StubLoader { _ in .init(Data("L".utf8)) }
        let fixture = try ManagerFixture { configuration in
            configuration.loaders = [loader]
            // One decode waits for a gate.
            configuration.workerThreadCount = 4
        }
        let manager = fixture.manager
        let request = ImageRequest(url: .sample)
        let code = try #require(await manager.code(of: request))
        #expect(await manager.code(of: request) == -code && loader.requests.count == 1)
        let gate = TestGate()
        manager.update { $0.coders.register(LetterCoder(number: 1, gate: gate)) }
        let first = manager.load(request)
        await untilTrue { manager.pipeline.workers.load > 0 }
        manager.update { settings in
            settings.coders.unregister("letter")
            settings.coders.register(LetterCoder(number: 2))
        }
        var second = request
        second.cachePolicy = .reload
        #expect(await manager.load(second).letterNumber == 2)
        gate.open()
        #expect(await first.letterNumber == 1)
        await manager.removeAllCachedImages()
        manager.update { $0.coders.unregister("letter") }
        #expect(await manager.code(of: request) == code)
    }

    @Test("An added loader serves later requests, and a removed one finishes its running loads")
    func loaders() async throws {
        let fixture = try ManagerFixture()
        let manager = fixture.manager
        let url = try #require(URL(string: "asset:/a"))
        let request = request(url, .reload)
        #expect(await manager.code(of: request) == ImageError.request(.unsupportedScheme("asset")).code)
        let gate = TestGate()
        manager.update { $0.loaders.append(SchemeLoader(number: 1, gate: gate)) }
        let first = manager.load(request)
        await manager.waitForLoads(1)
        manager.update { $0.loaders = [SchemeLoader(number: 2)] }
        // The same URL isn't joined with the load of the earlier loader.
        #expect(await manager.load(request).number == 2)
        manager.update { $0.loaders = [] }
        #expect(await manager.code(of: request) == ImageError.request(.unsupportedScheme("asset")).code)
        gate.open()
        #expect(await first.number == 1)
    }

    @Test("A cache tier that is added receives and serves data, and a removed one isn't used")
    func tiers() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture { configuration in
            configuration.loaders = [loader]
            configuration.diskCache = nil
        }
        let manager = fixture.manager
        let tier = RecordingTier()
        var request = ImageRequest(url: .sample)
        request.caching.waitsUntilStored = true
        // The data of an earlier load may still be in use.
        request.caching.originalReadFrom.remove(.memory)
        manager.update { $0.cacheTiers.append(tier) }
        #expect(await manager.load(request).number == 1)
        #expect(tier.count == 1)
        manager.memoryCache.removeAll()
        #expect(try await manager.response(for: request).source == .cacheTier)
        let lookups = tier.lookups
        manager.update { $0.cacheTiers = [] }
        manager.memoryCache.removeAll()
        #expect(await manager.load(request).number == 1)
        #expect(tier.lookups == lookups && loader.requests.count == 2 && tier.count == 1)
    }

    @Test("A request doesn't join a cache lookup that began before a tier was added")
    func tierDuringLookup() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let gate = TestGate()
        let slow = RecordingTier(lookupGate: gate)
        let fixture = try ManagerFixture { configuration in
            configuration.loaders = [loader]
            configuration.cacheTiers = [slow]
            configuration.diskCache = nil
        }
        let manager = fixture.manager
        let request = ImageRequest(url: .sample)
        let first = manager.load(request)
        await untilTrue { slow.lookups == 1 }
        let added = RecordingTier()
        await added.store(
            CacheEntry(key: manager.cacheKey(for: request), data: Numbered.data(5)), matching: HTTPHeaderFields())
        manager.update { $0.cacheTiers = [added] }
        #expect(await manager.load(request).number == 5)
        gate.open()
        #expect(await first.number == 1)
    }

    @Test("Limits of the caches apply while requests run")
    func limits() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        let manager = fixture.manager
        func load(_ range: Range<Int>) async {
            for number in range {
                guard let url = URL(string: "https://limits.test/\(number)") else { continue }
                #expect(await manager.load(url).number == 1)
            }
        }
        await load(0..<10)
        #expect(manager.memoryCache.statistics.count == 10)
        async let running: Void = load(10..<40)
        manager.update { settings in
            settings.memoryCache.countLimit = 4
            settings.diskCache?.countLimit = 6
        }
        await running
        #expect(manager.memoryCache.statistics.count <= 4)
        let disk = try #require(manager.diskCache)
        while await disk.info().entryCount > 6, !Task.isCancelled { await Task.yield() }
        #expect(await disk.info().entryCount > 0)
    }

    @Test("Concurrent changes of different settings are all applied")
    func concurrentChanges() async throws {
        let fixture = try ManagerFixture()
        let manager = fixture.manager
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask { manager.update { $0.headers["X-\(number)"] = "\(number)" } }
                group.addTask { manager.update { $0.loaders.append(SchemeLoader(number: number)) } }
                group.addTask { manager.update { $0.coders.register(LetterCoder(number: number)) } }
            }
        }
        let settings = manager.settings
        #expect((0..<20).allSatisfy { settings.headers["X-\($0)"] == "\($0)" } && settings.loaders.count == 20)
        #expect(settings.coders.identifiers.filter { $0 == "letter" }.count == 20)
        #expect(Set(settings.loaders.compactMap { ($0 as? SchemeLoader)?.number }) == Set(0..<20))
    }
}

extension ImageTask {
    /// The number of the resulting image, regardless of its size.
    fileprivate var letterNumber: Int? {
        get async { (try? await image).map { Numbered.number(of: $0) } }
    }
}
