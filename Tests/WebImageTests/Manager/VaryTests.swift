// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("One URL, several answers", .timeLimit(.minutes(1)))
struct VaryTests {
    /// Answers with another picture for each value of the field Theme, and says so.
    private func server(cacheControl: String = "max-age=60", vary: String = "Theme") throws -> LoopbackServer {
        let pictures = try ["dark": 1, "light": 2, "none": 3].mapValues { try TestPictures.png($0) }
        return try LoopbackServer { request in
            let theme = request.fields["Theme"] ?? "none"
            let resource = ServerResource(
                body: pictures[theme] ?? Data(), type: "image/png", etag: "\"\(theme)\"", cacheControl: cacheControl)
            var response = resource.response(to: request)
            response.fields["Vary"] = vary
            return response
        }
    }

    private func request(_ server: LoopbackServer, _ theme: String?) -> ImageRequest {
        var request = ImageRequest(server.url("/a"))
        if let theme { request.fields["Theme"] = theme }
        // Vary alone separates the responses, not the key.
        request.varyingFields = []
        return request
    }

    @Test("each request gets its own, and after a restart both are on disk")
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
            #expect(response.origin == .disk)
            #expect(try await fixture.manager.data(for: request(server, "dark")) == dark)
        }
        #expect(server.counters.requests == 2)
    }

    @Test("a picture in memory that was chosen by another value is not shown")
    func memory() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        let dark = try await fixture.manager.image(for: request(server, "dark"))
        let light = try await fixture.manager.image(for: request(server, "light"))
        #expect(dark.pixels.packedBytes() != light.pixels.packedBytes())
        #expect(fixture.manager.cachedImage(for: request(server, "light")) === light)
        #expect(fixture.manager.cachedImage(for: request(server, "dark")) == nil)
        let again = fixture.manager.load(request(server, "dark"))
        #expect(await again.eventNames() == ["started", "finished disk"])
        #expect(try await again.image.pixels.packedBytes() == dark.pixels.packedBytes())
        #expect(server.counters.requests == 2)
    }

    @Test("a 304 for one leaves the other as stale as it was")
    func confirmed() async throws {
        let server = try server()
        var fixture = try ManagerFixture()
        for theme in ["dark", "light"] { _ = try await fixture.manager.image(for: request(server, theme)) }
        fixture.pass(seconds: 61)
        _ = try await fixture.manager.image(for: request(server, "dark"))
        fixture = try await fixture.restarted()
        #expect(try await fixture.manager.response(for: request(server, "dark")).origin == .disk)
        #expect(try await fixture.manager.response(for: request(server, "light")).origin == .revalidated)
        #expect(server.requests.map { $0.fields["If-None-Match"] } == [nil, nil, "\"dark\"", "\"light\""])
    }

    @Test("asked for at the same moment, both get their own")
    func together() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        let themes = ["dark", "light", "dark", "light", nil]
        let tasks = themes.map { fixture.manager.load(request(server, $0)) }
        let expected = try [1, 2, 1, 2, 3].map { try TestPictures.png($0) }
        for (task, bytes) in zip(tasks, expected) {
            let image = try await task.image
            #expect(image.resource?.digest == ContentDigest(of: bytes))
        }
    }

    @Test("removing a request's bytes removes all its variants")
    func removal() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        for theme in ["dark", "light"] { _ = try await fixture.manager.image(for: request(server, theme)) }
        await fixture.manager.removeCached(request(server, "dark"))
        for theme in ["dark", "light"] { _ = try await fixture.manager.data(for: request(server, theme)) }
        #expect(server.counters.requests == 4)
    }

    @Test("Vary names what the downloader adds by itself: another Accept selects another answer")
    func negotiated() async throws {
        let server = try server(vary: "Accept")
        var fixture = try ManagerFixture()
        _ = try await fixture.manager.image(for: request(server, nil))
        fixture = try await fixture.restarted()
        #expect(try await fixture.manager.response(for: request(server, nil)).origin == .disk)
        fixture = try await fixture.restarted { $0.downloader.accept = "image/avif" }
        #expect(try await fixture.manager.response(for: request(server, nil)).origin == .network)
    }

    @Test("answers of different people are kept apart, and no credentials are written")
    func credentials() async throws {
        let server = try LoopbackServer { request in
            let seed = request.fields["Authorization"] == nil ? 1 : 2
            let body = (try? TestPictures.png(seed)) ?? Data()
            return ServerResource(body: body, type: "image/png", cacheControl: "max-age=60").response(to: request)
        }
        let fixture = try ManagerFixture()
        var anna = request(server, nil)
        anna.fields["Authorization"] = "Basic c2VjcmV0"
        anna.varyingFields = []
        var nobody = request(server, nil)
        nobody.varyingFields = []
        let public_ = try await fixture.manager.data(for: nobody)
        let private_ = try await fixture.manager.data(for: anna)
        #expect(public_ != private_)
        #expect(try await fixture.manager.data(for: nobody) == public_)
        #expect(server.counters.requests == 2)
        await fixture.manager.diskCache?.flush()
        let secret = Data("c2VjcmV0".utf8)
        for path in try FileManager.default.subpathsOfDirectory(atPath: fixture.folder.file("cache")) {
            guard let bytes = FileManager.default.contents(atPath: fixture.folder.file("cache/\(path)")) else {
                continue
            }
            #expect(bytes.range(of: secret) == nil, "\(path)")
        }
    }

    @Test("the manager's HTTP policy decides where HTTP leaves the choice")
    func policy() async throws {
        let body = try TestPictures.png(1)
        let resource = ServerResource(body: body, type: "image/png", etag: "\"one\"")
        let server = try LoopbackServer { resource.response(to: $0) }
        let fixture = try ManagerFixture {
            $0.cache.http.defaultLifetime = 100
            $0.cache.http.staleWhenUnreachable = false
        }
        _ = try await fixture.manager.image(for: request(server, nil))
        fixture.pass(seconds: 99)
        #expect(try fixture.manager.load(request(server, nil)).result?.get().origin == .memory)
        fixture.pass(seconds: 2)
        server.stop()
        await #expect(throws: ImageError.self) { try await fixture.manager.image(for: request(server, nil)) }
    }
}
