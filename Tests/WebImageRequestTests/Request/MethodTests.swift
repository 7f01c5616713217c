// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// An interceptor that records the custom data and the keys of loads and changes their method.
private final class Recorder: DownloadInterceptor {
    let rows = Shared<[Int?]>([])
    let keys = Shared<[CacheKey?]>([])
    let statuses = Shared<[Int?]>([])
    private let method: String

    init(method: String) { self.method = method }

    func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse {
        rows.update { $0.append(request.userInfo["row"] as? Int) }
        keys.update { $0.append(request.cacheKey) }
        var changed = request
        changed.method = method
        changed.headers["X-Signature"] = "1"
        do throws(ImageError) {
            return try await next(changed)
        } catch {
            if case .network(let failure) = error {
                statuses.update { $0.append(failure.responseHead?.statusCode) }
            }
            throw error
        }
    }
}

/// An interceptor that allows the caches for all methods.
private struct CachePermission: ImageRequestInterceptor {
    func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> ImageResponse {
        var changed = request
        changed.caching.storesAnyMethod = true
        return try await next(changed)
    }
}

@Suite("Methods and bodies of requests", .timeLimit(.minutes(5)))
struct RequestMethodTests {
    /// Returns a server whose image depends on the length of the body.
    private func server() throws -> LoopbackServer {
        let images = try [TestImages.png(1), TestImages.png(2)]
        return try LoopbackServer { request in
            var response = LoopbackServer.Response.ok(images[request.body.count % 2], contentType: "image/png")
            response.headers["Cache-Control"] = "max-age=60"
            response.headers["ETag"] = "\"one\""
            return response
        }
    }

    private func post(_ url: URL, _ body: String, stores: Bool = false) -> ImageRequest {
        var request = ImageRequest(url: url)
        request.method = "POST"
        request.body = Data(body.utf8)
        request.caching.storesAnyMethod = stores
        return request
    }

    @Test(
        "By default, a request with a body is sent each time, and nothing of it is cached",
        arguments: [CachePolicy.http, .cacheFirst, .refresh, .reload])
    func uncached(policy: CachePolicy) async throws {
        let server = try server()
        var fixture = try ManagerFixture()
        var request = post(server.url("/a"), "circle")
        request.cachePolicy = policy
        for _ in 0..<2 {
            #expect(try await fixture.manager.response(for: request).source == .network)
        }
        #expect(fixture.manager.cachedImage(for: request) == nil)
        fixture = try await fixture.restarted()
        #expect(try await fixture.manager.response(for: request).source == .network)
        #expect(server.requests.map(\.method) == ["POST", "POST", "POST"])
        #expect(Set(server.requests.map(\.body)) == [Data("circle".utf8)])
    }

    @Test(
        "Each method except GET, and GET with a body, is sent each time", arguments: ["POST", "PUT", "GET", "REPORT"])
    func methods(method: String) async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        var request = post(server.url("/a"), "circle")
        request.method = method
        for _ in 0..<2 { _ = try await fixture.manager.image(for: request) }
        #expect(server.requests.map(\.method) == [method, method])
    }

    @Test("With the policy for cached images only, a request with a body fails and isn't sent")
    func cacheOnly() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        let request = post(server.url("/a"), "circle")
        var changed = request
        changed.cachePolicy = .cacheOnly
        let cached = changed
        await #expect(throws: ImageError.cache(.notInCache)) { try await fixture.manager.image(for: cached) }
        let cautious = try ManagerFixture { $0.cachePolicy = .cacheOnly }
        await #expect(throws: ImageError.cache(.notInCache)) { try await cautious.manager.image(for: request) }
        #expect(server.counters.requests == 0)
    }

    @Test("If the request allows it, each method and body has its own entry in memory and on disk")
    func cached() async throws {
        let server = try server()
        var fixture = try ManagerFixture()
        let circle = post(server.url("/a"), "circle", stores: true)
        let square = post(server.url("/a"), "square!", stores: true)
        var put = circle
        put.method = "PUT"
        let plain = ImageRequest(url: server.url("/a"))
        #expect(Set([circle, square, put, plain].map { fixture.manager.cacheKey(for: $0) }).count == 4)
        for request in [circle, square, put, plain] {
            #expect(try await fixture.manager.response(for: request).source == .network)
        }
        for request in [circle, square, put, plain] {
            #expect(try await fixture.manager.response(for: request).source == .memoryCache)
        }
        fixture = try await fixture.restarted()
        for request in [circle, square, put, plain] {
            #expect(try await fixture.manager.response(for: request).source == .diskCache)
        }
        #expect(server.counters.requests == 4)
        #expect(!fixture.manager.cacheKey(for: circle).canonical.contains("circle"))
    }

    @Test(
        "A successful response to an unsafe method invalidates the images of the URL and of its Location (RFC 9111 4.4)",
        arguments: ["POST", "PUT", "DELETE", "PATCH", "REPORT"], [200, 201, 204, 404, 500])
    func invalidation(method: String, status: Int) async throws {
        let image = try TestImages.png(1)
        let server = try LoopbackServer { request in
            if request.method != "GET" {
                var response = LoopbackServer.Response.status(status)
                // The body isn't an image.
                if status != 204 { response.body = Data("done".utf8) }
                response.headers["Location"] = "/b"
                return response
            }
            var response = LoopbackServer.Response.ok(image, contentType: "image/png")
            response.headers["Cache-Control"] = "max-age=60"
            return response
        }
        let fixture = try ManagerFixture { $0.downloader.retry = .never }
        let paths = ["/a", "/b", "/c"]
        let requests = paths.flatMap { path in
            [nil, TargetSize.fit(width: 8)].map { ImageRequest(url: server.url(path), size: $0) }
        }
        for request in requests { _ = try await fixture.manager.image(for: request) }
        await fixture.manager.diskCache?.flush()
        var change = post(server.url("/a"), "circle")
        change.method = method
        change.headers["Content-Type"] = "text/plain"
        await #expect(throws: ImageError.self) { try await fixture.manager.image(for: change) }
        // REPORT is safe (RFC 3253).
        let isInvalid = status < 400 && method != "REPORT"
        for request in requests {
            let isTarget = request.url.path() != "/c"
            #expect((fixture.manager.cachedImage(for: request) == nil) == (isInvalid && isTarget))
        }
        let before = server.requests.filter { $0.method == "GET" }.count
        for request in requests { _ = try await fixture.manager.image(for: request) }
        #expect(server.requests.filter { $0.method == "GET" }.count == before + (isInvalid ? 2 : 0))
        // A later manager doesn't find the removed data on disk.
        var restarted = requests[0]
        restarted.cachePolicy = .cacheOnly
        let stored = try await fixture.restarted().manager.response(for: restarted)
        #expect(stored.source == .diskCache)
    }

    @Test("A safe method with a body invalidates nothing, and an image in the response of POST is delivered")
    func noInvalidation() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        let plain = ImageRequest(url: server.url("/a"))
        _ = try await fixture.manager.image(for: plain)
        var read = post(server.url("/a"), "circle")
        read.method = "GET"
        _ = try await fixture.manager.image(for: read)
        #expect(fixture.manager.cachedImage(for: plain) != nil)
        #expect(try await fixture.manager.response(for: post(server.url("/a"), "circle")).source == .network)
        #expect(fixture.manager.cachedImage(for: plain) == nil)
    }

    @Test("The task has the request of the caller, and an interceptor can allow caching")
    func permission() async throws {
        let server = try server()
        let fixture = try ManagerFixture { $0.interceptors = [CachePermission()] }
        let request = post(server.url("/a"), "circle")
        let task = fixture.manager.load(request)
        #expect(task.request == request)
        _ = try await task.image
        #expect(try await fixture.manager.response(for: request).source == .memoryCache)
        #expect(server.counters.requests == 1)
        let plain = try ManagerFixture()
        let other = plain.manager.load(request)
        #expect(other.request == request)
        _ = try await other.image
    }

    @Test("A stale response to a request with a body is requested again without conditions")
    func stale() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        let request = post(server.url("/a"), "circle", stores: true)
        _ = try await fixture.manager.image(for: request)
        fixture.pass(seconds: 61)
        #expect(try await fixture.manager.response(for: request).source == .network)
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, nil])
        #expect(server.requests.map(\.body) == [request.body, request.body])
    }

    @Test("The manager remembers failures only if the request allows caching")
    func failures() async throws {
        for (stores, count) in [(false, 2), (true, 1)] {
            let server = try LoopbackServer { _ in .status(404) }
            let fixture = try ManagerFixture()
            let request = post(server.url("/a"), "circle", stores: stores)
            for _ in 0..<2 { await #expect(throws: ImageError.self) { try await fixture.manager.image(for: request) } }
            #expect(server.counters.requests == count)
        }
    }

    @Test("Concurrent equal requests with a body share one load")
    func shared() async throws {
        let gate = TestGate()
        let image = try TestImages.png(1)
        let server = try LoopbackServer { _ in .ok(image, contentType: "image/png").with { $0.headGate = gate } }
        let fixture = try ManagerFixture()
        let request = post(server.url("/a"), "circle")
        let first = Task { try await fixture.manager.image(for: request) }
        await server.waitForRequests(count: 1)
        let second = Task { try await fixture.manager.image(for: request) }
        await untilTrue { fixture.manager.pipeline.fetch.sharedCount == 1 }
        gate.open()
        #expect(try await first.value.size == second.value.size)
        #expect(server.counters.requests == 1)
    }

    @Test("An interceptor receives the custom data and the key of a request and can change its method")
    func interceptor() async throws {
        let server = try server()
        let recorder = Recorder(method: "PUT")
        let fixture = try ManagerFixture { $0.downloader.interceptors = [recorder] }
        var request = ImageRequest(url: server.url("/a"))
        request.userInfo["row"] = 7
        _ = try await fixture.manager.image(for: request)
        #expect(recorder.rows.value == [7])
        #expect(recorder.keys.value == [fixture.manager.cacheKey(for: request)])
        #expect(server.requests.map(\.method) == ["PUT"])
        #expect(server.requests.first?.headers["X-Signature"] == "1")
        // The key of the request decides what is cached, not the method that the interceptor chose.
        #expect(fixture.manager.cachedImage(for: request) != nil)
    }

    @Test("An interceptor and the caller receive the head of a rejected response")
    func rejected() async throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(statusCode: 403, headers: ["X-Reason": "quota"], body: Data("too many".utf8))
        }
        let recorder = Recorder(method: "GET")
        let fixture = try ManagerFixture { $0.downloader.interceptors = [recorder] }
        do throws(ImageError) {
            _ = try await fixture.manager.image(for: server.url("/a"))
            Issue.record("The request must fail.")
        } catch {
            guard case .network(let failure) = error else { throw error }
            #expect(failure.responseHead?.headers["X-Reason"] == "quota")
            #expect(failure.bodyPrefix == Data("too many".utf8))
        }
        #expect(recorder.statuses.value == [403])
        #expect(recorder.rows.value == [nil])
    }
}
