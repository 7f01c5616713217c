// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Negative caching", .timeLimit(.minutes(5)))
struct FailureTests {
    /// Returns a server that responds with 404 until `isThere` is `true`, and then with an image.
    private func server(_ isThere: Shared<Bool>, cacheControl: String? = nil) throws -> LoopbackServer {
        let resource = ServerResource(body: try TestImages.png(1), type: "image/png", cacheControl: "no-cache")
        return try LoopbackServer { request in
            guard !isThere.value else { return resource.response(to: request) }
            var response = LoopbackServer.Response(statusCode: 404, body: Data("gone".utf8))
            response.headers["Cache-Control"] = cacheControl
            return response
        }
    }

    private func code(_ fixture: ManagerFixture, _ request: ImageRequest) async -> Int? {
        do throws(ImageError) {
            _ = try await fixture.manager.image(for: request)
            return nil
        } catch {
            return error.signedCode
        }
    }

    @Test("C-10: A 404 is remembered for ten minutes, for images and for data, and then the URL is requested again")
    func notFound() async throws {
        let isThere = Shared(false)
        let server = try server(isThere)
        let fixture = try ManagerFixture()
        let request = ImageRequest(url: server.url("/a"))
        #expect(await code(fixture, request) == 2007)
        isThere.value = true
        #expect(await code(fixture, request) == -2007)
        await #expect(throws: ImageError.self) { try await fixture.manager.data(for: request) }
        #expect(server.counters.requests == 1)
        #expect(fixture.manager.failures.all.map(\.error.code) == [2007])
        // Programs that map errors to HTTP statuses see no difference.
        let again = await #expect(throws: ImageError.self) { try await fixture.manager.image(for: request) }
        #expect(again?.httpStatusCode == 404 && again?.code == 2007 && again?.isTransient == false)
        guard case .network(let failure)? = again, failure.reason == .unacceptableStatusCode else {
            Issue.record("a remembered failure has another case: \(String(describing: again))")
            return
        }
        #expect(again?.rememberedUntil == fixture.manager.failures.all.first?.until)
        fixture.pass(seconds: 600)
        #expect(await code(fixture, request) == nil)
        #expect(fixture.manager.failures.count == 0)
    }

    @Test("A decode error contains the earlier network failures, also if it's remembered")
    func attemptsBeforeBytes() async throws {
        let url = try #require(URL(string: "https://example.org/a"))
        let lost = ImageError.NetworkFailure(.connectionLost, url: url, phase: .receivingBody)
        let picture = try TestImages.png(1)
        for body in [Data("<html></html>".utf8), picture.prefix(picture.count / 2)] {
            let fixture = try ManagerFixture { $0.loaders = [SecondTryLoader(body: body, failures: [lost])] }
            let request = ImageRequest(url: url)
            for isRemembered in [false, true] {
                let error = await #expect(throws: ImageError.self) { try await fixture.manager.image(for: request) }
                #expect(error?.attempts == [lost] && (error?.rememberedUntil != nil) == isRemembered)
                #expect(error.map { $0.code / 1_000 } == 4)
            }
        }
    }

    @Test(
        "C-10: Requests that ignore failures, reload, or have alternatives bypass the negative cache, and a success clears it"
    )
    func ignoring() async throws {
        let isThere = Shared(false)
        let server = try server(isThere)
        let fixture = try ManagerFixture()
        var request = ImageRequest(url: server.url("/a"))
        #expect(await code(fixture, request) == 2007)
        request.caching.bypassesFailureCache = true
        #expect(await code(fixture, request) == 2007)
        request.caching.bypassesFailureCache = false
        request.cachePolicy = .reload
        #expect(await code(fixture, request) == 2007)
        request.cachePolicy = nil
        request.network.alternativeURLs = [server.url("/b")]
        isThere.value = true
        #expect(await code(fixture, request) == nil)
        request.network.alternativeURLs = []
        #expect(await code(fixture, request) == nil)
        #expect(server.counters.requests == 5)
    }

    @Test("The freshness lifetime of the response takes precedence")
    func freshness() async throws {
        let isThere = Shared(false)
        let server = try server(isThere, cacheControl: "max-age=20")
        let never = try self.server(isThere, cacheControl: "no-store")
        let fixture = try ManagerFixture()
        #expect(await code(fixture, ImageRequest(url: server.url("/a"))) == 2007)
        fixture.pass(seconds: 19)
        #expect(await code(fixture, ImageRequest(url: server.url("/a"))) == -2007)
        fixture.pass(seconds: 1)
        #expect(await code(fixture, ImageRequest(url: server.url("/a"))) == 2007)
        for _ in 0..<2 { #expect(await code(fixture, ImageRequest(url: never.url("/a"))) == 2007) }
    }

    @Test("Row 42: HTML instead of an image is an error with the status and the content type, and is remembered")
    func html() async throws {
        let server = try LoopbackServer { _ in
            var response = LoopbackServer.Response(statusCode: 200, body: Data("<!DOCTYPE html><html><body>no".utf8))
            response.headers["Content-Type"] = "image/png"
            return response
        }
        let fixture = try ManagerFixture()
        let request = ImageRequest(url: server.url("/a"))
        let expected = ImageError.decoding(.notAnImage(.html, status: 200, contentType: "image/png"))
        await #expect(throws: expected) { try await fixture.manager.image(for: request) }
        do throws(ImageError) {
            _ = try await fixture.manager.image(for: request)
            Issue.record("the image wasn't loaded")
        } catch {
            #expect(error.rememberedUntil != nil && error.remembered(until: nil) == expected)
        }
        #expect(server.counters.requests == 1)
        fixture.pass(seconds: 60)
        await #expect(throws: expected) { try await fixture.manager.image(for: request) }
        #expect(server.counters.requests == 2)
    }

    /// The responses of captive portals: a page, a page that's too large to be received with its head, and data of an
    /// unknown format.
    static let portals: [Data] = [
        Data("<!DOCTYPE html><html><body>Sign in".utf8),
        Data("<!DOCTYPE html><html><body>".utf8) + Data(repeating: UInt8(ascii: "a"), count: 300_000),
        Data([0, 1, 2, 3, 4, 5, 6, 7]),
    ]

    /// Returns a server that responds like a captive portal until `isOpen` is `true`, and then with an image.
    private func portalServer(_ page: Data, _ isOpen: Shared<Bool>, cacheControl: String?) throws -> LoopbackServer {
        let image = try TestImages.png(1)
        return try LoopbackServer { _ in
            guard !isOpen.value else { return .ok(image, contentType: "image/png") }
            return .ok(page, contentType: "text/html").with { $0.headers["Cache-Control"] = cacheControl }
        }
    }

    @Test("A page of a captive portal that must not be stored isn't remembered", arguments: portals.indices)
    func uncacheablePortal(_ index: Int) async throws {
        let isOpen = Shared(false)
        let server = try portalServer(Self.portals[index], isOpen, cacheControl: "no-store")
        let fixture = try ManagerFixture()
        let request = ImageRequest(url: server.url("/a"))
        #expect(await code(fixture, request).map { $0 / 1_000 } == 4)
        #expect(fixture.manager.failures.count == 0)
        isOpen.value = true
        #expect(await code(fixture, request) == nil)
        #expect(server.counters.requests == 2)
    }

    @Test("A page of a captive portal is remembered for one minute", arguments: portals.indices)
    func cacheablePortal(_ index: Int) async throws {
        let isOpen = Shared(false)
        let server = try portalServer(Self.portals[index], isOpen, cacheControl: nil)
        let fixture = try ManagerFixture()
        let request = ImageRequest(url: server.url("/a"))
        let first = await code(fixture, request)
        #expect(first.map { $0 / 1_000 } == 4)
        isOpen.value = true
        fixture.pass(seconds: 59)
        #expect(await code(fixture, request) == first.map { -$0 })
        #expect(server.counters.requests == 1)
        fixture.pass(seconds: 1)
        #expect(await code(fixture, request) == nil)
    }

    @Test("A corrupt image is remembered, and network errors and cancellations aren't")
    func broken() async throws {
        var png = try TestImages.png(1)
        png.replaceSubrange((png.count / 2)..<(png.count - 12), with: Data(count: png.count - 12 - png.count / 2))
        let body = png
        let server = try LoopbackServer { request in
            ServerResource(body: body, type: "image/png", cacheControl: "max-age=60").response(to: request)
        }
        let fixture = try ManagerFixture()
        let request = ImageRequest(url: server.url("/a"))
        let first = await code(fixture, request)
        #expect(first.map { $0 / 1_000 } == 4)
        #expect(await code(fixture, request) == first.map { -$0 })
        #expect(server.counters.requests == 1)
        server.stop()
        for _ in 0..<2 { #expect(await code(fixture, ImageRequest(url: server.url("/c"))).map { $0 / 1_000 } == 2) }
        let task = fixture.manager.load(ImageRequest(url: server.url("/d")))
        task.cancel()
        _ = try? await task.image
        #expect(fixture.manager.failures.count == 1)
    }

    @Test("A stale image is returned for a remembered error in the same way as for a new error")
    func stale() async throws {
        let resource = ServerResource(
            body: try TestImages.png(1), type: "image/png", etag: "\"one\"", cacheControl: "max-age=60")
        let server = try LoopbackServer { resource.response(to: $0) }
        let fixture = try ManagerFixture { $0.failureLifetime = { _ in .seconds(60) } }
        let request = ImageRequest(url: server.url("/a"))
        _ = try await fixture.manager.image(for: request)
        fixture.pass(seconds: 61)
        server.stop()
        for isRemembered in [false, true] {
            let response = try await fixture.manager.response(for: request)
            #expect(response.isStale)
            #expect((response.revalidationError?.rememberedUntil != nil) == isRemembered)
        }
    }

    @Test("Removing a request from the caches removes its negative cache entry")
    func removal() async throws {
        let isThere = Shared(false)
        let server = try server(isThere)
        let fixture = try ManagerFixture()
        let request = ImageRequest(url: server.url("/a"))
        for _ in 0..<2 {
            #expect(await code(fixture, request) == 2007)
            await fixture.manager.removeCachedImage(for: request)
        }
        #expect(await code(fixture, request) == 2007)
        await fixture.manager.removeAllCachedImages()
        #expect(await code(fixture, request) == 2007)
    }

    @Test("An error contains all attempts, including retries and alternatives, also if it's remembered")
    func attempts() async throws {
        let server = try LoopbackServer { request in
            LoopbackServer.Response(statusCode: request.target == "/a" ? 503 : 404)
        }
        let fixture = try ManagerFixture {
            $0.downloader.retry = RetryPolicy(maxAttempts: 3, baseDelay: .zero, maxDelay: .zero)
            $0.failureLifetime = { _ in .seconds(60) }
        }
        var request = ImageRequest(url: server.url("/a"))
        request.network.alternativeURLs = [server.url("/b"), server.url("/c")]
        let first = await error(fixture, request)
        #expect(first?.code == 2007)
        let statuses: [Int?] = [503, 503, 503, 404, 404]
        #expect(first?.attempts.map(\.statusCode) == statuses)
        #expect(first?.attempts.map(\.attempt) == [1, 2, 3, 4, 5])
        #expect(first?.attempts.map { $0.url.path } == ["/a", "/a", "/a", "/b", "/c"])
        #expect(first?.attempts.allSatisfy { $0.earlier.isEmpty } == true)
        request.network.alternativeURLs = []
        let second = await error(fixture, request)
        // The remembered error of the URL itself. The alternatives are no longer requested.
        #expect(second?.code == 2007 && second?.rememberedUntil != nil)
        #expect(second?.attempts.map(\.statusCode) == [503, 503, 503])
        #expect(server.counters.requests == 5)
        #expect(ImageError.cancelled.attempts.isEmpty)
    }

    private func error(_ fixture: ManagerFixture, _ request: ImageRequest) async -> ImageError? {
        do throws(ImageError) {
            _ = try await fixture.manager.image(for: request)
            return nil
        } catch {
            return error
        }
    }
}

/// A loader whose response reports earlier failed attempts.
private struct SecondTryLoader: ImageLoader {
    let body: Data
    let failures: [ImageError.NetworkFailure]

    func canLoad(_ url: URL) -> Bool { true }

    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        var metrics = NetworkMetrics()
        metrics.failures = failures
        metrics.attemptCount = failures.count + 1
        return LoadResponse(
            httpResponse: HTTPResponseHead(statusCode: 200), body: body, url: request.url, requestDate: Date(),
            responseDate: Date(), metrics: metrics)
    }
}
