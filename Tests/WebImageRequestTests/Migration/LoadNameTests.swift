// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

/// Behaviors of managers, downloads, and views that the names of SDWebImage and YYWebImage in the articles stand for.
@Suite("Migration names: loading", .timeLimit(.minutes(5)))
struct LoadNameTests {
    @Test("A manager is running while it has a request and lists its URL")
    func running() async throws {
        let table = try Migration()
        let gate = TestGate()
        let request = try table.request(gate: gate)
        #expect(!table.manager.isRunning)
        let task = table.manager.load(request)
        await table.loader.waitForRequests(count: 1)
        #expect(table.manager.isRunning)
        #expect(table.manager.runningTasks.map(\.url) == [request.url])
        gate.open()
        _ = try await task.image
        await untilTrue { !table.manager.isRunning }
    }

    @Test("A suspended downloader starts no download and reports it as queued")
    func suspended() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(Data("abc".utf8))])
        var configuration = ImageDownloader.Configuration()
        configuration.proxy = .disabled
        let downloader = ImageDownloader(configuration: configuration)
        downloader.isSuspended = true
        let load = Task { try await downloader.load(LoadRequest(url: server.url("/a")), context: LoadContext()) }
        await untilTrue { downloader.queuedCount == 1 }
        #expect(downloader.runningCount == 0 && server.requests.isEmpty)
        downloader.isSuspended = false
        #expect(try await load.value.body == Data("abc".utf8))
        #expect(server.requests.count == 1 && downloader.queuedCount == 0)
        downloader.shutdown()
    }

    @Test("Header fields of the configuration are sent with each request and can be read")
    func headerFields() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(try TestImages.png(1), contentType: "image/png")])
        let manager = try ManagerFixture { $0.downloader.headers["X-App"] = "Gallery" }.manager
        _ = try await manager.image(for: server.url("/a"))
        #expect(server.requests.first?.headers["X-App"] == "Gallery")
        #expect(manager.downloader.configuration.headers["x-app"] == "Gallery")
        #expect(manager.downloader.configuration.headers["X-Other"] == nil)
    }

    @Test("A task has its request, and the response has the status, the header fields, and the measurements")
    func tokenValues() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(try TestImages.png(1), contentType: "image/png")])
        let manager = try ManagerFixture().manager
        var request = ImageRequest(url: server.url("/a"), size: .fit(width: 20), transformers: [.pad(1)])
        request.frames = .first
        let task = manager.load(request)
        let response = try await task.response
        #expect(task.request.url == server.url("/a") && task.request.transformers.count == 1)
        #expect(task.request.decoding.size == .fit(width: 20) && task.request.decoding.frames == .first)
        #expect(response.httpResponse?.statusCode == 200)
        #expect(response.httpResponse?.headers["Content-Type"] == "image/png")
        let metrics = try #require(response.metrics)
        #expect(metrics.attemptCount == 1 && metrics.receivedByteCount > 0 && metrics.total > .zero)
        #expect(response.image.size.width == 22)
    }

    @Test("A body modifier decodes data that the server sends as Base64 and rejects invalid text")
    func base64() async throws {
        struct Base64: ResponseBodyModifier {
            func modify(_ body: Data, of head: HTTPResponseHead?, for request: LoadRequest) async throws(ImageError)
                -> Data
            {
                guard let data = Data(base64Encoded: body, options: .ignoreUnknownCharacters), !data.isEmpty else {
                    throw .decoding(ImageError.DecodingFailure(.noData))
                }
                return data
            }
        }
        let png = try TestImages.png(1)
        let server = try LoopbackServer(routes: [
            "/a": .ok(png.base64EncodedData(), contentType: "text/plain"),
            "/b": .ok(Data("!".utf8), contentType: "text/plain"),
        ])
        let manager = try ManagerFixture { $0.downloader.bodyModifiers = [Base64()] }.manager
        #expect(try await manager.image(for: server.url("/a")).size.width == 64)
        #expect(try await manager.data(for: server.url("/a")) == png)
        await #expect(throws: ImageError.decoding(ImageError.DecodingFailure(.noData))) {
            try await manager.image(for: server.url("/b"))
        }
    }

    @Test("An interceptor changes the status and the header fields of a response before the cache uses them")
    func changedHead() async throws {
        struct Cacheable: DownloadInterceptor {
            func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse {
                var response = try await next(request)
                response.httpResponse = HTTPResponseHead(
                    statusCode: 200, headers: ["Content-Type": "image/png", "Cache-Control": "max-age=3600"])
                return response
            }
        }
        let server = try LoopbackServer(routes: [
            "/a": LoopbackServer.Response(
                statusCode: 203, headers: ["Cache-Control": "no-store"], body: try TestImages.png(1))
        ])
        let manager = try ManagerFixture { $0.downloader.interceptors = [Cacheable()] }.manager
        let request = ImageRequest(url: server.url("/a"))
        let task = manager.load(request)
        let response = try await task.response
        #expect(response.httpResponse?.statusCode == 200)
        #expect(response.httpResponse?.headers["Cache-Control"] == "max-age=3600")
        await task.waitUntilStored()
        #expect(try await manager.response(for: request).source == .memoryCache)
        #expect(await manager.cachedTiers(for: request).contains(.disk))
        #expect(server.requests.count == 1)
    }

    @Test("An interceptor receives the response of a rejected status as an error, unless the status is accepted")
    func acceptedStatus() async throws {
        struct Success: DownloadInterceptor {
            func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse {
                var response = try await next(request)
                response.httpResponse?.statusCode = 200
                return response
            }
        }
        let png = try TestImages.png(1)
        let server = try LoopbackServer { _ in .ok(png, contentType: "image/png").with { $0.statusCode = 404 } }
        let rejecting = try ManagerFixture { $0.downloader.interceptors = [Success()] }.manager
        let error = await #expect(throws: ImageError.self) { try await rejecting.image(for: server.url("/a")) }
        #expect(error?.httpStatusCode == 404)
        let accepting = try ManagerFixture { configuration in
            configuration.downloader.interceptors = [Success()]
            configuration.downloader.acceptableStatusCodes.insert(404)
        }.manager
        let response = try await accepting.response(for: ImageRequest(url: server.url("/a")))
        #expect(response.httpResponse?.statusCode == 200 && response.image.size.width == 64)
    }

    @Test("The result of a list distinguishes prefetched, cached, and failed images")
    func prefetchCounts() async throws {
        let table = try Migration()
        let requests = try (1...3).map { try table.request($0) }
        table.loader.respond(to: requests[2].url, with: StubLoader.Response(error: BinderImages.notFound))
        _ = try await table.manager.image(for: requests[0])
        let result = await ImagePrefetcher(manager: table.manager).prefetch(requests).result
        #expect(result.loadedCount == 1 && result.skippedCount == 1)
        #expect(result.failures.map(\.request.url) == [requests[2].url])
        #expect(result.finishedCount == 3 && result.totalCount == 3)
    }

    @MainActor
    @Test("A view shows the cached image during a load with `refresh`, and with `reload` only as the app’s placeholder")
    func previousImage() async throws {
        let table = try Migration()
        let manager = table.manager
        var request = try table.request()
        let previous = try await manager.image(for: request)
        let gate = TestGate()
        try table.serve(gate: gate)
        var options = ImageViewOptions(placeholder: .color(.black))
        options.sizing = .originalSize
        for policy in [CachePolicy.refresh, .reload] {
            request.cachePolicy = policy
            let shown = RecordedPresentations()
            let binder = ImageBinder(manager: manager) { shown.show($0) }
            binder.bind(request, options: options)
            #expect(shown.kinds == [policy == .refresh ? .cachedImage : .placeholder])
            binder.cancel()
        }
        let placeholder = try #require(manager.cachedPlaceholder(for: request))
        #expect(placeholder === previous)
        options.placeholder = .image(placeholder)
        let shown = RecordedPresentations()
        let binder = ImageBinder(manager: manager) { shown.show($0) }
        binder.bind(request, options: options)
        #expect(shown.kinds == [.placeholder] && shown.image === previous)
        binder.cancel()
        gate.open()
    }

    @Test("A request modifier limits the bytes of every image for which a request has no size")
    func defaultLimit() async throws {
        let limit = 64 * 48
        let table = try Migration { configuration in
            configuration.requestModifier = { if $0.size == nil { $0.size = .fitting(byteCount: limit) } }
        }
        let image = try await table.manager.image(for: table.request(1))
        #expect(image.size.width * image.size.height * 4 <= limit)
        var request = try table.request(2)
        request.size = .fit(width: 60)
        #expect(try await table.manager.image(for: request).size.width == 60)
    }

    @MainActor
    @Test("The completion of a binding receives the URL of its image")
    func viewURL() async throws {
        let table = try Migration()
        let binder = ImageBinder(manager: table.manager) { _ in }
        var options = ImageViewOptions()
        options.sizing = .originalSize
        var urls: [URL?] = []
        for number in 1...2 {
            let request = try table.request(number)
            binder.bind(request, options: options) { result in urls.append((try? result.get())?.url) }
            await untilTrue { urls.count == number }
        }
        #expect(urls == [try Migration.url(1), try Migration.url(2)])
        binder.bind(nil, options: options) { result in urls.append((try? result.get())?.url) }
        #expect(urls.count == 3 && urls.last == .some(nil))
    }
}
