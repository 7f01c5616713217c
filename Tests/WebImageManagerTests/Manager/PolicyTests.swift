// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Cache policies", .timeLimit(.minutes(5)))
struct PolicyTests {
    private func server(_ cacheControl: String? = "max-age=60") throws -> LoopbackServer {
        let resource = ServerResource(
            body: try TestImages.png(1), type: "image/png", etag: "\"one\"", cacheControl: cacheControl)
        return try LoopbackServer { resource.response(to: $0) }
    }

    @Test("An image in memory is returned before `load` returns, without a request to the server")
    func memory() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        _ = try await fixture.manager.image(for: server.url("/a"))
        let task = fixture.manager.load(server.url("/a"))
        #expect(try task.result?.get().source == .memoryCache)
        #expect(await task.eventNames() == ["finished memoryCache"])
        #expect(server.counters.requests == 1)
    }

    @Test("After a restart, an image is served from disk without a request to the server")
    func disk() async throws {
        let server = try server()
        var fixture = try ManagerFixture()
        let before = try await fixture.manager.image(for: server.url("/a"))
        fixture = try await fixture.restarted()
        let response = try await fixture.manager.response(for: ImageRequest(url: server.url("/a")))
        #expect(response.source == .diskCache)
        #expect(response.image.pixels.packedBytes() == before.pixels.packedBytes())
        #expect(server.counters.requests == 1)
    }

    @Test("The response of a cached image has its current age, and that of a download has the age that the server sent")
    func age() async throws {
        let server = try LoopbackServer {
            [
                resource = ServerResource(
                    body: try TestImages.png(1), type: "image/png", etag: "\"one\"", cacheControl: "max-age=60")
            ] request in
            var response = resource.response(to: request)
            if request.path == "/old" { response.headers["Age"] = "7" }
            return response
        }
        var fixture = try ManagerFixture()
        func age(_ path: String) async throws -> (ImageResponse.Source, String?) {
            let response = try await fixture.manager.response(for: ImageRequest(url: server.url(path)))
            return (response.source, response.httpResponse?.headers["Age"])
        }
        #expect(try await age("/new") == (.network, nil))
        #expect(try await age("/old") == (.network, "7"))
        fixture.pass(seconds: 20)
        #expect(try await age("/new") == (.memoryCache, "20"))
        #expect(try await age("/old") == (.memoryCache, "27"))
        fixture = try await fixture.restarted()
        fixture.pass(seconds: 10)
        #expect(try await age("/new") == (.diskCache, "30"))
        #expect(try await age("/old") == (.diskCache, "37"))
        fixture.pass(seconds: 40)
        #expect(try await age("/new") == (.revalidated, "0"))
        fixture.pass(seconds: 5)
        #expect(try await age("/new") == (.memoryCache, "5"))
    }

    @Test("A stale image in memory is shown immediately, revalidated by a 304, and not decoded again")
    func staleMemory() async throws {
        let server = try server()
        let coder = CountingCoder()
        let fixture = try ManagerFixture { $0.coders.register(coder) }
        let first = try await fixture.manager.image(for: server.url("/a"))
        fixture.pass(seconds: 61)
        let task = fixture.manager.load(server.url("/a"))
        #expect(await task.eventNames() == ["started", "cached", "finished revalidated"])
        #expect(try await task.image === first)
        #expect(coder.decodes == 1)
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"one\""])
        #expect(try fixture.manager.load(server.url("/a")).result?.get().source == .memoryCache)
    }

    @Test("A 304 for one size makes the other sizes fresh, too")
    func sharedFreshness() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        let small = ImageRequest(url: server.url("/a"), size: .fit(width: 10))
        _ = try await fixture.manager.image(for: small)
        _ = try await fixture.manager.image(for: server.url("/a"))
        fixture.pass(seconds: 61)
        _ = try await fixture.manager.image(for: server.url("/a"))
        #expect(server.counters.requests == 2)
        #expect(try fixture.manager.load(small).result?.get().source == .memoryCache)
        #expect(server.counters.requests == 2)
    }

    @Test("S-26: A stale image on disk is shown and revalidated, and the new freshness survives a restart")
    func staleDisk() async throws {
        let server = try server()
        var fixture = try ManagerFixture()
        _ = try await fixture.manager.image(for: server.url("/a"))
        fixture.pass(seconds: 61)
        fixture = try await fixture.restarted()
        #expect(
            await fixture.manager.load(server.url("/a")).eventNames() == ["started", "cached", "finished revalidated"])
        fixture = try await fixture.restarted()
        #expect(try await fixture.manager.response(for: ImageRequest(url: server.url("/a"))).source == .diskCache)
        #expect(server.counters.requests == 2)
    }

    @Test("If the image has changed on the server, the cached image is shown before the new one")
    func changed() async throws {
        let old = ServerResource(
            body: try TestImages.png(1), type: "image/png", etag: "\"one\"", cacheControl: "max-age=60")
        let new = ServerResource(
            body: try TestImages.png(2, width: 30, height: 20), type: "image/png", etag: "\"two\"",
            cacheControl: "max-age=60")
        let server = try LoopbackServer { ($0.index == 0 ? old : new).response(to: $0) }
        let fixture = try ManagerFixture()
        _ = try await fixture.manager.image(for: server.url("/a"))
        fixture.pass(seconds: 61)
        let task = fixture.manager.load(server.url("/a"))
        #expect(await task.eventNames() == ["started", "cached", "finished network"])
        #expect(try await task.image.size == PixelSize(width: 30, height: 20))
        let again = try await fixture.manager.response(for: ImageRequest(url: server.url("/a")))
        #expect(again.source == .memoryCache)
        #expect(again.image.size == PixelSize(width: 30, height: 20))
    }

    @Test("`refresh` revalidates fresh images, `reload` sends no condition, and the other policies send no request")
    func others() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        var request = ImageRequest(url: server.url("/a"))
        request.cachePolicy = .cacheOnly
        await #expect(throws: ImageError.cache(.notInCache)) { try await fixture.manager.image(for: request) }
        #expect(server.counters.requests == 0)
        request.cachePolicy = .cacheFirst
        #expect(try await fixture.manager.response(for: request).source == .network)
        fixture.pass(seconds: 1_000)
        #expect(try await fixture.manager.response(for: request).source == .memoryCache)
        request.cachePolicy = .cacheOnly
        #expect(try await fixture.manager.response(for: request).source == .memoryCache)
        #expect(server.counters.requests == 1)
        request.cachePolicy = .refresh
        let refresh = fixture.manager.load(request)
        #expect(await refresh.eventNames() == ["started", "cached", "finished revalidated"])
        request.cachePolicy = .reload
        #expect(await fixture.manager.load(request).eventNames() == ["started", "finished network"])
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"one\"", nil])
    }

    @Test("If the server is unreachable, `http` and `refresh` return the cached image as stale, with the reason")
    func unreachable() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        let url = server.url("/a")
        _ = try await fixture.manager.image(for: url)
        fixture.pass(seconds: 61)
        server.stop()
        for policy in [CachePolicy.http, .refresh] {
            var request = ImageRequest(url: url)
            request.cachePolicy = policy
            let response = try await fixture.manager.response(for: request)
            #expect(response.isStale)
            #expect(response.revalidationError?.code == ImageError.NetworkFailure.Reason.cannotConnect.rawValue)
        }
        var request = ImageRequest(url: url)
        request.cachePolicy = .reload
        await #expect(throws: ImageError.self) { try await fixture.manager.image(for: request) }
    }

    @Test(
        "With `stale-while-revalidate`, the stale image is returned immediately and revalidated once in the background")
    func staleWhileRevalidate() async throws {
        let server = try server("max-age=60, stale-while-revalidate=30")
        let fixture = try ManagerFixture()
        let url = server.url("/a")
        _ = try await fixture.manager.image(for: url)
        fixture.pass(seconds: 70)
        for _ in 0..<20 {
            let response = try #require(try fixture.manager.load(url).result?.get())
            #expect(response.source == .memoryCache)
        }
        let manager = fixture.manager
        await untilTrue { manager.runningJobs == 0 }
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"one\""])
        #expect(try fixture.manager.load(url).result?.get().isStale == false)
        fixture.pass(seconds: 100)
        #expect(await fixture.manager.load(url).eventNames() == ["started", "cached", "finished revalidated"])
    }

    @Test("With `stale-while-revalidate`, changed data on the server is available to the next request")
    func staleWhileRevalidateFromDisk() async throws {
        let old = ServerResource(
            body: try TestImages.png(1), type: "image/png", etag: "\"one\"",
            cacheControl: "max-age=60, stale-while-revalidate=60")
        let new = ServerResource(
            body: try TestImages.png(2, width: 30, height: 20), type: "image/png", etag: "\"two\"",
            cacheControl: "max-age=60")
        let server = try LoopbackServer { ($0.index == 0 ? old : new).response(to: $0) }
        var fixture = try ManagerFixture()
        _ = try await fixture.manager.image(for: server.url("/a"))
        fixture.pass(seconds: 70)
        fixture = try await fixture.restarted()
        let stale = try await fixture.manager.response(for: ImageRequest(url: server.url("/a")))
        #expect(stale.isStale)
        #expect(stale.source == .diskCache)
        #expect(stale.image.size == PixelSize(width: 64, height: 48))
        let manager = fixture.manager
        await untilTrue { manager.runningJobs == 0 }
        let next = try await fixture.manager.response(for: ImageRequest(url: server.url("/a")))
        #expect(next.source == .memoryCache)
        #expect(next.image.size == PixelSize(width: 30, height: 20))
        #expect(server.counters.requests == 2)
    }

    @Test("`stale-if-error` allows a stale image for a 503 within its period, but not for a 404 or after the period")
    func staleIfError() async throws {
        let status = Shared(200)
        let body = try TestImages.png(1)
        let server = try LoopbackServer { _ in
            var response = LoopbackServer.Response.ok(body, contentType: "image/png").with {
                $0.statusCode = status.value
            }
            response.headers["Cache-Control"] = "max-age=60, stale-if-error=600"
            return response
        }
        let fixture = try ManagerFixture()
        let url = server.url("/a")
        _ = try await fixture.manager.image(for: url)
        fixture.pass(seconds: 70)
        status.value = 503
        let response = try await fixture.manager.response(for: ImageRequest(url: url))
        #expect(response.isStale)
        #expect(response.revalidationError?.code == ImageError.NetworkFailure.Reason.unacceptableStatusCode.rawValue)
        status.value = 404
        await #expect(throws: ImageError.self) { try await fixture.manager.image(for: url) }
        status.value = 503
        fixture.pass(seconds: 700)
        await #expect(throws: ImageError.self) { try await fixture.manager.image(for: url) }
    }

    @Test("A `no-store` response is never cached, and a `no-cache` response is always revalidated")
    func noStore() async throws {
        let never = try server("no-store")
        let fixture = try ManagerFixture()
        for _ in 0..<2 { _ = try await fixture.manager.image(for: never.url("/a")) }
        #expect(never.requests.map { $0.headers["If-None-Match"] } == [nil, nil])
        let always = try server("no-cache")
        for _ in 0..<2 { _ = try await fixture.manager.image(for: always.url("/a")) }
        #expect(always.requests.map { $0.headers["If-None-Match"] } == [nil, "\"one\""])
    }

    @Test("The original data is returned with images from the network and from disk, and for an image in memory")
    func bytes() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        var request = ImageRequest(url: server.url("/a"))
        request.includesOriginalData = true
        let expected = try TestImages.png(1)
        #expect(try await fixture.manager.response(for: request).originalData == expected)
        #expect(try await fixture.manager.response(for: request).originalData == expected)
        #expect(try await fixture.manager.data(for: ImageRequest(url: server.url("/a"))) == expected)
        #expect(server.counters.requests == 1)
    }

    @Test("A processed image that was stored separately is used after a restart")
    func storedFinal() async throws {
        let server = try server()
        var fixture = try ManagerFixture()
        var request = ImageRequest(url: server.url("/a"), size: .fit(width: 20))
        request.transformers = [.roundedCorners(radius: 4)]
        request.caching.processedEncoding = .png
        let first = try await fixture.manager.image(for: request)
        let manager = fixture.manager
        await untilTrue { manager.runningJobs == 0 }
        await fixture.manager.diskCache?.flush()
        fixture = try await fixture.restarted()
        fixture.manager.diskCache?.remove(RequestPlan(request, fixture.manager.pipeline.defaults).keys.data)
        let response = try await fixture.manager.response(for: request)
        #expect(response.source == .diskCache)
        #expect(response.image.pixels.packedBytes() == first.pixels.packedBytes())
        #expect(server.counters.requests == 1)
    }
}
