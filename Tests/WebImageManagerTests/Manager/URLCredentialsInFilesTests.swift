// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Credentials of URLs in the cache", .timeLimit(.minutes(5)))
struct URLCredentialsInFilesTests {
    private func url(_ server: LoopbackServer, _ credentials: String) throws -> URL {
        try #require(URL(string: "http://\(credentials)@127.0.0.1:\(server.url("/").port ?? 0)/a.png"))
    }

    /// Returns all cache files that contain one of the texts.
    private func files(in folder: String, containing texts: [String]) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter { name in
            guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else { return false }
            return texts.contains { data.range(of: Data($0.utf8)) != nil || name.contains($0) }
        }
    }

    @Test("No cache file contains the credentials of a URL, and the image is in the cache after a restart")
    func files() async throws {
        let resource = ServerResource(
            body: try TestImages.png(1), type: "image/png", cacheControl: "max-age=3600")
        let server = try LoopbackServer { resource.response(to: $0) }
        var fixture = try ManagerFixture()
        var request = ImageRequest(url: try url(server, "horse:battery-staple"), size: .fit(width: 20))
        request.caching.processedEncoding = .png
        request.caching.waitsUntilStored = true
        let response = try await fixture.manager.response(for: request)
        #expect(response.finalURL == server.url("/a.png"))
        _ = try await fixture.manager.encodedImage(for: request, as: .webp).data
        await fixture.manager.diskCache?.flush()
        let sources = await fixture.manager.diskCache?.entries().map(\.source) ?? []
        #expect(sources.count == 3 && Set(sources) == [server.url("/a.png").absoluteString])
        fixture = try await fixture.restarted()
        let secrets = ["horse", "battery-staple", Data("horse:battery-staple".utf8).base64EncodedString()]
        #expect(try files(in: fixture.directory.path, containing: secrets) == [])
        #expect(try await fixture.manager.response(for: request).source == .diskCache)
        #expect(server.counters.requests == 1)
    }

    @Test("URLs with different credentials and without credentials are separate images")
    func separate() async throws {
        let resource = ServerResource(
            body: try TestImages.png(1), type: "image/png", cacheControl: "max-age=3600")
        let server = try LoopbackServer { resource.response(to: $0) }
        let fixture = try ManagerFixture()
        let urls = try [url(server, "a:b"), url(server, "a:c"), url(server, "a"), server.url("/a.png")]
        for _ in 1...2 { for url in urls { _ = try await fixture.manager.image(for: url) } }
        #expect(server.counters.requests == 4)
    }
}
