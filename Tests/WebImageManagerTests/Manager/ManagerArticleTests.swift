// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// Tests of the behavior that the articles Requests, Servers, and Testing describe.
@Suite("Articles about the manager", .timeLimit(.minutes(5)))
struct ManagerArticleTests {
    private struct Mailbox: Sendable {
        func attachment(_ mail: Int, _ part: Int) async throws -> Data { try TestImages.png(mail + part) }
    }

    private func show(_ image: DecodedImage) { #expect(!image.size.isEmpty) }

    @Test("A request delivers its events")
    func events() async throws {
        let table = try Migration()
        let (manager, url) = (table.manager, try table.serve())

        let task = manager.load(ImageRequest(url: url, size: .fit(width: 320)))
        for await event in task.events {
            switch event {
            case .started: break
            case .waiting(let reason): print("waits: \(reason)")
            case .progress(let progress): print(progress.fraction ?? 0)
            case .cached(let response): show(response.image)
            case .preview(let image): show(image)
            case .finished(let result): show(try result.get().image)
            }
        }
    }

    @Test("Images load from data, closures, and drawings")
    func sources() async throws {
        let manager = try ManagerFixture().manager
        let data = try TestImages.png(1)
        let mailbox = Mailbox()
        let chart: @Sendable () throws -> PixelBuffer = { try TestImages.pixels(4) }

        var bytes = ImageRequest(data: data)
        bytes.size = .fit(width: 32)
        let attachment = ImageRequest(cacheKey: "mail/7/2") { try await mailbox.attachment(7, 2) }
        let drawn = ImageRequest(cacheKey: "chart/today") { DecodedImage(pixels: try chart()) }

        #expect(try await manager.image(for: bytes).size.width == 32)
        for request in [attachment, drawn] { #expect(try await manager.image(for: request).size.width == 64) }
    }

    @Test("An interceptor changes and rejects requests")
    func interceptors() async throws {
        struct SmallOnly: ImageRequestInterceptor {
            func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> ImageResponse {
                if request.url.path.hasPrefix("/private") { throw .request(.rejected(reason: "not signed in")) }
                var smaller = request
                smaller.size = .fit(width: 16)
                return try await next(smaller)
            }
        }
        let table = try Migration { $0.interceptors = [SmallOnly()] }
        #expect(try await table.manager.image(for: table.serve()).size.width == 16)
        let hidden = try #require(URL(string: "https://pictures.example/private/1.png"))
        await #expect(throws: ImageError.request(.rejected(reason: "not signed in"))) {
            try await table.manager.image(for: hidden)
        }
    }

    @Test("Observers write a trace")
    func observers() async throws {
        let table = try Migration()
        let (loader, url) = (table.loader, try table.serve())
        let folder = try TemporaryDirectory()
        let file = URL(filePath: folder.file("trace.json"))

        let trace = ChromeTraceObserver()
        let observed = ImageManager { configuration in
            configuration.diskCache = nil
            configuration.loaders = [loader]
            configuration.observers = [trace, LogObserver(level: .error)]
        }
        _ = try await observed.image(for: url)
        try trace.jsonData().write(to: file)

        #expect(try Data(contentsOf: file).count > 100)
        await observed.shutdown()
    }

    @Test("A prefetcher loads images to disk")
    func prefetch() async throws {
        let table = try Migration()
        let manager = table.manager
        let urls = try (1...5).map { try table.serve($0) }

        var configuration = ImagePrefetcher.Configuration()
        configuration.maxConcurrentRequests = 4
        let prefetcher = ImagePrefetcher(manager: manager, configuration: configuration)
        let list = prefetcher.prefetch(urls, to: .diskCache)
        list.isPaused = true
        list.isPaused = false
        let outcome = await list.result

        #expect(outcome.loadedCount == 5)
    }

    @Test("A server configuration rejects a private address, and the reply reports an error")
    func server() async throws {
        let folder = try TemporaryDirectory()
        let directory = URL(filePath: folder.file("cache"))
        let origin = try LoopbackServer(routes: ["/a": .ok(try TestImages.png(1), contentType: "image/png")])
        let (url, mirror) = (origin.url("/a"), origin.url("/b"))
        let replies = Shared<[Int]>([])
        func reply(_ status: Int, _ body: Data) { replies.update { $0.append(status) } }

        let server = ImageManager { configuration in
            configuration = .server
            configuration.maxInFlightRequests = 64
            configuration.diskCache = DiskCache.Configuration(directory: directory)
            configuration.diskCache?.sizeLimit = 1 << 30
        }
        var thumbnail = ImageRequest(url: url, size: .fill(width: 20, height: 20))
        thumbnail.network.alternativeURLs = [mirror]
        do {
            let webp = try await server.encodedImage(for: thumbnail, as: .webp(quality: 80))
            reply(200, webp.data)
        } catch {
            reply(error.isOverloaded ? 503 : error.httpStatusCode == 404 ? 404 : 502, Data())
        }

        #expect(replies.value == [502] && origin.requests.isEmpty)
        await server.shutdown()
    }

    @Test("A stub manager needs no network")
    func stub() async throws {
        let url = try Migration.url(1)

        let stub = StubImageManager()
        let gate = TestGate()
        stub.respond(to: url, with: .color(PixelColor(red: 200, green: 0, blue: 0), width: 40, height: 30, gate: gate))
        let opening = Task { [manager = stub.manager] in try await manager.image(for: url) }
        await stub.waitForRequests(count: 1)
        gate.open()
        let image = try await opening.value

        #expect(image.size == PixelSize(width: 40, height: 30))
    }
}
