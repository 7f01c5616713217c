// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("The cache entries of a request", .timeLimit(.minutes(5)))
struct CachedRequestTests {
    /// Returns a manager without a network, whose custom tier is `tier`.
    private func fixture(_ tier: RecordingTier, _ loader: StubLoader = StubLoader()) throws -> ManagerFixture {
        try ManagerFixture {
            $0.cacheTiers = [tier]
            $0.loaders = [loader]
        }
    }

    private func image(_ number: Int) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(Numbered.data(number))
    }

    private static let request = ImageRequest(url: .sample)

    private static let tierSets: [ImageCache.Tiers] = (0..<8).map { ImageCache.Tiers(rawValue: $0) }

    // MARK: - Keys

    @Test("The keys find the image in memory and the data and the processed image on disk")
    func keys() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try fixture(RecordingTier(), loader)
        let manager = fixture.manager
        var request = ImageRequest(url: .sample, size: .fit(width: 4))
        #expect(manager.cacheKeys(for: request).processed == nil)
        request.caching.processedEncoding = .png
        request.caching.waitsUntilStored = true
        let image = try await manager.image(for: request)
        let keys = manager.cacheKeys(for: request)
        #expect(manager.memoryCache.image(for: keys.image) === image)
        #expect(keys.original == manager.cacheKey(for: request))
        #expect(await manager.diskCache?.entry(for: keys.original)?.data == Numbered.data(1))
        let processed = try #require(keys.processed)
        #expect(await manager.diskCache?.entry(for: processed)?.format == .png)
        #expect(manager.cacheKeys(for: Self.request).original == keys.original)
        #expect(manager.cacheKeys(for: Self.request).image != keys.image)
    }

    // MARK: - Storing

    @Test("An image and its data are stored in the given tiers only", arguments: tierSets)
    func tiers(tiers: ImageCache.Tiers) async throws {
        let tier = RecordingTier()
        let fixture = try fixture(tier)
        let manager = fixture.manager
        let image = try image(1)
        try await manager.store(image, data: Numbered.data(1), for: Self.request, in: tiers)
        #expect(await manager.cachedTiers(for: Self.request) == tiers)
        #expect((manager.cachedImage(for: Self.request)?.pixels === image.pixels) == tiers.contains(.memory))
        let key = manager.cacheKey(for: Self.request)
        let expected = Numbered.data(1)
        #expect(await manager.diskCache?.entry(for: key)?.data == (tiers.contains(.disk) ? expected : nil))
        #expect(tier.stored == (tiers.contains(.custom) ? [expected] : []))
    }

    @Test("Stored data serves requests of every size after a restart without contacting the source")
    func sizes() async throws {
        let tier = RecordingTier()
        let loader = StubLoader()
        var fixture = try fixture(tier, loader)
        var stored = Self.request
        stored.caching.tags = ["stored"]
        try await fixture.manager.store(Numbered.data(7), for: stored, in: .disk)
        #expect(fixture.manager.cachedImage(for: Self.request) == nil)
        fixture = try await fixture.restarted { $0.loaders = [loader] }
        fixture.pass(seconds: 1_000_000)
        #expect(await fixture.manager.load(Self.request).number == 7)
        let small = try await fixture.manager.response(for: ImageRequest(url: .sample, size: .fit(width: 4)))
        #expect(small.image.size == PixelSize(width: 4, height: 3) && small.source == .diskCache)
        let entry = await fixture.manager.diskCache?.entry(for: fixture.manager.cacheKey(for: Self.request))
        #expect(entry?.tags == ["stored"])
        #expect(loader.requests.isEmpty)
    }

    @Test("An image without data is stored in an automatic encoding")
    func automatic() async throws {
        let loader = StubLoader()
        var fixture = try fixture(RecordingTier(), loader)
        let image = try image(5)
        try await fixture.manager.store(image, for: Self.request)
        #expect(fixture.manager.cachedImage(for: Self.request)?.pixels === image.pixels)
        fixture = try await fixture.restarted { $0.loaders = [loader] }
        let read = try await fixture.manager.response(for: Self.request)
        #expect(read.source == .diskCache && read.image.size == Numbered.size)
        #expect(loader.requests.isEmpty)
    }

    @Test("A final image without data is stored in the processed encoding, as if the request had loaded it")
    func processed() async throws {
        let loader = StubLoader()
        for encoding in [ImageEncoding.png, .jpeg(quality: 60)] {
            var fixture = try fixture(RecordingTier(), loader)
            var request = ImageRequest(url: .sample, transformers: [.flip(.horizontal)])
            request.caching.processedEncoding = encoding
            try await fixture.manager.store(try image(3), for: request)
            #expect(await fixture.manager.cachedTiers(for: request) == .all)
            #expect(await fixture.manager.cachedTiers(for: Self.request).isEmpty)
            let remembered = try #require(fixture.manager.cachedImage(for: request))
            fixture = try await fixture.restarted { $0.loaders = [loader] }
            let read = try await fixture.manager.response(for: request)
            #expect(read.source == .diskCache)
            #expect(bytes(read.image) == bytes(remembered))
        }
        #expect(loader.requests.isEmpty)
    }

    private func bytes(_ image: DecodedImage) -> Data { image.pixels.withUnsafeBytes { Data($0) } }

    @Test("A final image that isn't the original is stored in memory only, and other tiers need its data")
    func incomplete() async throws {
        let tier = RecordingTier()
        let fixture = try fixture(tier)
        let manager = fixture.manager
        var first = Self.request
        first.frames = .first
        let requests = [
            ImageRequest(url: .sample, size: .fit(width: 4)), first,
            ImageRequest(url: .sample, transformers: [.flip(.horizontal)]),
        ]
        for request in requests {
            await #expect(throws: ImageError.request(.invalidOption(name: "data", value: "nil"))) {
                try await manager.store(try image(1), for: request)
            }
            #expect(await manager.cachedTiers(for: request).isEmpty)
            try await manager.store(try image(2), for: request, in: .memory)
            #expect(await manager.cachedTiers(for: request) == .memory)
            #expect(await manager.load(request).number == 2)
        }
        #expect(tier.writes == 0)
    }

    @Test("Invalid data and data above the limits are rejected, and earlier data remains")
    func invalid() async throws {
        let fixture = try fixture(RecordingTier())
        let manager = fixture.manager
        try await manager.store(Numbered.data(1), for: Self.request)
        var limited = Self.request
        limited.limits = .desktop
        limited.limits?.maxEncodedBytes = 10
        for (data, request) in [(Data("text".utf8), Self.request), (Data(), Self.request), (Numbered.data(2), limited)]
        {
            await #expect(throws: ImageError.self) { try await manager.store(data, for: request) }
        }
        #expect(await manager.load(Self.request).number == 1)
    }

    @Test("New data replaces the data, its images of every size, and its processed images")
    func replaced() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        let manager = fixture.manager
        var processed = ImageRequest(url: .sample, size: .fit(width: 4))
        processed.caching.processedEncoding = .png
        processed.caching.waitsUntilStored = true
        let requests = [Self.request, processed, ImageRequest(url: .sample, size: .fit(width: 2))]
        for request in requests { #expect(await manager.load(request).number == 1) }
        await manager.rest()
        try await manager.store(Numbered.data(9), for: Self.request)
        for request in requests {
            #expect(manager.cachedImage(for: request) == nil)
            #expect(await manager.load(request).number == 9)
        }
        #expect(loader.requests.count == 1)
    }

    @Test("A request that was running when data was stored doesn't replace it")
    func running() async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1, responseGate: gate) }
        let fixture = try fixture(RecordingTier(), loader)
        let manager = fixture.manager
        let task = manager.load(Self.request)
        await loader.waitForRequests(count: 1)
        try await manager.store(try image(2), data: Numbered.data(2), for: Self.request)
        gate.open()
        #expect(await task.number == 1)
        await task.waitUntilStored()
        await manager.rest()
        #expect(manager.cachedImage(for: Self.request).map { Numbered.number(of: $0) } == 2)
        let key = manager.cacheKey(for: Self.request)
        #expect(await manager.diskCache?.entry(for: key)?.data == Numbered.data(2))
    }

    // MARK: - Finding and removing

    @Test("Removal from some tiers keeps the entries of the others", arguments: tierSets)
    func removal(tiers: ImageCache.Tiers) async throws {
        let fixture = try fixture(RecordingTier())
        let manager = fixture.manager
        var request = ImageRequest(url: .sample, size: .fit(width: 4))
        request.caching.processedEncoding = .png
        for stored in [Self.request, request] {
            try await manager.store(try image(1), data: Numbered.data(1), for: stored)
            #expect(await manager.cachedTiers(for: stored) == .all)
            await manager.removeCachedImage(for: stored, from: tiers)
            #expect(await manager.cachedTiers(for: stored) == ImageCache.Tiers.all.subtracting(tiers))
        }
    }

    /// Returns a request for the variant of a theme. Only `Vary` separates the responses, not the key.
    private func request(_ theme: String) -> ImageRequest {
        var request = Self.request
        request.headers["Theme"] = theme
        request.caching.keyHeaders = []
        request.caching.waitsUntilStored = true
        return request
    }

    /// Returns a loader whose response varies by theme.
    private func themedLoader() -> StubLoader {
        StubLoader { request in
            var response = Numbered.response(request.headers["Theme"] == "dark" ? 2 : 1)
            response.httpResponse?.headers["Vary"] = "Theme"
            return response
        }
    }

    @Test("The tiers of a response are found regardless of its age, and only for requests that it matches")
    func found() async throws {
        let fixture = try ManagerFixture { $0.loaders = [themedLoader()] }
        let manager = fixture.manager
        #expect(await manager.cachedTiers(for: request("light")).isEmpty)
        #expect(await manager.load(request("light")).number == 1)
        fixture.pass(seconds: 1_000_000)
        #expect(await manager.cachedTiers(for: request("light")) == [.memory, .disk])
        #expect(await manager.cachedTiers(for: request("dark")).isEmpty)
    }

    // MARK: - Custom values

    @Test("A custom value is read by request, survives a restart and a revalidation, and leaves with the data")
    func userData() async throws {
        let (value, cacheControl) = (Data("value".utf8), "max-age=60")
        let loader = StubLoader { request in
            var response = Numbered.response(1, cacheControl: cacheControl)
            if request.acceptsNotModified {
                response.httpResponse?.statusCode = 304
                response.chunks = []
            }
            return response
        }
        let tier = RecordingTier()
        var fixture = try fixture(tier, loader)
        let small = ImageRequest(url: .sample, size: .fit(width: 4))
        try await fixture.manager.setUserData(value, for: Self.request)
        #expect(await fixture.manager.userData(for: Self.request) == nil)
        var stored = Self.request
        stored.caching.waitsUntilStored = true
        _ = try await fixture.manager.image(for: stored)
        try await fixture.manager.setUserData(value, for: small)
        #expect(await fixture.manager.userData(for: Self.request) == value)
        #expect(
            await tier.entry(for: fixture.manager.cacheKey(for: small), matching: HTTPHeaderFields())?.userData == value
        )
        await fixture.manager.diskCache?.flush()
        fixture = try await fixture.restarted { $0.loaders = [loader] }
        fixture.pass(seconds: 70)
        #expect(try await fixture.manager.response(for: stored).source == .revalidated)
        #expect(await fixture.manager.userData(for: small) == value)
        let failure = ImageError.LimitFailure(.userDataSize, limit: 1 << 20, actual: 2 << 20)
        await #expect(throws: ImageError.limitExceeded(failure)) {
            try await fixture.manager.setUserData(Data(count: 2 << 20), for: small)
        }
        #expect(await fixture.manager.userData(for: small) == value)
        try await fixture.manager.setUserData(nil, for: small)
        #expect(await fixture.manager.userData(for: small) == nil)
        try await fixture.manager.setUserData(value, for: small)
        try await fixture.manager.store(Numbered.data(2), for: small)
        #expect(await fixture.manager.userData(for: small) == nil)
    }

    @Test("Responses that header fields select have custom values of their own")
    func variants() async throws {
        let fixture = try ManagerFixture { $0.loaders = [themedLoader()] }
        let manager = fixture.manager
        let requests = ["light", "dark"].map { request($0) }
        for (index, request) in requests.enumerated() { #expect(await manager.load(request).number == index + 1) }
        for (index, request) in requests.enumerated() {
            try await manager.setUserData(Data([UInt8(index)]), for: request)
        }
        for (index, request) in requests.enumerated() {
            #expect(await manager.userData(for: request) == Data([UInt8(index)]))
        }
    }
}
