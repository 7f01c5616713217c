// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// An interceptor that calls a closure.
private struct Stage: ImageRequestInterceptor {
    var appliesToMemoryHits = true
    let body: @Sendable (ImageRequest, Next) async throws(ImageError) -> ImageResponse

    func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> ImageResponse {
        try await body(request, next)
    }
}

@Suite("Request interceptors", .timeLimit(.minutes(5)))
struct InterceptorTests {
    private let loader = StubLoader()
    private let web: URL

    init() throws {
        web = try #require(URL(string: "https://example.org/a.png"))
        loader.respond(to: web, with: .init(body: try TestImages.png(1)))
    }

    private func fixture(_ interceptors: any ImageRequestInterceptor...) throws -> ManagerFixture {
        try ManagerFixture { [loader] configuration in
            configuration.loaders = [loader]
            configuration.interceptors = interceptors
            configuration.cachePolicy = .cacheFirst
        }
    }

    @Test("A request modifier changes every request, and images in memory are still returned immediately")
    func options() async throws {
        let fixture = try ManagerFixture { [loader] configuration in
            configuration.loaders = [loader]
            configuration.requestModifier = {
                $0.size = .fit(width: 10)
                $0.cachePolicy = .cacheFirst
            }
        }
        #expect(try await fixture.manager.image(for: web).size.width == 10)
        #expect(fixture.manager.cachedImage(for: ImageRequest(url: web))?.size.width == 10)
        let task = fixture.manager.load(web)
        #expect(try task.result?.get().source == .memoryCache)
        await fixture.manager.removeCachedImage(for: ImageRequest(url: web))
        #expect(fixture.manager.cachedImage(for: ImageRequest(url: web)) == nil)
    }

    @Test("An interceptor can change the request, and the first interceptor is the outermost one")
    func order() async throws {
        let log = Lock<[String]>([])
        func stage(_ name: String, _ width: Double) -> Stage {
            Stage { (request, next) async throws(ImageError) in
                log.withLock { $0.append("\(name) in") }
                var changed = request
                changed.size = .fit(width: width)
                let response = try await next(changed)
                log.withLock { $0.append("\(name) out") }
                return response
            }
        }
        let fixture = try fixture(stage("first", 10), stage("second", 20))
        #expect(try await fixture.manager.image(for: web).size.width == 20)
        #expect(log.withLock { $0 } == ["first in", "second in", "second out", "first out"])
        // The memory lookup runs after the interceptors.
        let again = try await fixture.manager.response(for: ImageRequest(url: web))
        #expect(again.source == .memoryCache && log.withLock { $0.count } == 8)
    }

    @Test("An interceptor can return an image, which is delivered unchanged and isn't stored")
    func images() async throws {
        let image = DecodedImage(pixels: try TestImages.pixels(3, width: 7, height: 5))
        let fixture = try fixture(
            Stage { (request, _) async throws(ImageError) in ImageResponse(image: image, url: request.url) })
        let request = ImageRequest(url: web, size: .fit(width: 2))
        let response = try await fixture.manager.response(for: request)
        #expect(response.image === image && response.source == .local && response.url == web)
        let png = try await fixture.manager.data(for: request)
        #expect(ImageFormat(sniffing: png) == .png)
        #expect(loader.requests.isEmpty && fixture.manager.cachedImage(for: request) == nil)
    }

    @Test("An interceptor can supply data, which is checked, decoded, and transformed as requested")
    func data() async throws {
        let bytes = try TestImages.png(2, width: 30, height: 20)
        let fixture = try fixture(
            Stage { (request, next) async throws(ImageError) in
                var local = ImageRequest(data: bytes)
                local.decoding = request.decoding
                local.limits = request.limits
                local.includesOriginalData = request.includesOriginalData
                return try await next(local)
            })
        var request = ImageRequest(url: web, size: .fit(width: 15))
        request.includesOriginalData = true
        let response = try await fixture.manager.response(for: request)
        #expect(response.image.size == PixelSize(width: 15, height: 10) && response.originalData == bytes)
        #expect(try await fixture.manager.data(for: request) == bytes)
        #expect(loader.requests.isEmpty && fixture.manager.cachedImage(for: request) == nil)
        request.limits = ImageLimits.desktop
        request.limits?.maxEncodedBytes = 10
        let limited = request
        await #expect(throws: ImageError.self) { try await fixture.manager.data(for: limited) }
        await #expect(throws: ImageError.self) { try await fixture.manager.image(for: limited) }
    }

    @Test("For a request for data, an interceptor receives the data and a placeholder, and can replace the data")
    func originalData() async throws {
        let original = try TestImages.png(1)
        let replacement = Data([1, 2, 3])
        let seen = Lock<[ImageResponse]>([])
        let fixture = try fixture(
            Stage { (request, next) async throws(ImageError) in
                var response = try await next(request)
                seen.withLock { [response] in $0.append(response) }
                if request.userInfo["replaces"] != nil { response.originalData = replacement }
                return response
            })
        var request = ImageRequest(url: web)
        #expect(try await fixture.manager.data(for: request) == original)
        let response = try #require(seen.withLock { $0.first })
        #expect(response.originalData == original && response.originalByteCount == original.count)
        #expect(response.image.size == PixelSize(width: 1, height: 1))
        #expect(fixture.manager.statistics.decodes == 0)
        request.userInfo["replaces"] = true
        #expect(try await fixture.manager.data(for: request) == replacement)
    }

    @Test("An interceptor can retry")
    func retries() async throws {
        let lost = ImageError.network(
            ImageError.NetworkFailure(.cannotFindHost, url: web, phase: .nameResolution))
        loader.respond(to: web, with: .init(error: lost), .init(body: try TestImages.png(1)))
        let fixture = try fixture(
            Stage { (request, next) async throws(ImageError) in
                do throws(ImageError) {
                    return try await next(request)
                } catch {
                    var again = request
                    again.caching.bypassesFailureCache = true
                    return try await next(again)
                }
            })
        #expect(try await fixture.manager.response(for: ImageRequest(url: web)).source == .network)
        #expect(loader.requests.count == 2)
    }

    @Test("An interceptor can reject a request before any cache lookup")
    func refuses() async throws {
        let refusal = ImageError.request(.rejected(reason: "no network today"))
        let fixture = try fixture(Stage { (_, _) async throws(ImageError) in throw refusal })
        await #expect(throws: refusal) { try await fixture.manager.image(for: web) }
        await #expect(throws: refusal) { try await fixture.manager.data(for: ImageRequest(url: web)) }
        #expect(refusal.code == 1011 && loader.requests.isEmpty)
    }

    @Test("An interceptor can change the response")
    func changes() async throws {
        let fixture = try fixture(
            Stage { (request, next) async throws(ImageError) in
                var response = try await next(request)
                response.originalData = Data([1])
                return response
            })
        #expect(try await fixture.manager.response(for: ImageRequest(url: web)).originalData == Data([1]))
    }

    @Test("N-04: A canceled request finishes immediately, and the work of its interceptors is canceled")
    func cancelled() async throws {
        let reached = TestGate()
        let held = TestGate()
        let ended = TestGate()
        let fixture = try fixture(
            Stage { (request, next) async throws(ImageError) in
                reached.open()
                await held.wait()
                defer { ended.open() }
                return try await next(request)
            })
        let task = fixture.manager.load(web)
        await reached.wait()
        task.cancel()
        #expect(await task.eventNames() == ["started", "failed 1001"])
        await ended.wait()
        #expect(loader.requests.isEmpty && fixture.manager.runningJobs == 0)
    }

    /// Returns an interceptor that notes its name and calls `next`.
    private func noting(
        _ name: String, appliesToMemoryHits: Bool, _ log: Shared<[String]>
    ) -> Stage {
        Stage(appliesToMemoryHits: appliesToMemoryHits) { (request, next) async throws(ImageError) in
            log.update { $0.append(name) }
            return try await next(request)
        }
    }

    @Test("If no interceptor applies to memory hits, images in memory are delivered synchronously without them")
    func memoryHits() async throws {
        let log = Shared<[String]>([])
        let fixture = try fixture(
            noting("a", appliesToMemoryHits: false, log), noting("b", appliesToMemoryHits: false, log))
        let manager = fixture.manager
        #expect(try await manager.response(for: ImageRequest(url: web)).source == .network)
        #expect(log.value == ["a", "b"])
        let task = manager.load(web)
        #expect(try task.result?.get().source == .memoryCache)
        #expect(try await manager.response(for: ImageRequest(url: web)).source == .memoryCache)
        #expect(log.value == ["a", "b"])
        // Requests for another image, for data, or without memory pass through the interceptors.
        _ = try await manager.image(for: ImageRequest(url: web, size: .fit(width: 3)))
        #expect(log.value.count == 4)
        _ = try await manager.data(for: ImageRequest(url: web))
        #expect(log.value.count == 6)
        var reload = ImageRequest(url: web)
        reload.cachePolicy = .reload
        _ = try await manager.image(for: reload)
        #expect(log.value.count == 8 && manager.load(web).result != nil)
    }

    @Test("Among several interceptors, memory hits skip only those that don't apply to them")
    func mixedMemoryHits() async throws {
        let log = Shared<[String]>([])
        let fixture = try fixture(
            noting("first", appliesToMemoryHits: false, log), noting("second", appliesToMemoryHits: true, log),
            noting("third", appliesToMemoryHits: false, log))
        #expect(try await fixture.manager.response(for: ImageRequest(url: web)).source == .network)
        #expect(log.value == ["first", "second", "third"])
        log.update { $0 = [] }
        let task = fixture.manager.load(web)
        #expect(task.result == nil)
        #expect(try await task.response.source == .memoryCache)
        #expect(log.value == ["second"])
    }

    @Test("Skipped interceptors run if a later interceptor changes the request or removes the image from memory")
    func skippedInterceptors() async throws {
        let log = Shared<[String]>([])
        let memory = Shared<MemoryCache?>(nil)
        let fixture = try fixture(
            noting("signing", appliesToMemoryHits: false, log),
            Stage { (request, next) async throws(ImageError) in
                switch request.userInfo["step"] as? String {
                case "resize":
                    var changed = request
                    changed.size = .fit(width: 5)
                    return try await next(changed)
                case "remove": memory.value?.removeAll()
                default: break
                }
                return try await next(request)
            })
        memory.update { $0 = fixture.manager.memoryCache }
        var request = ImageRequest(url: web)
        _ = try await fixture.manager.image(for: request)
        #expect(log.value == ["signing"])
        request.userInfo["step"] = "resize"
        #expect(try await fixture.manager.image(for: request).size.width == 5)
        #expect(log.value == ["signing", "signing"])
        request.userInfo["step"] = "remove"
        _ = try await fixture.manager.image(for: request)
        #expect(log.value == ["signing", "signing", "signing"])
    }

    @Test("A stale image in memory passes through the interceptors, also if it's revalidated in the background")
    func staleMemoryHits() async throws {
        let log = Shared<[String]>([])
        let loader = StubLoader { _ in
            Numbered.response(1, cacheControl: "max-age=60, stale-while-revalidate=600")
        }
        let fixture = try ManagerFixture { configuration in
            configuration.loaders = [loader]
            configuration.interceptors = [noting("a", appliesToMemoryHits: false, log)]
        }
        let request = ImageRequest(url: web)
        _ = try await fixture.manager.image(for: request)
        #expect(fixture.manager.load(request).result != nil && log.value == ["a"])
        fixture.pass(seconds: 70)
        _ = try await fixture.manager.load(request).response
        #expect(log.value == ["a", "a"])
        await fixture.manager.rest()
    }
}
