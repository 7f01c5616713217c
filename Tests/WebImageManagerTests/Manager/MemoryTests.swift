// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageStore

@Suite("Memory of a manager", .timeLimit(.minutes(5)))
struct MemoryTests {
    private func server(etag: Bool = true) throws -> LoopbackServer {
        let resource = ServerResource(
            body: try TestImages.png(1, width: 400, height: 300), type: "image/png",
            etag: etag ? "\"one\"" : nil, cacheControl: "max-age=60")
        return try LoopbackServer { resource.response(to: $0) }
    }

    private func request(_ url: URL, width: Double?, larger: Bool = false) -> ImageRequest {
        var request = ImageRequest(url: url, size: width.map { .fit(width: $0) })
        request.caching.allowsLargerImages = larger
        return request
    }

    @Test("A larger image in memory serves only requests that allow it")
    func larger() async throws {
        let server = try server()
        let coder = CountingCoder()
        let fixture = try ManagerFixture { $0.coders.register(coder) }
        let url = server.url("/a")
        let large = try await fixture.manager.image(for: request(url, width: 200))
        #expect(fixture.manager.load(request(url, width: 100)).result == nil)
        #expect(try await fixture.manager.image(for: request(url, width: 100)).size.width == 100)
        let task = fixture.manager.load(request(url, width: 150, larger: true))
        #expect(try task.result?.get().image === large)
        #expect(try task.result?.get().source == .memoryCache)
        // An image of the exact size takes precedence.
        #expect(try await fixture.manager.image(for: request(url, width: 100, larger: true)).size.width == 100)
        #expect(try await fixture.manager.image(for: request(url, width: 300, larger: true)).size.width == 300)
        var round = request(url, width: 50, larger: true)
        round.transformers = [.roundedCorners(radius: 3)]
        #expect(try await fixture.manager.image(for: round).size.width == 50)
        #expect(server.counters.requests == 1)
    }

    @Test("A larger image that must be revalidated isn't used and isn't cached as the smaller one")
    func staleLarger() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        let url = server.url("/a")
        _ = try await fixture.manager.image(for: request(url, width: 200))
        fixture.pass(seconds: 61)
        let response = try await fixture.manager.response(for: request(url, width: 100, larger: true))
        #expect(response.image.size.width == 100 && response.source == .revalidated)
        #expect(fixture.manager.cachedImage(for: request(url, width: 100))?.size.width == 100)
    }

    @Test("A cached image of another size is the placeholder while the requested size loads")
    func placeholder() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        let url = server.url("/a")
        #expect(fixture.manager.cachedPlaceholder(for: request(url, width: 300)) == nil)
        let small = try await fixture.manager.image(for: request(url, width: 40))
        #expect(fixture.manager.cachedPlaceholder(for: request(url, width: 300)) === small)
        #expect(fixture.manager.cachedPlaceholder(for: request(url, width: nil)) === small)
        #expect(fixture.manager.cachedPlaceholder(for: request(server.url("/b"), width: 300)) == nil)
        var square = request(url, width: nil)
        square.size = .fill(width: 40, height: 40)
        #expect(fixture.manager.cachedPlaceholder(for: square) == nil)
        square.caching.readFrom = .disk
        #expect(fixture.manager.cachedPlaceholder(for: square) == nil)
    }

    @Test("Removing a URL removes all its sizes and transformed images")
    func removal() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        var requests = [10.0, 20, 30].map { request(server.url("/a"), width: $0) }
        requests[2].transformers = [.roundedCorners(radius: 3)]
        for request in requests { _ = try await fixture.manager.image(for: request) }
        _ = try await fixture.manager.image(for: request(server.url("/b"), width: 10))
        await fixture.manager.removeCachedImage(for: requests[0])
        for request in requests { #expect(fixture.manager.cachedImage(for: request) == nil) }
        #expect(fixture.manager.cachedImage(for: request(server.url("/b"), width: 10)) != nil)
    }

    @Test("The memory cache obeys the limits of the configuration")
    func limits() async throws {
        let server = try server()
        let uptime = Lock(0.0)
        let fixture = try ManagerFixture {
            $0.memoryCache.entryCostLimit = 40 * 30 * 4
            $0.memoryCache.countLimit = 2
            $0.memoryCache.timeToLive = .seconds(10)
            $0.memoryCache.clock = TimeSource(now: { Date() }, uptime: { uptime.withLock { $0 } })
        }
        let sizes = [50.0, 40, 30, 20].map { request(server.url("/a"), width: $0) }
        for size in sizes { _ = try await fixture.manager.image(for: size) }
        #expect(sizes.map { fixture.manager.cachedImage(for: $0) != nil } == [false, false, true, true])
        uptime.withLock { $0 = 10 }
        #expect(sizes.allSatisfy { fixture.manager.cachedImage(for: $0) == nil })
    }

    /// Returns a source whose level changes only by reports. Its clock stands still so that a level lasts regardless of
    /// how long the requests take. It has no thread, which could be calling the observers when the test reports a
    /// level.
    private static func reportedPressure() -> MemoryPressureMonitor {
        let now = Date()
        return MemoryPressureMonitor(files: nil, clock: TimeSource(now: { now }, uptime: { 0 }), hasThread: false)
    }

    @Test("Memory pressure evicts images in stages, prefetched ones first, and loading continues")
    func pressure() async throws {
        let server = try server()
        let fixture = try ManagerFixture {
            $0.memoryCache.costLimit = 1 << 20
            $0.memoryPressureMonitor = Self.reportedPressure()
        }
        let manager = fixture.manager
        let ahead = request(server.url("/ahead"), width: 100)
        var low = request(server.url("/low"), width: 100)
        low.priority = .veryLow
        for request in [request(server.url("/a"), width: 100), low] { _ = try await manager.image(for: request) }
        let prefetcher = ImagePrefetcher(manager: manager)
        #expect(await prefetcher.prefetch([ahead]).result.loadedCount == 1)
        manager.configuration.memoryPressureMonitor.report(.low)
        #expect(manager.cachedImage(for: ahead) == nil)
        #expect(manager.cachedImage(for: request(server.url("/a"), width: 100)) != nil)
        #expect(manager.cachedImage(for: low) != nil)
        #expect(manager.configuration.memoryPressureMonitor.level == .low)
        for number in 0..<9 { _ = try await manager.image(for: request(server.url("/\(number)"), width: 150)) }
        manager.configuration.memoryPressureMonitor.report(.medium)
        #expect(manager.memoryCache.statistics.cost <= (1 << 20) / 10)
        manager.configuration.memoryPressureMonitor.report(.critical)
        #expect(manager.memoryCache.statistics.count == 0)
        // Loading continues.
        #expect(try await manager.image(for: request(server.url("/a"), width: 50)).size.width == 50)
        await manager.shutdown()
    }

    @Test("At critical memory pressure, large images are rejected unless they're scaled down during decoding")
    func refusal() async throws {
        let image = DecodedImage(pixels: try TestImages.pixels(1, width: 2_400, height: 2_000))
        let jpeg = try ImageCoderRegistry.standard.encode(image, as: .jpeg, context: ImageProcessingContext())
        let server = try LoopbackServer(routes: ["/large": .ok(jpeg)])
        let fixture = try ManagerFixture { $0.memoryPressureMonitor = Self.reportedPressure() }
        fixture.manager.configuration.memoryPressureMonitor.report(.critical)
        let error = await #expect(throws: ImageError.self) {
            try await fixture.manager.image(for: request(server.url("/large"), width: nil))
        }
        let expected = ImageError.LimitFailure(
            .decodedSize, limit: 16_000_000, actual: 19_200_000, detail: "critical memory pressure")
        #expect(error == .limitExceeded(expected))
        #expect(try await fixture.manager.image(for: request(server.url("/large"), width: 200)).size.width == 200)
        await fixture.manager.shutdown()
    }
}
