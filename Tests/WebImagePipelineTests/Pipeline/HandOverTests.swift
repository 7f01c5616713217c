// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Downloads that another request takes over", .timeLimit(.minutes(5)))
struct HandOverTests {
    private let gate = TestGate()
    private let tier = RecordingTier()
    private let loader: StubLoader

    init() throws {
        let body = try TestImages.png(1)
        loader = StubLoader { [gate] _ in StubLoader.Response(body: body, responseGate: gate) }
    }

    private func manager() throws -> (ImageManager, ManagerFixture) {
        let fixture = try ManagerFixture { configuration in
            configuration.loaders = [loader]
            configuration.diskCache = nil
            configuration.cacheTiers = [tier]
        }
        return (fixture.manager, fixture)
    }

    private func url(_ number: Int) throws -> URL {
        try #require(URL(string: "https://example.org/\(number).png"))
    }

    @Test("A download continues if its request is canceled in the turn in which another request starts")
    func sameTurn() async throws {
        let (manager, fixture) = try manager()
        defer { withExtendedLifetime(fixture) {} }
        var replacing: [ImageTask] = []
        for number in 0..<20 {
            let request = ImageRequest(url: try url(number))
            let first = manager.load(request)
            await loader.waitForRequests(count: number + 1)
            replacing.append(manager.load(request))
            first.cancel()
        }
        gate.open()
        for task in replacing { _ = try await task.image }
        #expect(loader.requests.count == 20 && loader.cancelledCount == 0)
    }

    @Test("A download continues through a sequence of requests of which each replaces the previous one")
    func sequence() async throws {
        let (manager, fixture) = try manager()
        defer { withExtendedLifetime(fixture) {} }
        var task = manager.load(try url(1))
        await loader.waitForRequests(count: 1)
        for width in 1...20 {
            let next = manager.load(ImageRequest(url: try url(1), size: .fit(width: Double(width))))
            task.cancel()
            task = next
        }
        gate.open()
        #expect(try await task.image.size.width == 20)
        #expect(loader.requests.count == 1 && loader.cancelledCount == 0)
    }

    enum Kind: CaseIterable { case image, data, encoding, memoryPrefetch, diskPrefetch }

    private struct Started {
        let cancel: @Sendable () -> Void
        let finish: @Sendable () async throws -> Void
    }

    private func start(_ kind: Kind, _ request: ImageRequest, _ manager: ImageManager) -> Started {
        switch kind {
        case .image:
            let task = manager.load(request)
            return Started(cancel: { task.cancel() }, finish: { _ = try await task.image })
        case .data:
            let task = Task { try await manager.data(for: request) }
            return Started(cancel: { task.cancel() }, finish: { _ = try await task.value })
        case .encoding:
            let task = Task { try await manager.encodedImage(for: request, as: .jpeg) }
            return Started(cancel: { task.cancel() }, finish: { _ = try await task.value })
        case .memoryPrefetch, .diskPrefetch:
            var configuration = ImagePrefetcher.Configuration()
            configuration.destination = kind == .memoryPrefetch ? .memoryCache : .diskCache
            configuration.pausesOnMeteredNetworks = false
            let task = ImagePrefetcher(manager: manager, configuration: configuration).prefetch([request])
            return Started(cancel: { task.cancel() }, finish: { _ = await task.result })
        }
    }

    /// Cancels a request that is downloading while another one looks in the caches. Returns the other one and the gate
    /// that holds its lookup.
    private func handOver(
        _ first: Kind, to second: Kind, _ manager: ImageManager
    ) async throws -> (Started, lookup: TestGate) {
        let request = ImageRequest(url: try url(1))
        let first = start(first, request, manager)
        await loader.waitForRequests(count: 1)
        let lookup = TestGate()
        tier.blockLookups(lookup)
        let lookups = tier.lookups
        let second = start(second, request, manager)
        await untilTrue { tier.lookups > lookups }
        first.cancel()
        await untilTrue { manager.runningTasks.count == 1 }
        #expect(manager.pipeline.fetch.count == 1)
        return (second, lookup)
    }

    @Test(
        "A download continues if its request is canceled while another request looks in the caches",
        arguments: Kind.allCases, [Kind.image, .data, .encoding])
    func duringLookup(first: Kind, second: Kind) async throws {
        let (manager, fixture) = try manager()
        defer { withExtendedLifetime(fixture) {} }
        let (second, lookup) = try await handOver(first, to: second, manager)
        lookup.open()
        gate.open()
        try await second.finish()
        await untilTrue { manager.isAtRest }
        #expect(loader.requests.count == 1 && loader.cancelledCount == 0)
    }

    @Test(
        "A request that looks in the caches uses the data of a download that ends in the meantime",
        arguments: Kind.allCases, [Kind.image, .data, .encoding])
    func arrivalDuringLookup(first: Kind, second: Kind) async throws {
        let (manager, fixture) = try manager()
        defer { withExtendedLifetime(fixture) {} }
        let (second, lookup) = try await handOver(first, to: second, manager)
        gate.open()
        await untilTrue { manager.pipeline.fetch.count == 0 }
        lookup.open()
        try await second.finish()
        #expect(loader.requests.count == 1 && loader.cancelledCount == 0)
    }

    @Test("A download ends if the other request is canceled before it joins the download")
    func bothEnd() async throws {
        let (manager, fixture) = try manager()
        defer { withExtendedLifetime(fixture) {} }
        let first = manager.load(try url(1))
        await loader.waitForRequests(count: 1)
        let lookup = TestGate()
        tier.blockLookups(lookup)
        let second = manager.load(try url(1))
        await untilTrue { tier.lookups == 2 }
        first.cancel()
        #expect(manager.pipeline.fetch.count == 1)
        second.cancel()
        #expect(manager.pipeline.fetch.count == 0)
        await loader.waitForCancellations(count: 1)
        lookup.open()
        await untilTrue { manager.isAtRest }
    }

    @Test("A download ends if the other request uses only the caches, or if it finds the image in a cache")
    func cached() async throws {
        let (manager, fixture) = try manager()
        defer { withExtendedLifetime(fixture) {} }
        gate.open()
        _ = try await manager.image(for: url(1))
        await manager.rest()
        manager.memoryCache.removeAll()
        let held = TestGate()
        loader.respond(to: try url(1), with: .init(responseGate: held))
        for (number, policy) in [CachePolicy.cacheOnly, .cacheFirst].enumerated() {
            await manager.letsGo(of: ImageRequest(url: try url(1)))
            var request = ImageRequest(url: try url(1))
            request.cachePolicy = .reload
            let first = manager.load(request)
            await loader.waitForRequests(count: number + 2)
            let lookup = TestGate()
            tier.blockLookups(lookup)
            let lookups = tier.lookups
            request.cachePolicy = policy
            request.caching.writeTo = []
            let second = manager.load(request)
            await untilTrue { tier.lookups > lookups }
            first.cancel()
            #expect(manager.pipeline.fetch.count == (policy == .cacheOnly ? 0 : 1))
            lookup.open()
            #expect(try await second.response.source == .cacheTier)
            await loader.waitForCancellations(count: number + 1)
        }
    }
}
