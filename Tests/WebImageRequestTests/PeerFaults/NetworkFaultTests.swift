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

@Suite("Failures and observers of loads: scenarios of other libraries", .timeLimit(.minutes(5)))
struct NetworkFaultTests {
    /// An interceptor that ignores negative cache entries.
    private struct Ignoring: ImageRequestInterceptor {
        func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> ImageResponse {
            var request = request
            request.caching.bypassesFailureCache = true
            return try await next(request)
        }
    }

    /// The ways to request an image.
    enum Entry: String, CaseIterable, Sendable { case image, data, load, encoded, prefetch }

    @Test(
        "S-27: An interceptor that bypasses the negative cache applies to every way of requesting an image",
        arguments: Entry.allCases)
    func bypassing(entry: Entry) async throws {
        let server = try LoopbackServer { request in
            request.index == 0 ? .status(404) : LoopbackServer.Response.ok(Numbered.data(1), contentType: "image/png")
        }
        let fixture = try ManagerFixture { $0.interceptors = [Ignoring()] }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let request = ImageRequest(url: server.url("/a"))
        #expect(await manager.code(of: request) == 2007)
        switch entry {
        case .image: _ = try await manager.image(for: request)
        case .data: _ = try await manager.data(for: request)
        case .load: #expect(await manager.load(request).number == 1)
        case .encoded: _ = try await manager.encodedImage(for: request, as: .png)
        case .prefetch:
            let prefetcher = ImagePrefetcher(manager: manager) { $0.network = NetworkConditions() }
            #expect(await prefetcher.prefetch([request]).result.loadedCount == 1)
        }
        #expect(server.counters.requests == 2)
    }

    /// The end of a load.
    enum End: String, CaseIterable, Sendable { case success, failure, retried, redirected, canceled }

    @Test(
        "K-16: Each start that an observer receives has one end, with the error of the caller", arguments: End.allCases)
    func observed(end: End) async throws {
        let events = Shared<[ImageManager.Event]>([])
        let gate = TestGate()
        let server = try LoopbackServer { request in
            let image = LoopbackServer.Response.ok(Numbered.data(1), contentType: "image/png")
            switch end {
            case .success: return image
            case .failure: return .status(410)
            case .retried: return request.index < 2 ? .status(503) : image
            case .redirected: return request.path == "/a" ? .redirect(to: "/b") : image
            case .canceled: return image.with { $0.bodyGate = gate }
            }
        }
        let manager = try ManagerFixture {
            $0.downloader.retry.baseDelay = .zero
            $0.observers = [ClosureObserver { event in events.update { $0.append(event) } }]
        }.manager
        let task = manager.load(server.url("/a"))
        await server.waitForRequests(count: 1)
        if end == .canceled { task.cancel() }
        let code = await task.code
        gate.open()
        await manager.rest()
        await manager.diskCache?.flush()
        await untilTrue {
            Set(events.value.filter { $0.phase == .began }.map(\.spanID)).count * 2 == events.value.count
        }
        let spans = Dictionary(grouping: events.value, by: \.spanID)
        #expect(spans.values.allSatisfy { $0.map(\.phase) == [.began, .ended] })
        let request = events.value.first { $0.stage == .request && $0.phase == .ended }
        #expect(request?.error?.code == code)
        #expect(code == (end == .failure ? 2007 : end == .canceled ? 1001 : nil))
        if end == .failure {
            #expect(events.value.filter { $0.stage == .load && $0.phase == .ended }.map { $0.error?.code } == [2007])
        }
    }

    @Test("N-17: A progressive JPEG image with 200 KB of metadata has previews after its first scan")
    func metadataFirst() async throws {
        let jpeg = try TestImages.jpeg(progressive: true, width: 320, height: 240)
        var data = Data(jpeg.prefix(2))
        for index in 0..<4 {
            data += Data([0xFF, 0xE0 + 5, 0xC3, 0x52]) + Data(repeating: UInt8(index), count: 0xC350)
        }
        data += jpeg.dropFirst(2)
        let stepped = try SteppedImage(data)
        var request = ImageRequest(url: stepped.url)
        request.previews = .progressive(interval: .zero)
        let task = stepped.manager.load(request)
        let log = EventLog(task)
        stepped.loader.go(.head(expected: data.count))
        // Each part has about 1 KB, so the first parts contain only metadata.
        let count = data.count / 1_000
        for index in 0..<count * 19 / 20 { stepped.loader.go(.body(stepped.part(index, of: count))) }
        await untilTrue { !log.previews.isEmpty }
        #expect(log.previews.first?.size == PixelSize(width: 320, height: 240) && task.result == nil)
        stepped.loader.go(.finish(data))
        #expect(try await task.image.size == PixelSize(width: 320, height: 240))
    }

    @Test("F-06: A preview that can't be decoded doesn't make the load fail")
    func failingPreview() async throws {
        let coder = WatchedCoder(failure: .decoding(.corrupted(format: .jpeg, reason: "no preview")))
        let stepped = try SteppedImage(try TestImages.jpeg(progressive: true)) { $0.coders.register(coder) }
        var request = ImageRequest(url: stepped.url)
        request.previews = .progressive(interval: .zero)
        let task = stepped.manager.load(request)
        let log = EventLog(task)
        await stepped.begin()
        await untilTrue { coder.noted.inspections > 0 }
        stepped.loader.go(.finish(stepped.data))
        #expect(try await task.image.size == PixelSize(width: 160, height: 120))
        #expect(await log.allPreviews().isEmpty)
    }

    @Test("K-12: A thousand loads with previews that succeed, fail, or are canceled leave no decoder and no memory")
    func manyPreviews() async throws {
        let data = try TestImages.jpeg(progressive: true, width: 64, height: 48)
        let size = data.count / 4 + 1
        let chunks = (0..<4).map { Data(data.dropFirst($0 * size).prefix(size)) }
        let loader = StubLoader { request in
            let number = Int(request.url.lastPathComponent) ?? 0
            var response = StubLoader.Response(body: data, chunks: chunks)
            if number % 3 == 1 {
                response.chunks.removeLast()
                response.error = .network(ImageError.NetworkFailure(.connectionLost, url: request.url))
            }
            return response
        }
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.diskCache = nil
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        for round in 0..<10 {
            let tasks = (0..<100).map { index in
                var request = ImageRequest(url: .sample.appending(path: "\(round * 100 + index)"))
                request.previews = .progressive(interval: .zero)
                return manager.load(request)
            }
            let logs = tasks.map { EventLog($0) }
            for (index, task) in tasks.enumerated() where (round * 100 + index) % 3 == 2 { task.cancel() }
            for task in tasks { _ = try? await task.response }
            await untilTrue { logs.allSatisfy(\.isFinished) }
        }
        let feeds = manager.pipeline.fetch.feeds
        await untilTrue { manager.runningJobs == 0 && feeds.count == 0 && feeds.budget.bytesInUse == 0 }
        #expect(feeds.count == 0 && feeds.budget.bytesInUse == 0)
    }

    @Test("N-19: Sizes of zero, negative, infinite, and undefined length cause typed errors or are ignored")
    @MainActor
    func invalidSizes() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        for value in [0, -1, -Double.infinity, .infinity, .nan, 1e308] {
            let sizes: [TargetSize] = [
                .fit(width: value), .fit(width: value, height: 3), .fill(width: value, height: value),
            ]
            let requests =
                sizes.map { ImageRequest(url: .sample, size: $0) } + [
                    ImageRequest(url: .sample, transformers: [.resize(width: value)]),
                    ImageRequest(url: .sample, transformers: [.crop(width: value, height: 2)]),
                    ImageRequest(url: .sample, transformers: [.roundedCorners(radius: value)]),
                ]
            for request in requests {
                let code = await manager.load(request).code
                if value != 1e308 { #expect(code.map { (1_000..<10_000).contains($0) } ?? true, "\(request)") }
            }
            var request = ImageRequest(url: .sample)
            request.scale = value
            _ = await manager.load(request).code
            let binder = ImageBinder(manager: manager) { _ in }
            binder.setViewSize(width: value, height: value, scale: value)
            binder.bind(ImageRequest(url: .sample))
            binder.setViewSize(width: 10, height: value, scale: 1)
            binder.unbind()
        }
        #expect(await manager.load(.sample).number == 1)
    }

    @Test("N-22: Images in all orientations are upright in full, reduced, filled, and from disk", arguments: 1...8)
    func orientations(value: Int) async throws {
        let jpeg = try TestImages.jpeg(progressive: false, width: 60, height: 40)
        var exif = Data("Exif\0\0II*\0".utf8) + Data([8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, UInt8(value), 0])
        exif += Data(count: 6)
        let data = jpeg.prefix(2) + Data([0xFF, 0xE1, 0, UInt8(exif.count + 2)]) + exif + jpeg.dropFirst(2)
        let loader = StubLoader { _ in StubLoader.Response(body: data, httpResponse: Numbered.head(1)) }
        var fixture = try ManagerFixture { $0.loaders = [loader] }
        let isTransposed = value > 4
        let full = isTransposed ? PixelSize(width: 40, height: 60) : PixelSize(width: 60, height: 40)
        let upright = try await fixture.manager.image(for: .sample)
        #expect(upright.size == full)
        // Red increases from left to right in the stored image.
        let expected = [[0, 1], [0, -1], [0, -1], [0, 1], [1, 1], [1, 1], [1, -1], [1, -1]][value - 1]
        for size in [TargetSize?.none, .fit(width: 20, height: 20), .fill(width: 16, height: 16)] {
            #expect(gradient(try await fixture.manager.image(for: ImageRequest(url: .sample, size: size))) == expected)
        }
        fixture = try await fixture.restarted { $0.loaders = [] }
        let stored = try await fixture.manager.response(
            for: ImageRequest(url: .sample, size: .fit(width: 30, height: 30)))
        #expect(stored.source == .diskCache && gradient(stored.image) == expected)
    }

    /// Returns the axis along which red changes, 0 for x and 1 for y, and the sign of the change.
    private func gradient(_ image: DecodedImage) -> [Int] {
        let (width, height) = (image.pixels.width, image.pixels.height)
        func red(_ x: Int, _ y: Int) -> Int { Int(image.pixels.pixel(x: x, y: y)?.red ?? 0) }
        let x = red(width - 1, height / 2) - red(0, height / 2)
        let y = red(width / 2, height - 1) - red(width / 2, 0)
        return abs(x) > abs(y) ? [0, x.signum()] : [1, y.signum()]
    }
}

/// An observer that calls a closure.
private struct ClosureObserver: ImageManagerObserver {
    let action: @Sendable (ImageManager.Event) -> Void
    func observe(_ event: ImageManager.Event) { action(event) }
}
