// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Downloads that end before their data is complete", .timeLimit(.minutes(5)))
struct EarlyInspectionTests {
    private static let size = 8 << 20

    /// A response whose remainder never arrives, so a load without the early check never ends in this test.
    private func stalled(_ prefix: Data, after count: Int = 64 << 10) -> LoopbackServer.Response {
        .ok(prefix + Data(repeating: 0x20, count: Self.size - prefix.count), contentType: "image/png").with {
            $0.stallsBodyAfter = count
        }
    }

    private func complete(_ prefix: Data) -> LoopbackServer.Response {
        .ok(prefix + Data(repeating: 0x20, count: Self.size - prefix.count), contentType: "image/png")
    }

    private func failure(_ manager: ImageManager, _ request: ImageRequest) async -> ImageError? {
        do throws(ImageError) {
            _ = try await manager.image(for: request)
            return nil
        } catch {
            return error
        }
    }

    static let otherData = [
        "<!DOCTYPE html><html><body>", "{\"error\": \"not found\"}", "Image not found. ", "\u{1}\u{2}\u{3}",
    ]

    @Test(
        "G-12: Data that isn't an image ends the download, with the error of a complete download", arguments: otherData)
    func foreign(text: String) async throws {
        let server = try LoopbackServer(routes: [
            "/stalled": stalled(Data(text.utf8)), "/complete": complete(Data(text.utf8)),
        ])
        let manager = try ManagerFixture().manager
        let early = await failure(manager, ImageRequest(url: server.url("/stalled")))
        let late = await failure(
            try ManagerFixture { $0.downloader.interceptors = [PassingInterceptor()] }.manager,
            ImageRequest(url: server.url("/complete")))
        #expect(early == late && early != nil)
        #expect(server.counters.requests == 2)
    }

    /// An interceptor that changes nothing. With interceptors, a manager checks only complete data.
    private struct PassingInterceptor: DownloadInterceptor {
        func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse {
            try await next(request)
        }
    }

    @Test("An image that is too large ends the download with its limit error")
    func tooLarge() async throws {
        let server = try LoopbackServer(routes: ["/a": stalled(try TestImages.png(1, width: 64, height: 48))])
        let manager = try ManagerFixture { $0.limits.maxSourcePixels = 64 * 48 - 1 }.manager
        let expected = ImageError.limitExceeded(
            ImageError.LimitFailure(.sourcePixelCount, limit: 64 * 48 - 1, actual: 64 * 48))
        #expect(await failure(manager, ImageRequest(url: server.url("/a"))) == expected)
    }

    @Test("The download continues if another request accepts the image, and only the other one fails")
    func otherLimits() async throws {
        let gate = TestGate()
        let body = try TestImages.png(1, width: 300, height: 300) + Data(repeating: 0, count: 200_000)
        let server = try LoopbackServer(routes: ["/a": .ok(body).with { $0.headGate = gate }])
        let fixture = try ManagerFixture()
        var strict = ImageRequest(url: server.url("/a"))
        strict.limits = fixture.manager.configuration.limits
        strict.limits?.maxSourcePixels = 300 * 300 - 1
        let accepting = fixture.manager.load(ImageRequest(url: server.url("/a")))
        await server.waitForRequests(count: 1)
        let rejecting = fixture.manager.load(strict)
        await untilTrue { fixture.manager.statistics.coalescedLoads == 1 }
        gate.open()
        #expect(try await accepting.response.image.size == PixelSize(width: 300, height: 300))
        await #expect(throws: ImageError.self) { try await rejecting.response }
        #expect(server.counters.requests == 1)
    }

    /// A loader that ends each load only when its gate is open.
    private final class RejectedLoader: ImageLoader {
        let body: Data
        /// A Boolean value that indicates whether the data has a response head. Only then, it's checked early.
        let isHTTP: Bool
        let head = HTTPResponseHead(statusCode: 200)
        let gate = TestGate()
        /// The gate that each load passes before it reports its data.
        let dataGate = TestGate()
        /// The number of loads that have started.
        let starts = Atomic(0)
        /// The number of loads that have reported their data.
        let loads = Atomic(0)

        init(body: Data, isHTTP: Bool, holdsData: Bool = false) {
            self.body = body
            self.isHTTP = isHTTP
            if !holdsData { dataGate.open() }
        }

        func canLoad(_ url: URL) -> Bool { true }

        func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
            context.reportStart()
            starts.add(1, ordering: .acquiringAndReleasing)
            await dataGate.wait()
            context.reportResponse(isHTTP ? head : nil, expectedByteCount: body.count)
            context.reportData(body)
            loads.add(1, ordering: .acquiringAndReleasing)
            await gate.wait()
            if let error = context.rejection { throw error }
            return LoadResponse(httpResponse: isHTTP ? head : nil, body: body, url: request.url)
        }
    }

    enum Joining: CaseIterable { case data, dataWithEqualLimits, generousLimits, equalLimits }

    @Test(
        "A request that joins a load after its rejection loads again if the data is incomplete and it may use it",
        arguments: Joining.allCases, [true, false])
    func joiningRejected(_ joining: Joining, isHTTP: Bool) async throws {
        let body = try TestImages.png(1, width: 300, height: 300) + Data(repeating: 0, count: 200_000)
        let loader = RejectedLoader(body: body, isHTTP: isHTTP)
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        var strict = ImageRequest(url: try #require(URL(string: "remote://a.example/a")))
        strict.limits = fixture.manager.configuration.limits
        strict.limits?.maxSourcePixels = 300 * 300 - 1
        let rejected = fixture.manager.load(strict)
        await untilTrue { loader.loads.load(ordering: .acquiring) == 1 }
        var other = strict
        if joining == .data || joining == .generousLimits { other.limits = nil }
        let request = other
        let wantsData = joining == .data || joining == .dataWithEqualLimits
        let data = wantsData ? Task { try await fixture.manager.data(for: request) } : nil
        let image = wantsData ? nil : fixture.manager.load(request)
        await untilTrue { fixture.manager.pipeline.fetch.sharedCount == 1 }
        loader.gate.open()
        await #expect(throws: ImageError.self) { try await rejected.response }
        switch joining {
        case .data: #expect(try await data?.value.count == body.count)
        case .dataWithEqualLimits:
            let expected = ImageError.LimitFailure(.sourcePixelCount, limit: 300 * 300 - 1, actual: 300 * 300)
            await #expect(throws: ImageError.limitExceeded(expected)) { try await data?.value }
        case .generousLimits:
            #expect(try await image?.response.image.size == PixelSize(width: 300, height: 300))
        case .equalLimits: await #expect(throws: ImageError.self) { try await image?.response }
        }
        // Without a response head, nothing is checked early, and the requests share the complete data.
        #expect(loader.loads.load(ordering: .acquiring) == (joining == .equalLimits || !isHTTP ? 1 : 2))
    }

    @Test("A load continues if a request for its data is still looking in the caches when its beginning is checked")
    func reserved() async throws {
        let body = try TestImages.png(1, width: 300, height: 300) + Data(repeating: 0, count: 200_000)
        let loader = RejectedLoader(body: body, isHTTP: true, holdsData: true)
        let tier = RecordingTier()
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.diskCache = nil
            $0.cacheTiers = [tier]
        }
        loader.gate.open()
        let generous = ImageRequest(url: try #require(URL(string: "remote://a.example/a")))
        var strict = generous
        strict.limits = fixture.manager.configuration.limits
        strict.limits?.maxSourcePixels = 300 * 300 - 1
        let rejected = fixture.manager.load(strict)
        await untilTrue { loader.starts.load(ordering: .acquiring) == 1 }
        let lookup = TestGate()
        tier.blockLookups(lookup)
        let lookups = tier.lookups
        let data = Task { try await fixture.manager.data(for: generous) }
        await untilTrue { tier.lookups > lookups }
        loader.dataGate.open()
        await #expect(throws: ImageError.self) { try await rejected.response }
        lookup.open()
        #expect(try await data.value == body)
        #expect(loader.starts.load(ordering: .acquiring) == 1)
    }

    @Test("A table of waiting requests reports limits only while all of them want the image")
    func audience() throws {
        let audience = FetchAudience()
        let key = try fetchKey()
        #expect(audience.limits(of: key) == [])
        audience.enter(key, .image(.desktop))
        audience.enter(key, .image(.desktop))
        #expect(audience.limits(of: key) == [.desktop])
        audience.enter(key, .bytes)
        #expect(audience.limits(of: key) == nil)
        audience.leave(key, .bytes)
        audience.leave(key, .image(.desktop))
        #expect(audience.limits(of: key) == [.desktop])
        audience.leave(key, .image(.desktop))
        #expect(audience.limits(of: key) == [])
    }

    private func fetchKey() throws -> FetchKey {
        let url = try #require(URL(string: "https://a.example/a"))
        let plan = RequestPlan(ImageRequest(url: url), try ManagerFixture().manager.pipeline.defaults)
        return FetchKey(
            data: plan.keys.data, exchange: ExchangeKey(LoadRequest(url: url), rules: plan.settings.rules),
            loader: .registry, timeouts: NetworkOptions().timeouts, coder: nil, formatHint: nil,
            revision: plan.settings.revision, generation: plan.originalCache.generation(of: plan.keys.data))
    }

    @Test("A valid image that arrives in small parts is decoded")
    func smallParts() async throws {
        let body = try TestImages.png(1, width: 400, height: 300) + Data(repeating: 0, count: 100_000)
        let server = try LoopbackServer(routes: ["/a": .ok(body).with { $0.chunkSize = 50 }])
        let image = try await ManagerFixture().manager.image(for: server.url("/a"))
        #expect(image.size == PixelSize(width: 400, height: 300))
    }

    @Test("The beginning of every test image is rejected only if the whole image is", arguments: 0..<8)
    func consistent(_ number: Int) throws {
        let data = try TestImages.png(number, width: 40 + number, height: 30)
        for limit in [1, 30 * 40, 1 << 20] {
            var limits = ImageLimits.desktop
            limits.maxSourcePixels = limit
            let whole = Result { try ImageCoderRegistry.standard.inspect(data, limits: limits, anySize: true) }
            for count in 1...data.count {
                let result = ImageCoderRegistry.standard.inspectBeginning(data.prefix(count), limits: limits)
                if case .rejected(let error) = result {
                    #expect(throws: error) { try whole.get() }
                }
            }
        }
    }
}
