// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

/// Runs the snippets of the articles about alternatives, preliminary requests, and qualities.
@Suite("Articles about requests", .timeLimit(.minutes(5)))
struct RequestArticleTests {
    private func server() throws -> LoopbackServer {
        let headers = Numbered.head(1).headers
        return try LoopbackServer { request in
            guard let number = Int(request.path.dropFirst()) else { return .status(404) }
            return LoopbackServer.Response(headers: headers, body: Numbered.data(number))
        }
    }

    @Test("A smaller image is displayed first, and the image follows")
    func preliminary() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        let manager = fixture.manager
        let (url, thumbnail) = (server.url("/1"), server.url("/2"))
        // An image in memory is delivered immediately.
        _ = try await manager.image(for: thumbnail)

        var request = ImageRequest(url: url)
        request.preliminary = ImageRequest(url: thumbnail)
        let task = manager.load(request)
        for await preview in task.previews { #expect(Numbered.number(of: preview) == 2 && !preview.metadata.isPartial) }
        let image = try await task.image

        #expect(Numbered.number(of: image) == 1)
    }

    @Test("A metered network selects the lowest quality")
    func quality() async throws {
        let server = try server()
        let conditions = NetworkConditions(isMetered: true)
        let fixture = try ManagerFixture { $0.networkConditions = conditions }
        let manager = fixture.manager
        let (url, medium, small) = (server.url("/1"), server.url("/2"), server.url("/3"))

        var request = ImageRequest(url: url)
        request.lowerQuality.urls = [medium, small]
        let response = try await manager.response(for: request)

        #expect(response.url == small && Numbered.number(of: response.image) == 3)
    }

    @Test("A file is the last alternative")
    func alternatives() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        let (url, mirror) = (server.url("/none"), server.url("/none-either"))
        let file = URL(filePath: fixture.directory.file("a.png"))
        try Numbered.data(4).write(to: file)

        var request = ImageRequest(url: url)
        request.network.alternativeURLs = [mirror, file]
        let response = try await fixture.manager.response(for: request)

        #expect(response.source == .local && response.metrics?.attemptCount == 3)
        #expect(Numbered.number(of: response.image) == 4)
    }
}
