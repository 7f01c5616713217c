// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("The history of an image", .timeLimit(.minutes(5)))
struct ImageHistoryTests {
    private let loader = StubLoader { _ in Numbered.response(1) }

    private func fixture() throws -> ManagerFixture { try ManagerFixture { [loader] in $0.loaders = [loader] } }

    @Test("An image has the decode options of its request, its original size, and whether it was reduced")
    func reduced() async throws {
        let fixture = try fixture()
        let whole = try await fixture.manager.image(for: .sample)
        #expect(!whole.isReduced && !whole.isTransformed && whole.transformerIdentifiers.isEmpty)
        #expect(whole.originalSize == Numbered.size)
        var request = ImageRequest(url: .sample, size: .fit(width: 4))
        request.decoding.resampling = .box
        let small = try await fixture.manager.image(for: request)
        #expect(small.isReduced && small.size.width == 4 && small.originalSize == Numbered.size)
        #expect(small.decodingOptions == request.decoding)
        #expect(whole.decodingOptions == ImageRequest(url: .sample).decoding)
        // A size that isn't smaller reduces nothing.
        let same = try await fixture.manager.image(for: ImageRequest(url: .sample, size: .fit(width: 100)))
        #expect(!same.isReduced)
    }

    @Test("Transformers are listed in order, and they don't count as a reduction")
    func transformed() async throws {
        let fixture = try fixture()
        let transformers: [StandardTransformer] = [.flip(.horizontal), .resize(.fit(width: 2))]
        let image = try await fixture.manager.image(for: ImageRequest(url: .sample, transformers: transformers))
        #expect(image.isTransformed && !image.isReduced && image.originalSize == Numbered.size)
        #expect(image.transformerIdentifiers == transformers.map(\.identifier))
    }

    @Test("A transformer that leaves an animation unchanged isn't listed")
    func excluded() async throws {
        let gif = try Migration.gif()
        let fixture = try ManagerFixture { $0.loaders = [StubLoader { _ in StubLoader.Response(gif) }] }
        var request = ImageRequest(url: .sample)
        request.transformers = [StandardTransformer.flip(.horizontal).excludingAnimations()]
        #expect(try await fixture.manager.image(for: request).transformerIdentifiers.isEmpty)
        request.frames = .first
        #expect(try await fixture.manager.image(for: request).isTransformed)
    }

    @Test("A vector image, and an image that the application created, aren't reduced")
    func others() async throws {
        let image = DecodedImage(pixels: try TestImages.pixels(1, width: 20, height: 10))
        #expect(image.decodingOptions == nil && !image.isReduced && !image.isTransformed)
        #expect(image.originalSize == PixelSize(width: 20, height: 10))
        let fixture = try fixture()
        var request = ImageRequest(cacheKey: "made") { image }
        request.size = .fit(width: 10)
        let small = try await fixture.manager.image(for: request)
        #expect(small.isReduced && small.decodingOptions == nil && small.transformerIdentifiers.isEmpty)
        #expect(small.originalSize == PixelSize(width: 20, height: 10))
    }

    @Test(
        "A processed image on disk has the same history as after its download", arguments: [ImageEncoding.png, .jpeg])
    func processed(encoding: ImageEncoding) async throws {
        var fixture = try fixture()
        var request = ImageRequest(url: .sample, size: .fit(width: 4), transformers: [.flip(.horizontal)])
        request.caching.processedEncoding = encoding
        request.caching.waitsUntilStored = true
        let loaded = try await fixture.manager.image(for: request)
        fixture = try await fixture.restarted { [loader] in $0.loaders = [loader] }
        let read = try await fixture.manager.response(for: request)
        #expect(read.source == .diskCache && fixture.manager.statistics.transforms == 0)
        #expect(read.image.isReduced && read.image.originalSize == Numbered.size)
        #expect(read.image.decodingOptions == loaded.decodingOptions)
        #expect(read.image.transformerIdentifiers == loaded.transformerIdentifiers)
        #expect(loaded.transformerIdentifiers == [StandardTransformer.flip(.horizontal).identifier])
    }
}

@Suite("The first frame of an animation in memory", .timeLimit(.minutes(5)))
struct FirstFrameTests {
    /// Returns a fixture whose loader responds with an animation, and the loader.
    private func fixture() throws -> (ManagerFixture, StubLoader) {
        let gif = try Migration.gif()
        let loader = StubLoader { _ in
            StubLoader.Response(body: gif, httpResponse: Numbered.head(1, cacheControl: "max-age=60"))
        }
        return (try ManagerFixture { $0.loaders = [loader] }, loader)
    }

    private func request(_ frames: FrameSelection, width: Double? = nil) -> ImageRequest {
        var request = ImageRequest(url: .sample, size: width.map { .fit(width: $0) })
        request.frames = frames
        return request
    }

    @Test("An animation in memory serves its first frame without a decode, and remains in memory")
    func served() async throws {
        let (fixture, loader) = try fixture()
        let animation = try await fixture.manager.image(for: request(.all, width: 20))
        let decodes = fixture.manager.statistics.decodes
        let task = fixture.manager.load(request(.first, width: 20))
        let response = try #require(try task.result?.get())
        #expect(response.source == .memoryCache && !response.image.isAnimated)
        #expect(response.image.pixels === animation.pixels)
        #expect(response.image.decodingOptions?.frames == .first)
        #expect(fixture.manager.cachedImage(for: request(.first, width: 20))?.isAnimated == false)
        #expect(fixture.manager.cachedImage(for: request(.all, width: 20)) === animation)
        #expect(fixture.manager.statistics.decodes == decodes && loader.requests.count == 1)
        #expect(fixture.manager.memoryCache.statistics.count == 1)
    }

    @Test("The first frame equals the one that a decode of the first frame produces")
    func equal() async throws {
        let (fixture, _) = try fixture()
        let decoded = try await fixture.manager.image(for: request(.first))
        fixture.manager.memoryCache.removeAll()
        _ = try await fixture.manager.image(for: request(.all))
        let served = try #require(fixture.manager.cachedImage(for: request(.first)))
        #expect(served !== decoded && served.pixels.packedBytes() == decoded.pixels.packedBytes())
    }

    @Test("Another size, other frames, other options, and other transformers need their own decode")
    func others() async throws {
        let (fixture, _) = try fixture()
        _ = try await fixture.manager.image(for: request(.all, width: 20))
        var converted = request(.first, width: 20)
        converted.decoding.color = .source
        var flipped = request(.first, width: 20)
        flipped.transformers = [.flip(.horizontal)]
        var bypassing = request(.first, width: 20)
        bypassing.caching.readFrom = []
        for other in [request(.first, width: 10), request(.index(0), width: 20), converted, flipped, bypassing] {
            #expect(fixture.manager.cachedImage(for: other) == nil)
            #expect(try await fixture.manager.response(for: other).source != .network)
        }
    }

    @Test("Transformers that changed the animation serve the first frame, and those that excluded it don't")
    func transformers() async throws {
        let (fixture, _) = try fixture()
        for excludes in [false, true] {
            let flip = StandardTransformer.flip(.vertical)
            var whole = request(.all)
            whole.transformers = excludes ? [flip.excludingAnimations()] : [flip]
            var first = whole
            first.frames = .first
            let animation = try await fixture.manager.image(for: whole)
            let cached = fixture.manager.cachedImage(for: first)
            #expect((cached?.pixels === animation.pixels) == !excludes)
        }
    }

    @Test("A stale animation is revalidated, and the first frame doesn't replace it")
    func stale() async throws {
        let (fixture, loader) = try fixture()
        let animation = try await fixture.manager.image(for: request(.all))
        fixture.pass(seconds: 61)
        let image = try await fixture.manager.image(for: request(.first))
        #expect(!image.isAnimated && loader.requests.last?.headers["If-None-Match"] == "\"1\"")
        #expect(fixture.manager.cachedImage(for: request(.all)) === animation)
    }
}

@Suite("Times to live of requests", .timeLimit(.minutes(5)))
struct TimeToLiveTests {
    private func fixture(
        _ loader: StubLoader, _ uptime: Shared<Double>, directory: TemporaryDirectory, _ start: Date
    ) throws -> ManagerFixture {
        let clock = TimeSource(now: { start + uptime.value }, uptime: { uptime.value })
        return try ManagerFixture(directory: directory) {
            $0.loaders = [loader]
            $0.cachePolicy = .cacheFirst
            $0.now = clock.now
            $0.memoryCache.clock = clock
            $0.diskCache?.clock = clock
        }
    }

    @Test("A request's time to live limits its image in memory and its data on disk, and isn't part of the key")
    func both() async throws {
        let (uptime, start) = (Shared(0.0), Date())
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try fixture(loader, uptime, directory: TemporaryDirectory(), start)
        var short = ImageRequest(url: .sample)
        short.caching.timeToLive = .seconds(100)
        #expect(fixture.manager.cacheKeys(for: short) == fixture.manager.cacheKeys(for: ImageRequest(url: .sample)))
        _ = try await fixture.manager.image(for: short)
        await fixture.manager.diskCache?.flush()
        uptime.value = 99
        #expect(fixture.manager.cachedImage(for: .sample) != nil)
        fixture.manager.memoryCache.removeAll()
        await fixture.manager.letsGo(of: short)
        // The image that is decoded again has the time to live of the request that stores it.
        #expect(try await fixture.manager.response(for: ImageRequest(url: .sample)).source == .diskCache)
        uptime.value = 101
        fixture.manager.memoryCache.removeAll()
        await fixture.manager.letsGo(of: short)
        #expect(try await fixture.manager.response(for: ImageRequest(url: .sample)).source == .network)
        #expect(loader.requests.count == 2)
    }

    @Test("An image that the application stores for a request has the time to live of the request")
    func stored() async throws {
        let (uptime, start) = (Shared(0.0), Date())
        let fixture = try fixture(StubLoader(), uptime, directory: TemporaryDirectory(), start)
        var request = ImageRequest(url: .sample)
        request.caching.timeToLive = .seconds(10)
        let data = Numbered.data(1)
        let image = try ImageCoderRegistry.standard.decode(data, context: ImageProcessingContext())
        try await fixture.manager.store(image, data: data, for: request)
        await fixture.manager.diskCache?.flush()
        #expect(await fixture.manager.cachedTiers(for: request) == [.memory, .disk])
        uptime.value = 11
        #expect(await fixture.manager.cachedTiers(for: request) == [])
    }
}
