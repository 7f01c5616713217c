// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Deadlines of requests", .timeLimit(.minutes(5)))
struct DeadlineTests {
    private let clock = TestClock()
    private let gate = TestGate()
    private let loader: StubLoader
    private let url: URL

    init() throws {
        url = try #require(URL(string: "https://example.org/a.png"))
        let body = try TestImages.png(1)
        loader = StubLoader { [gate] _ in StubLoader.Response(body: body, responseGate: gate) }
    }

    private func fixture() throws -> ManagerFixture {
        try ManagerFixture {
            $0.loaders = [loader]
            $0.time = TimeSource(clock)
        }
    }

    private func request(_ deadline: Duration?) -> ImageRequest {
        var request = ImageRequest(url: url)
        request.deadline = deadline
        return request
    }

    private func expected(_ seconds: String) -> ImageError {
        .network(
            ImageError.NetworkFailure(
                .timedOut, url: url, phase: .total, details: "the deadline of the request is \(seconds)"))
    }

    /// Advances the clock until a request has ended. The timer of the request may begin to wait at any time.
    private func passTime(until hasEnded: () -> Bool) async {
        await untilTrue {
            clock.advance(by: .seconds(1))
            return hasEnded()
        }
    }

    enum Kind: CaseIterable { case image, data, originalImage, encodedImage }

    private func run(_ kind: Kind, _ request: ImageRequest, _ manager: ImageManager) async throws {
        switch kind {
        case .image: _ = try await manager.image(for: request)
        case .data: _ = try await manager.data(for: request)
        case .originalImage: _ = try await manager.originalImage(for: request)
        case .encodedImage: _ = try await manager.encodedImage(for: request, as: .jpeg)
        }
    }

    @Test("A request fails when its deadline has passed, and its load ends", arguments: Kind.allCases)
    func passed(kind: Kind) async throws {
        let fixture = try fixture()
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let request = request(.seconds(10))
        let hasEnded = Shared(false)
        let task = Task {
            defer { hasEnded.value = true }
            try await run(kind, request, manager)
        }
        await loader.waitForRequests(count: 1)
        await passTime { hasEnded.value }
        await #expect(throws: expected("10 s")) { try await task.value }
        await loader.waitForCancellations(count: 1)
        await untilTrue { manager.isAtRest && manager.statistics.failures == 1 }
        #expect(manager.statistics.cancellations == 0)
    }

    @Test("A request without a deadline continues when a request that shares its load fails")
    func shared() async throws {
        let fixture = try fixture()
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let limited = manager.load(request(.milliseconds(2_500)))
        let unlimited = manager.load(request(nil))
        await loader.waitForRequests(count: 1)
        await untilTrue { manager.statistics.coalescedLoads == 1 }
        await passTime { limited.result != nil }
        await #expect(throws: expected("2.5 s")) { try await limited.response }
        gate.open()
        #expect(try await unlimited.image.size.width == 64)
        #expect(loader.requests.count == 1 && loader.cancelledCount == 0)
    }

    @Test("A request that ends before its deadline succeeds, and an image in memory is delivered at any deadline")
    func inTime() async throws {
        let fixture = try fixture()
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        gate.open()
        for kind in Kind.allCases { try await run(kind, request(.seconds(10)), manager) }
        clock.advance(by: .seconds(20))
        await untilTrue { manager.isAtRest }
        #expect(manager.statistics.failures == 0)
        var stored = request(.zero)
        stored.cachePolicy = .cacheFirst
        #expect(try manager.load(stored).result?.get().source == .memoryCache)
    }
}
