// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Variants of a URL", .timeLimit(.minutes(5)))
struct VaryTests {
    /// Returns a server that responds with a different image for each value of the header field `Theme` and with a
    /// `Vary` field.
    private func server(cacheControl: String = "max-age=60", vary: String = "Theme") throws -> LoopbackServer {
        let pictures = try ["dark": 1, "light": 2, "none": 3].mapValues { try TestImages.png($0) }
        return try LoopbackServer { request in
            let theme = request.headers["Theme"] ?? "none"
            let resource = ServerResource(
                body: pictures[theme] ?? Data(), type: "image/png", etag: "\"\(theme)\"", cacheControl: cacheControl)
            var response = resource.response(to: request)
            response.headers["Vary"] = vary
            return response
        }
    }

    private func request(_ server: LoopbackServer, _ theme: String?) -> ImageRequest {
        var request = ImageRequest(url: server.url("/a"))
        if let theme { request.headers["Theme"] = theme }
        // Only `Vary` separates the responses, not the cache key.
        request.caching.keyHeaders = []
        return request
    }

    @Test("Each request receives its variant, and after a restart both variants are on disk")
    func sideBySide() async throws {
        let server = try server()
        var fixture = try ManagerFixture()
        let dark = try await fixture.manager.data(for: request(server, "dark"))
        let light = try await fixture.manager.data(for: request(server, "light"))
        #expect(dark != light)
        for _ in 0..<2 {
            fixture = try await fixture.restarted()
            #expect(try await fixture.manager.data(for: request(server, "light")) == light)
            let response = try await fixture.manager.response(for: request(server, "dark"))
            #expect(response.source == .diskCache)
            #expect(try await fixture.manager.data(for: request(server, "dark")) == dark)
        }
        #expect(server.counters.requests == 2)
    }

    @Test("An image in memory that belongs to another variant isn't returned")
    func memory() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        let dark = try await fixture.manager.image(for: request(server, "dark"))
        let light = try await fixture.manager.image(for: request(server, "light"))
        #expect(dark.pixels.packedBytes() != light.pixels.packedBytes())
        #expect(fixture.manager.cachedImage(for: request(server, "light")) === light)
        #expect(fixture.manager.cachedImage(for: request(server, "dark")) == nil)
        let again = fixture.manager.load(request(server, "dark"))
        #expect(await again.eventNames() == ["started", "finished diskCache"])
        #expect(try await again.image.pixels.packedBytes() == dark.pixels.packedBytes())
        #expect(server.counters.requests == 2)
    }

    @Test("A 304 for one variant leaves the other one stale")
    func confirmed() async throws {
        let server = try server()
        var fixture = try ManagerFixture()
        for theme in ["dark", "light"] { _ = try await fixture.manager.image(for: request(server, theme)) }
        fixture.pass(seconds: 61)
        _ = try await fixture.manager.image(for: request(server, "dark"))
        fixture = try await fixture.restarted()
        #expect(try await fixture.manager.response(for: request(server, "dark")).source == .diskCache)
        #expect(try await fixture.manager.response(for: request(server, "light")).source == .revalidated)
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, nil, "\"dark\"", "\"light\""])
    }

    @Test("Concurrent requests for different variants receive their own variants")
    func together() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        let themes = ["dark", "light", "dark", "light", nil]
        let tasks = themes.map { fixture.manager.load(request(server, $0)) }
        let expected = try [1, 2, 1, 2, 3].map { try TestImages.png($0) }
        for (task, bytes) in zip(tasks, expected) {
            let image = try await task.image
            #expect(image.originalInfo?.digest == ContentDigest(of: bytes))
        }
    }

    @Test("Removing the data of a request removes all its variants")
    func removal() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        for theme in ["dark", "light"] { _ = try await fixture.manager.image(for: request(server, theme)) }
        await fixture.manager.removeCachedImage(for: request(server, "dark"))
        for theme in ["dark", "light"] { _ = try await fixture.manager.data(for: request(server, theme)) }
        #expect(server.counters.requests == 4)
    }

    @Test("With `Vary: Accept`, another `Accept` value of the downloader selects another variant")
    func negotiated() async throws {
        let server = try server(vary: "Accept")
        var fixture = try ManagerFixture()
        _ = try await fixture.manager.image(for: request(server, nil))
        fixture = try await fixture.restarted()
        #expect(try await fixture.manager.response(for: request(server, nil)).source == .diskCache)
        fixture = try await fixture.restarted { $0.downloader.accept = "image/avif" }
        #expect(try await fixture.manager.response(for: request(server, nil)).source == .network)
    }

    @Test("Responses with and without credentials are separated, and credentials aren't written to disk")
    func credentials() async throws {
        let server = try LoopbackServer { request in
            let seed = request.headers["Authorization"] == nil ? 1 : 2
            let body = (try? TestImages.png(seed)) ?? Data()
            return ServerResource(body: body, type: "image/png", cacheControl: "max-age=60").response(to: request)
        }
        let fixture = try ManagerFixture()
        var anna = request(server, nil)
        anna.headers["Authorization"] = "Basic c2VjcmV0"
        anna.caching.keyHeaders = []
        var nobody = request(server, nil)
        nobody.caching.keyHeaders = []
        let public_ = try await fixture.manager.data(for: nobody)
        let private_ = try await fixture.manager.data(for: anna)
        #expect(public_ != private_)
        #expect(try await fixture.manager.data(for: nobody) == public_)
        #expect(server.counters.requests == 2)
        await fixture.manager.diskCache?.flush()
        let secret = Data("c2VjcmV0".utf8)
        for path in try FileManager.default.subpathsOfDirectory(atPath: fixture.directory.file("cache")) {
            guard let bytes = FileManager.default.contents(atPath: fixture.directory.file("cache/\(path)")) else {
                continue
            }
            #expect(bytes.range(of: secret) == nil, "\(path)")
        }
    }

    @Test("The HTTP policy of the manager applies if HTTP leaves the choice")
    func policy() async throws {
        let body = try TestImages.png(1)
        let resource = ServerResource(body: body, type: "image/png", etag: "\"one\"")
        let server = try LoopbackServer { resource.response(to: $0) }
        let fixture = try ManagerFixture {
            $0.httpCachePolicy.defaultLifetime = .seconds(100)
            $0.httpCachePolicy.servesStaleWhenUnreachable = false
        }
        _ = try await fixture.manager.image(for: request(server, nil))
        fixture.pass(seconds: 99)
        #expect(try fixture.manager.load(request(server, nil)).result?.get().source == .memoryCache)
        fixture.pass(seconds: 2)
        server.stop()
        await #expect(throws: ImageError.self) { try await fixture.manager.image(for: request(server, nil)) }
    }
}
