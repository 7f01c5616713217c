// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageStore

@Suite("Memory of a manager", .timeLimit(.minutes(1)))
struct MemoryTests {
    private func server(etag: Bool = true) throws -> LoopbackServer {
        let resource = ServerResource(
            body: try TestPictures.png(1, width: 400, height: 300), type: "image/png",
            etag: etag ? "\"one\"" : nil, cacheControl: "max-age=60")
        return try LoopbackServer { resource.response(to: $0) }
    }

    private func request(_ url: URL, width: Double?, larger: Bool = false) -> ImageRequest {
        var request = ImageRequest(url, size: width.map { .fit(width: $0) })
        request.allowsLarger = larger
        return request
    }

    @Test("a larger picture in memory answers who allows it, and nobody else")
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
        #expect(try task.result?.get().origin == .memory)
        // Exactly what was asked for comes first.
        #expect(try await fixture.manager.image(for: request(url, width: 100, larger: true)).size.width == 100)
        #expect(try await fixture.manager.image(for: request(url, width: 300, larger: true)).size.width == 300)
        var round = request(url, width: 50, larger: true)
        round.transformers = [.roundedCorners(radius: 3)]
        #expect(try await fixture.manager.image(for: round).size.width == 50)
        #expect(server.counters.requests == 1)
    }

    @Test("a larger picture that has to be confirmed does not answer, and is not kept as the smaller one")
    func staleLarger() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        let url = server.url("/a")
        _ = try await fixture.manager.image(for: request(url, width: 200))
        fixture.pass(seconds: 61)
        let answer = try await fixture.manager.response(for: request(url, width: 100, larger: true))
        #expect(answer.image.size.width == 100 && answer.origin == .revalidated)
        #expect(fixture.manager.cachedImage(for: request(url, width: 100))?.size.width == 100)
    }

    @Test("a picture of another size stands in while the right one is loaded")
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
        square.reads = .disk
        #expect(fixture.manager.cachedPlaceholder(for: square) == nil)
    }

    @Test("removing a URL removes every size of it, transformed ones too")
    func removal() async throws {
        let server = try server()
        let fixture = try ManagerFixture()
        var requests = [10.0, 20, 30].map { request(server.url("/a"), width: $0) }
        requests[2].transformers = [.roundedCorners(radius: 3)]
        for request in requests { _ = try await fixture.manager.image(for: request) }
        _ = try await fixture.manager.image(for: request(server.url("/b"), width: 10))
        await fixture.manager.removeCached(requests[0])
        for request in requests { #expect(fixture.manager.cachedImage(for: request) == nil) }
        #expect(fixture.manager.cachedImage(for: request(server.url("/b"), width: 10)) != nil)
    }

    @Test("limits of the configuration hold")
    func limits() async throws {
        let server = try server()
        let uptime = Lock(0.0)
        let fixture = try ManagerFixture {
            $0.cache.memory.entryLimit = 40 * 30 * 4
            $0.cache.memory.countLimit = 2
            $0.cache.memory.timeToLive = 10
            $0.cache.memory.clock = TimeSource(now: { Date() }, uptime: { uptime.withLock { $0 } })
        }
        let sizes = [50.0, 40, 30, 20].map { request(server.url("/a"), width: $0) }
        for size in sizes { _ = try await fixture.manager.image(for: size) }
        #expect(sizes.map { fixture.manager.cachedImage(for: $0) != nil } == [false, false, true, true])
        uptime.withLock { $0 = 10 }
        #expect(sizes.allSatisfy { fixture.manager.cachedImage(for: $0) == nil })
    }

    @Test("pressure empties memory step by step, what nobody asked for yet first, and holds decodes back")
    func pressure() async throws {
        let server = try server()
        let fixture = try ManagerFixture { $0.cache.memory.costLimit = 1 << 20 }
        let manager = fixture.manager
        var ahead = request(server.url("/ahead"), width: 100)
        ahead.priority = .veryLow
        _ = try await manager.image(for: request(server.url("/a"), width: 100))
        _ = try await manager.image(for: ahead)
        manager.handleMemoryPressure(.low)
        #expect(manager.cachedImage(for: ahead) == nil)
        #expect(manager.cachedImage(for: request(server.url("/a"), width: 100)) != nil)
        #expect(manager.memoryPressure == .low)
        for number in 0..<9 { _ = try await manager.image(for: request(server.url("/\(number)"), width: 150)) }
        manager.handleMemoryPressure(.medium)
        #expect(manager.memoryCache.statistics.bytes <= (1 << 20) / 10)
        manager.handleMemoryPressure(.critical)
        #expect(manager.memoryCache.statistics.count == 0)
        // Loading goes on.
        #expect(try await manager.image(for: request(server.url("/a"), width: 50)).size.width == 50)
        await manager.close()
    }

    @Test(
        "While memory is at its end large pictures are refused, and those that are reduced while they are decoded are not"
    )
    func refusal() async throws {
        let image = Image(pixels: try TestPictures.pixels(1, width: 2_400, height: 2_000))
        let jpeg = try CoderRegistry.standard.encode(image, as: .jpeg(), context: CodingContext())
        let server = try LoopbackServer(routes: ["/large": .ok(jpeg)])
        // However long the requests take, the level lasts.
        let now = Date()
        let source = MemoryPressureSource(
            files: nil, clock: TimeSource(now: { now }, uptime: { 0 }), hasThread: false)
        let fixture = try ManagerFixture { $0.memoryPressure = source }
        fixture.manager.handleMemoryPressure(.critical)
        let error = await #expect(throws: ImageError.self) {
            try await fixture.manager.image(for: request(server.url("/large"), width: nil))
        }
        let expected = LimitError(.decodedBytes, limit: 16_000_000, actual: 19_200_000, detail: "memory is short")
        #expect(error == .limit(expected))
        #expect(try await fixture.manager.image(for: request(server.url("/large"), width: 200)).size.width == 200)
        await fixture.manager.close()
    }
}
