// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

@Suite("Prefetching: scenarios of other libraries", .timeLimit(.minutes(5)))
struct PrefetchFaultTests {
    private let gate = TestGate()

    private func prefetcher(_ manager: ImageManager, _ concurrency: Int = 2) -> ImagePrefetcher {
        ImagePrefetcher(manager: manager) {
            $0.maxConcurrentRequests = concurrency
            $0.network = NetworkConditions()
        }
    }

    private func requests(_ numbers: Range<Int>) -> [ImageRequest] {
        numbers.map { ImageRequest(url: .sample.appending(path: "\($0)")) }
    }

    @Test("N-11: A changed priority of a list applies to running requests immediately and to all later ones")
    func priority() async throws {
        let loader = ContextLoader(gate) { _ in Numbered.response(1) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        // The first load of this loader isn't held.
        #expect(await manager.load(.sample).number == 1)
        let task = prefetcher(manager).prefetch(requests(0..<6))
        await untilTrue { loader.count == 3 }
        #expect(loader.priorities.dropFirst() == [.veryLow, .veryLow])
        task.priority = .high
        await untilTrue { loader.priorities.dropFirst() == [.high, .high] }
        gate.open()
        #expect(await task.result.loadedCount == 6)
        #expect(loader.priorities.dropFirst() == ArraySlice(Array(repeating: RequestPriority.high, count: 6)))
    }

    @Test("S-10: A list of a thousand requests never has more requests in flight than its concurrency")
    func concurrency() async throws {
        let loader = CountingLoader()
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.diskCache = nil
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let result = await prefetcher(manager, 4).prefetch(requests(0..<1_000)).result
        #expect(result.loadedCount == 1_000)
        #expect((1...4).contains(loader.most.value))
    }

    @Test("K-06: A list of 100,000 cached images ends and counts every image as skipped", arguments: [1, 16])
    func cached(concurrency: Int) async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.cachePolicy = .cacheFirst
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        _ = try await manager.image(for: .sample)
        let list = Array(repeating: ImageRequest(url: .sample), count: 100_000)
        let result = await prefetcher(manager, concurrency).prefetch(list).result
        #expect(result.skippedCount == 100_000 && result.finishedCount == 100_000)
    }

    @Test("S-11: Canceling all lists from another thread ends the lists in every state")
    func cancelAll() async throws {
        let loader = StubLoader { [gate] _ in Numbered.response(1, responseGate: gate) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let prefetcher = prefetcher(manager)
        let running = prefetcher.prefetch(requests(0..<10))
        await loader.waitForRequests(count: 2)
        let waiting = prefetcher.prefetch(requests(20..<30))
        let paused = prefetcher.prefetch(requests(40..<50))
        paused.isPaused = true
        let empty = prefetcher.prefetch([ImageRequest]())
        let ended = TestGate()
        Thread {
            prefetcher.cancelAll()
            ended.open()
        }.start()
        await ended.wait()
        for task in [running, waiting, paused] { #expect(await task.result.cancelledCount == 10) }
        #expect(await empty.result.finishedCount == 0)
        gate.open()
        await manager.rest()
        await passing()
        #expect(loader.requests.count == 2 && prefetcher.listCount == 0)
    }

    @Test("N-12: Lists that are empty, cached, or fail completely end with the right counts")
    func ends() async throws {
        let loader = StubLoader { request in
            request.url.path.hasSuffix("0") ? Numbered.response(1) : StubLoader.Response(body: Data("text".utf8))
        }
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.cachePolicy = .cacheFirst
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let prefetcher = prefetcher(manager)
        #expect(await prefetcher.prefetch([URL]()).result.totalCount == 0)
        let failed = await prefetcher.prefetch(requests(1..<4)).result
        #expect(failed.failures.count == 3 && failed.loadedCount == 0 && failed.finishedCount == 3)
        #expect(await prefetcher.prefetch(requests(0..<1)).result.loadedCount == 1)
        let cached = prefetcher.prefetch(requests(0..<1))
        var last: PrefetchTask.Progress?
        for await progress in cached.progress { last = progress }
        #expect(last?.skippedCount == 1 && last?.totalCount == 1 && cached.isFinished)
    }

    @Test("K-07: The retry policy of a request applies while it's prefetched")
    func retries() async throws {
        let server = try LoopbackServer { request in
            request.index < 2 ? .status(503) : LoopbackServer.Response.ok(Numbered.data(1), contentType: "image/png")
        }
        let fixture = try ManagerFixture { $0.downloader.retry = .never }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        var request = ImageRequest(url: server.url("/a"))
        request.network.retry = RetryPolicy(maxAttempts: 3, baseDelay: .zero)
        #expect(await prefetcher(manager).prefetch([request]).result.loadedCount == 1)
        #expect(server.counters.requests == 3)
    }

    @Test("F-03: A prefetched image is stored with its size and transformers and shown within the call")
    @MainActor
    func finalForm() async throws {
        let loader = StubLoader { _ in Numbered.response(1, cacheControl: "max-age=60") }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let list = (2...5).map { width in
            ImageRequest(url: .sample, size: .fit(width: Double(width)), transformers: [.flip(.both), .pad(1)])
        }
        let task = prefetcher(manager).prefetch(list)
        #expect(await task.result.loadedCount == 4)
        for (index, request) in list.enumerated() {
            #expect(manager.memoryCache.image(for: manager.cacheKeys(for: request).image)?.size.width == index + 4)
            var shown: [ImageBinder.Presentation.Kind] = []
            let binder = ImageBinder(manager: manager) { shown.append($0.kind) }
            var options = ImageViewOptions(placeholder: .color(.black))
            options.sizing = .originalSize
            binder.bind(request, options: options)
            #expect(shown == [.image])
        }
        #expect(loader.requests.count == 1)
    }

    /// An interceptor that changes the URL, the size, and the header fields.
    private struct Changer: ImageRequestInterceptor {
        func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> ImageResponse {
            var request = request
            request.url = request.url.appending(path: "changed")
            request.size = .fit(width: 4)
            request.headers["Accept"] = "image/png"
            return try await next(request)
        }
    }

    @Test(
        "F-04: Prefetching applies the interceptors of requests, so that a view loads nothing again",
        arguments: [ImagePrefetcher.Destination.memoryCache, .diskCache])
    func interceptors(destination: ImagePrefetcher.Destination) async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.interceptors = [Changer()]
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        #expect(await prefetcher(manager).prefetch(requests(0..<3), to: destination).result.loadedCount == 3)
        await manager.diskCache?.flush()
        for request in requests(0..<3) {
            let response = try await manager.response(for: request)
            #expect(response.image.size.width == 4)
            #expect(response.source == (destination == .memoryCache ? .memoryCache : .diskCache))
        }
        #expect(loader.requests.count == 3)
        #expect(
            loader.requests.allSatisfy { $0.url.lastPathComponent == "changed" && $0.headers["Accept"] == "image/png" })
    }

    @Test("S-12: A list releases its requests and closures when it ends", arguments: [false, true])
    func releases(cancels: Bool) async throws {
        final class Token: Sendable {}
        let loader = ForgettingLoader(gate)
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let prefetcher = prefetcher(manager)
        var token: Token? = Token()
        weak let reference = token
        var list = requests(0..<5)
        for index in list.indices { list[index].userInfo["token"] = token }
        let task = prefetcher.prefetch(list)
        list = []
        token = nil
        await untilTrue { loader.count.value == 2 }
        #expect(reference != nil)
        if cancels { task.cancel() } else { gate.open() }
        #expect(await task.result.finishedCount == 5)
        gate.open()
        await manager.rest()
        await untilTrue { reference == nil || task.currentProgress.failures.count > 0 }
        #expect(reference == nil)
    }
}

/// A loader that records the largest number of simultaneous loads.
private final class CountingLoader: ImageLoader {
    let most = Shared(0)
    private let running = Shared(0)

    func canLoad(_ url: URL) -> Bool { true }

    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        let count = running.update { running in
            running += 1
            return running
        }
        most.update { $0 = max($0, count) }
        await Task.yield()
        running.update { $0 -= 1 }
        return LoadResponse(httpResponse: Numbered.head(1), body: Numbered.data(1), url: request.url)
    }
}

/// A loader that waits for a gate and doesn't retain the requests that it receives.
private final class ForgettingLoader: ImageLoader {
    let count = Shared(0)
    private let gate: TestGate

    init(_ gate: TestGate) { self.gate = gate }

    func canLoad(_ url: URL) -> Bool { true }

    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        count.update { $0 += 1 }
        await gate.wait()
        return LoadResponse(httpResponse: Numbered.head(1), body: Numbered.data(1), url: request.url)
    }
}
