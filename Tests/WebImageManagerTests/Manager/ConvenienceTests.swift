// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Conveniences of the manager", .timeLimit(.minutes(5)))
struct ConvenienceTests {
    @Test("The results of many requests arrive as they finish, each with its request, up to the limit at a time")
    func results() async throws {
        let table = try Migration()
        let gate = TestGate()
        let slow = try table.request(1, gate: gate)
        let requests = try [slow, table.request(2), table.request(3, Data("text".utf8))]
        var order: [URL] = []
        for await (request, result) in table.manager.results(for: requests, maxConcurrent: 2) {
            order.append(request.url)
            switch result {
            case .success(let response): #expect(response.url == request.url)
            case .failure(let error): #expect(request.url == requests[2].url && error != .cancelled)
            }
            if order.count == 2 { gate.open() }
        }
        #expect(order == [requests[1].url, requests[2].url, slow.url])
        for await _ in table.manager.results(for: []) { Issue.record("a result without a request") }
    }

    @Test("Ending the iteration of the results cancels the requests in flight")
    func abandoned() async throws {
        let table = try Migration()
        let gate = TestGate()
        let requests = try [table.request(1), table.request(2, gate: gate)]
        for await _ in table.manager.results(for: requests) { break }
        await untilTrue { table.manager.statistics.cancellations == 1 }
        #expect(table.manager.statistics.cancellations == 1)
        gate.open()
    }

    @Test("A manager has the configuration that it was created with, and no disk cache without its configuration")
    func configuration() async throws {
        var configuration = ImageManager.Configuration()
        configuration.diskCache = nil
        configuration.memoryCache.countLimit = 1
        configuration.memoryPressureMonitor = MemoryPressureMonitor(observesSystem: false)
        let manager = ImageManager(configuration: configuration)
        #expect(manager.diskCache == nil && manager.diskCacheError == nil)
        #expect(manager.configuration.memoryCache.countLimit == 1 && manager.configuration.storesEncodedImages)
        await manager.shutdown()
    }

    @Test("The shared manager can be replaced, and objects keep the manager that they were created with")
    func shared() async throws {
        func manager() -> ImageManager {
            ImageManager {
                $0.diskCache = nil
                $0.memoryPressureMonitor = MemoryPressureMonitor(observesSystem: false)
            }
        }
        let (first, second) = (manager(), manager())
        // Set the manager before reading it, because reading it creates one with the default configuration.
        ImageManager.shared = first
        #expect(ImageManager.shared === first)
        let prefetcher = ImagePrefetcher { $0.pausesOnMeteredNetworks = false }
        ImageManager.shared = second
        #expect(ImageManager.shared === second)
        let request = ImageRequest(data: try TestImages.png(1))
        #expect(await prefetcher.prefetch([request]).result.loadedCount == 1)
        #expect(first.cachedImage(for: request) != nil && second.cachedImage(for: request) == nil)
    }

    @Test("The image at a URL is available from memory without a request")
    func cachedImage() async throws {
        let table = try Migration()
        let url = try table.serve()
        #expect(table.manager.cachedImage(for: url) == nil)
        let image = try await table.manager.image(for: url)
        #expect(table.manager.cachedImage(for: url) === image && table.requestCount == 1)
        #expect(try table.manager.cachedImage(for: Migration.url(2)) == nil)
    }

    @Test("The original data is available by URL, and its key is that of the disk cache")
    func data() async throws {
        let table = try Migration()
        let url = try table.serve()
        #expect(try await table.manager.data(for: url) == TestImages.png(1))
        let key = table.manager.cacheKey(for: ImageRequest(url: url))
        await table.manager.diskCache?.flush()
        #expect(await table.manager.diskCache?.entry(for: key)?.data == (try TestImages.png(1)))
    }

    @Test("An encoded image has the format, the media type, and the size of its data")
    func encoded() async throws {
        let table = try Migration()
        let request = ImageRequest(url: try table.serve(), size: .fit(width: 32))
        let image = try await table.manager.encodedImage(for: request, as: .jpeg)
        #expect(image.format == .jpeg && image.mimeType == "image/jpeg")
        #expect(image.size == PixelSize(width: 32, height: 24))
    }

    @Test("A response for interceptors and tests is local and never becomes stale")
    func response() throws {
        let url = try Migration.url(1)
        let response = ImageResponse(image: DecodedImage(pixels: try TestImages.pixels(1)), url: url)
        #expect(response.source == .local && response.expiresAt == nil && response.timings.isEmpty)
        #expect(response.httpResponse == nil && response.finalURL == nil)
    }

    @Test("A downloaded response has its HTTP status and the date at which it becomes stale")
    func expiration() async throws {
        let resource = ServerResource(
            body: try TestImages.png(1), type: "image/png", etag: nil, cacheControl: "max-age=60")
        let server = try LoopbackServer { resource.response(to: $0) }
        defer { server.stop() }
        let fixture = try ManagerFixture()
        let response = try await fixture.manager.response(for: ImageRequest(url: server.url("/a")))
        #expect(response.httpResponse?.statusCode == 200)
        let rest = try #require(response.expiresAt).timeIntervalSince(fixture.now)
        #expect(rest > 50 && rest <= 60)
        #expect(try #require(response.timings[.request]) >= response.timings[.decode] ?? .zero)
    }
}
