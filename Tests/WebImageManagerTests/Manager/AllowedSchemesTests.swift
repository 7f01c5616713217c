// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Allowed schemes", .timeLimit(.minutes(5)))
struct AllowedSchemesTests {
    private func failure(_ manager: ImageManager, _ request: ImageRequest) async -> ImageError? {
        do throws(ImageError) {
            _ = try await manager.image(for: request)
            return nil
        } catch {
            return error
        }
    }

    @Test("A manager for public addresses reads no local files, and its errors don't reveal which files exist")
    func files() async throws {
        let fixture = try ManagerFixture {
            $0.limits = .server
            $0.downloader.addressPolicy = .publicOnly
        }
        let manager = fixture.manager
        let existing = URL(filePath: fixture.directory.file("a.png"))
        try TestImages.png(1).write(to: existing)
        for url in [existing, URL(filePath: fixture.directory.file("none.png")), URL(filePath: "/root/secret.png")] {
            let request = ImageRequest(url: url)
            let expected = ImageError.request(.unsupportedScheme("file"))
            #expect(await failure(manager, request) == expected)
            await #expect(throws: expected) { try await manager.data(for: request) }
            await #expect(throws: expected) { try await manager.encodedImage(for: request, as: .png).data }
            #expect(manager.loadCachedImageSynchronously(for: request, from: .all) == nil)
        }
        let data = try #require(URL(string: "data:image/png;base64,\(try TestImages.png(1).base64EncodedString())"))
        #expect(await failure(manager, ImageRequest(url: data)) == .request(.unsupportedScheme("data")))
    }

    @Test("The server configuration allows HTTPS, HTTP, and public addresses and limits the number of requests")
    func server() {
        let configuration = ImageManager.Configuration.server
        #expect(configuration.allowedSchemes == ["https", "http"])
        #expect(configuration.downloader.addressPolicy == .publicOnly)
        #expect(configuration.limits == .server && configuration.maxInFlightRequests == 256)
        let downloader = configuration.downloader
        #expect(downloader.connectTimeout == .seconds(3) && downloader.idleTimeout == .seconds(5))
        #expect(downloader.timeout == .seconds(10) && downloader.maxRedirects == 5)
        #expect(downloader.allowedPorts == [80, 443])
        #expect(
            downloader.minimumSpeed
                == ImageDownloader.Configuration.MinimumSpeed(bytesPerSecond: 8 << 10, duration: .seconds(5)))
        var changed = configuration
        changed.limits.maxPixels = 1_000_000
        #expect(changed.maxInFlightRequests == 256)
    }

    @Test("Schemes are set independently of addresses, ignore case, and don't apply to custom sources")
    func setting() async throws {
        let fixture = try ManagerFixture {
            $0.downloader.addressPolicy = .publicOnly
            $0.allowedSchemes = ["FILE"]
        }
        let file = URL(filePath: fixture.directory.file("a.png"))
        try TestImages.png(1).write(to: file)
        #expect(await failure(fixture.manager, ImageRequest(url: file)) == nil)
        let http = try #require(URL(string: "http://a.example/"))
        #expect(await failure(fixture.manager, ImageRequest(url: http)) == .request(.unsupportedScheme("http")))
        var own = ImageRequest(url: http)
        own.loader = ImageRequest(data: try TestImages.png(2), cacheKey: "own").loader
        #expect(await failure(fixture.manager, own) == nil)
        let made = try DecodedImage(pixels: TestImages.pixels(3))
        #expect(await failure(fixture.manager, ImageRequest(cacheKey: "made", image: { made })) == nil)
    }

    @Test("Redirects and alternatives obey the allowed schemes")
    func redirects() async throws {
        let other = try LoopbackServer(routes: ["/b": .ok(try TestImages.png(1), contentType: "image/png")])
        let secure = "https://127.0.0.1:\(other.url("/").port ?? 0)/b"
        let server = try LoopbackServer(routes: [
            "/to": .redirect(to: secure), "/none": LoopbackServer.Response(statusCode: 404, body: Data("none".utf8)),
        ])
        let fixture = try ManagerFixture { $0.allowedSchemes = ["http"] }
        let error = await failure(fixture.manager, ImageRequest(url: server.url("/to")))
        guard case .network(let refused) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refused.reason == .redirectNotAllowed && refused.attempt == 1)
        var request = ImageRequest(url: server.url("/none"))
        request.network.alternativeURLs = [try #require(URL(string: secure)), other.url("/b")]
        request.network.retry = .never
        #expect(try await fixture.manager.response(for: request).finalURL == other.url("/b"))
        request = ImageRequest(url: server.url("/none"))
        request.caching.bypassesFailureCache = true
        request.network.alternativeURLs = [try #require(URL(string: secure))]
        #expect(await failure(fixture.manager, request)?.attempts.map(\.statusCode) == [404])
        #expect(other.counters.connections == 1)
    }
}
