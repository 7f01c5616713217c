// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Request coalescing", .timeLimit(.minutes(5)))
struct CoalescingTests {
    @Test("Ten concurrent sizes of one URL need one HTTP request, and each image has its size")
    func tenSizes() async throws {
        let picture = try TestImages.png(1, width: 200, height: 100)
        let gate = TestGate()
        let server = try LoopbackServer(routes: [
            "/a": .ok(picture, contentType: "image/png").with { $0.bodyGate = gate }
        ])
        let fixture = try ManagerFixture()
        let tasks = (1...10).map { number in
            fixture.manager.load(ImageRequest(url: server.url("/a"), size: .fit(width: Double(number * 10))))
        }
        await server.waitForRequests(count: 1)
        gate.open()
        for (index, task) in tasks.enumerated() {
            let width = (index + 1) * 10
            let response = try await task.response
            #expect(response.image.size == PixelSize(width: width, height: width / 2))
            #expect(response.source == .network)
        }
        #expect(server.counters.requests == 1)
        await untilTrue { fixture.manager.runningJobs == 0 }
    }

    @Test("A request that started before a download ended uses its data, however late its cache lookup finishes")
    func late() async throws {
        let resource = ServerResource(body: try TestImages.png(1), type: "image/png", cacheControl: "no-store")
        let server = try LoopbackServer { resource.response(to: $0) }
        let fixture = try ManagerFixture()
        let tier = BlockingTier()
        var late = ImageRequest(url: server.url("/a"), size: .fit(width: 10))
        late.caching.originalCache = ImageCache(memory: nil, tiers: [tier])
        let task = fixture.manager.load(late)
        await untilTrue { tier.isQueried }
        _ = try await fixture.manager.image(for: server.url("/a"))
        tier.gate.open()
        #expect(try await task.image.size.width == 10)
        #expect(server.counters.requests == 1)
        // Requests that start after the download can't use its data.
        _ = try await fixture.manager.image(for: server.url("/a"))
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, nil])
    }

    @Test("Row 56, S-02: a thousand requests for one URL share one download, one decode, and one image")
    func thousand() async throws {
        let counter = CountingCoder()
        let picture = try TestImages.png(2)
        let gate = TestGate()
        let server = try LoopbackServer(routes: [
            "/a": .ok(picture, contentType: "image/png").with { $0.bodyGate = gate }
        ])
        let fixture = try ManagerFixture { $0.coders.register(counter) }
        let tasks = (0..<1_000).map { _ in fixture.manager.load(server.url("/a")) }
        await server.waitForRequests(count: 1)
        gate.open()
        var pictures: Set<ObjectIdentifier> = []
        for task in tasks { pictures.insert(ObjectIdentifier(try await task.image)) }
        #expect(server.counters.requests == 1)
        #expect(counter.decodes == 1)
        #expect(pictures.count == 1)
    }

    @Test("S-01: A request that starts while the data is being decoded uses that data without a second download")
    func whileDecoding() async throws {
        let resource = ServerResource(body: try TestImages.png(6), type: "image/png", cacheControl: "max-age=60")
        let server = try LoopbackServer { resource.response(to: $0) }
        let slow = CountingTransformer("slow")
        let gate = TestGate()
        slow.gate.withLock { $0 = gate }
        let fixture = try ManagerFixture()
        let first = fixture.manager.load(ImageRequest(url: server.url("/a"), transformers: [slow]))
        await untilTrue { slow.runs == 1 }
        let second = try await fixture.manager.response(for: ImageRequest(url: server.url("/a"), size: .fit(width: 10)))
        #expect(second.image.size.width == 10)
        gate.open()
        _ = try await first.response
        #expect(server.counters.requests == 1)
    }

    @Test("Equal first transformers run once, regardless of the following transformers")
    func transformSteps() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(try TestImages.png(3), contentType: "image/png")])
        let first = CountingTransformer("first")
        let second = CountingTransformer("second")
        let third = CountingTransformer("third")
        let gate = TestGate()
        first.gate.withLock { $0 = gate }
        let fixture = try ManagerFixture()
        let a = fixture.manager.load(ImageRequest(url: server.url("/a"), transformers: [first, second]))
        let b = fixture.manager.load(ImageRequest(url: server.url("/a"), transformers: [first, third]))
        // Both last steps wait for the shared first step, which the gate holds.
        let pipeline = fixture.manager.pipeline
        await untilTrue { first.runs == 1 && pipeline.transform.count == 3 }
        gate.open()
        _ = try await (a.image, b.image)
        let runs: [Int] = [first, second, third].map(\.runs)
        #expect(runs == [1, 1, 1])
        #expect(server.counters.requests == 1)
    }

    @Test("Row 56, S-04: if one of two subscribers cancels, the other one receives its image")
    func oneCancels() async throws {
        let gate = TestGate()
        let server = try LoopbackServer(
            routes: ["/a": .ok(try TestImages.png(4), contentType: "image/png").with { $0.bodyGate = gate }])
        let fixture = try ManagerFixture()
        let first = fixture.manager.load(server.url("/a"))
        let second = fixture.manager.load(server.url("/a"))
        await server.waitForRequests(count: 1)
        // Wait until the second request shares the download. Otherwise, canceling the first one would end it.
        await untilTrue { fixture.manager.statistics.coalescedLoads == 1 }
        first.cancel()
        await #expect(throws: ImageError.cancelled) { try await first.response }
        gate.open()
        #expect(try await second.response.source == .network)
        #expect(server.counters.requests == 1)
    }

    @Test("Row 56, G-01: if both subscribers cancel, the connection closes, and a new request starts a new download")
    func bothCancel() async throws {
        let server = try LoopbackServer { request in
            request.index == 0 ? .silent : .ok((try? TestImages.png(5)) ?? Data(), contentType: "image/png")
        }
        let fixture = try ManagerFixture()
        let first = fixture.manager.load(server.url("/a"))
        let second = fixture.manager.load(server.url("/a"))
        await server.waitForRequests(count: 1)
        first.cancel()
        second.cancel()
        let third = fixture.manager.load(server.url("/a"))
        #expect(try await third.response.source == .network)
        await server.waitForClosedConnections(count: 1)
        #expect(server.counters.requests == 2)
        await #expect(throws: ImageError.cancelled) { try await first.response }
        await #expect(throws: ImageError.cancelled) { try await second.response }
    }

    @Test("Row 56: a raised priority reaches the loader")
    func priority() async throws {
        let loader = PriorityLoader()
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        let task = fixture.manager.load(try #require(URL(string: "stub://a")))
        await untilTrue { loader.context.withLock { $0 } != nil }
        let context = try #require(loader.context.withLock { $0 })
        #expect(context.priority == .normal)
        task.priority = .veryHigh
        #expect(context.priority == .veryHigh)
        task.cancel()
        await untilTrue { fixture.manager.runningJobs == 0 }
    }
}

/// A loader that exposes its context and never finishes.
private final class PriorityLoader: ImageLoader {
    let context = Lock<LoadContext?>(nil)

    func canLoad(_ url: URL) -> Bool { url.scheme == "stub" }

    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        self.context.withLock { $0 = context }
        await TestGate().wait()
        throw .cancelled
    }
}

/// An empty tier whose lookups wait for a gate.
private final class BlockingTier: CacheTier {
    let gate = TestGate()
    private let wasQueried = Atomic(false)
    var isQueried: Bool { wasQueried.load(ordering: .acquiring) }

    func entry(for key: CacheKey, matching request: HTTPHeaderFields) async -> CacheEntry? {
        wasQueried.store(true, ordering: .releasing)
        await gate.wait()
        return nil
    }
    func store(_ entry: CacheEntry, matching: HTTPHeaderFields) async {}
    func remove(_ key: CacheKey, matching request: HTTPHeaderFields?) async {}
    func removeAll() async {}
}
