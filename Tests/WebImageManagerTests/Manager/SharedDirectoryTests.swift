// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Managers that share a cache directory", .timeLimit(.minutes(5)))
struct SharedDirectoryTests {
    @Test("A running manager finds the images and the encodings that another one stored, without requests")
    func running() async throws {
        let folder = try TestImages.temporaryDirectory()
        let body = try TestImages.png(1)
        let loader = StubLoader { _ in .init(body: body) }
        func fixture() throws -> ManagerFixture {
            try ManagerFixture(directory: folder) {
                $0.loaders = [loader]
                $0.cachePolicy = .cacheFirst
                // Each lookup checks the files of unknown entries, as after the usual interval.
                $0.diskCache?.refreshInterval = 0
            }
        }
        let (running, other) = (try fixture(), try fixture())
        await running.manager.cache.flush()
        let requests = try (0..<20).map { number in
            ImageRequest(url: try #require(URL(string: "https://example.org/\(number).png")))
        }
        for request in requests {
            var cached = request
            cached.cachePolicy = .cacheOnly
            #expect(await running.manager.code(of: cached) == 3001)
            _ = try await other.manager.encodedImage(for: request, as: .jpeg)
            await other.manager.cache.flush()
            #expect(try await running.manager.response(for: cached).source == .diskCache)
            _ = try await running.manager.encodedImage(for: cached, as: .jpeg)
        }
        #expect(loader.requests.count == 20 && running.manager.statistics.encodes == 0)
        await other.manager.removeCachedImage(for: requests[0])
        await other.manager.cache.flush()
        running.manager.memoryCache.removeAll()
        await running.manager.letsGo(of: requests[0])
        #expect(try await running.manager.response(for: requests[0]).source == .network)
    }
}
