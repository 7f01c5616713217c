// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@Suite("Background revalidation and priorities", .timeLimit(.minutes(5)))
struct RevalidationTests {
    private static let cacheControl = "max-age=60, stale-while-revalidate=600"

    /// The location of the stale image.
    enum Location: String, CaseIterable, Sendable {
        case memory, disk
    }

    /// Loads an image with `loader` and lets it become stale.
    private func stale(_ loader: any ImageLoader, at place: Location) async throws -> ManagerFixture {
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        #expect(await fixture.manager.load(.sample).number == 1)
        fixture.pass(seconds: 70)
        return place == .memory ? fixture : try await fixture.restarted { $0.loaders = [loader] }
    }

    private func confirming(_ request: LoadRequest) -> StubLoader.Response {
        var response = Numbered.response(1, cacheControl: Self.cacheControl)
        guard request.acceptsNotModified else { return response }
        response.httpResponse?.statusCode = 304
        response.chunks = []
        return response
    }

    // MARK: - Number of revalidations

    @Test(
        "Thirty requests for an image with `stale-while-revalidate` start one revalidation",
        arguments: [true, false], [1, 2, 30])
    func thirty(isHeld: Bool, sizes: Int) async throws {
        let gate = TestGate()
        let loader = ContextLoader(gate) { confirming($0) }
        let fixture = try await stale(loader, at: .disk)
        if !isHeld { gate.open() }
        let tasks = (0..<30).map { index in
            fixture.manager.load(ImageRequest(url: .sample, size: .fit(width: Double(1 + index % sizes))))
        }
        for task in tasks { #expect(await task.code == nil) }
        await untilTrue { loader.count > 1 }
        gate.open()
        await fixture.manager.rest()
        #expect(loader.count == 2)
    }

    @Test(
        "Different requests for an image with `stale-while-revalidate` start one revalidation",
        arguments: [true, false])
    func kinds(isHeld: Bool) async throws {
        let gate = TestGate()
        let loader = ContextLoader(gate) { confirming($0) }
        let fixture = try await stale(loader, at: .memory)
        if !isHeld { gate.open() }
        let plain = ImageRequest(url: .sample)
        let small = ImageRequest(url: .sample, size: .fit(width: 3))
        let flipped = ImageRequest(url: .sample, transformers: [.flip(.horizontal)])
        var withData = plain
        withData.includesOriginalData = true
        let tasks = [plain, small, flipped, withData, plain, small].map { fixture.manager.load($0) }
        for task in tasks { #expect(await task.code == nil) }
        await untilTrue { loader.count > 1 }
        gate.open()
        await fixture.manager.rest()
        #expect(loader.count == 2)
    }

    @Test("A request that ends after the revalidation of another request starts no revalidation")
    func late() async throws {
        let (gate, hold) = (TestGate(), TestGate())
        gate.open()
        let loader = ContextLoader(gate) { confirming($0) }
        let fixture = try await stale(loader, at: .disk)
        let holding = HoldingTransformer(hold)
        let late = fixture.manager.load(ImageRequest(url: .sample, transformers: [holding]))
        await untilTrue { holding.isHolding }
        #expect(await fixture.manager.load(.sample).number == 1)
        await untilTrue { (try? fixture.manager.load(.sample).result?.get())?.isStale == false }
        hold.open()
        #expect(await late.number == 1)
        await fixture.manager.rest()
        #expect(loader.count == 2)
    }

    // MARK: - Stale images

    /// Returns a fixture with image 1 in memory and the data of image 2 on disk. Both are stale, and the server fails.
    private func replaced(_ tier: RecordingTier) async throws -> ManagerFixture {
        let (time, answer) = (TestTime(), Shared(Numbered.response(1)))
        let loader = StubLoader { _ in answer.value }
        let fixtures = try (0..<2).map { _ in
            try ManagerFixture(time: time) {
                $0.diskCache = nil
                $0.cacheTiers = [tier]
                $0.loaders = [loader]
            }
        }
        #expect(await fixtures[0].manager.load(.sample).number == 1)
        await fixtures[0].manager.rest()
        answer.value = Numbered.response(2)
        var request = ImageRequest(url: .sample)
        request.cachePolicy = .reload
        #expect(await fixtures[1].manager.load(request).number == 2)
        await fixtures[1].manager.rest()
        time.pass(70)
        let failure = ImageError.NetworkFailure(.timedOut, url: .sample, phase: .receivingBody)
        answer.value = StubLoader.Response(error: .network(failure))
        return fixtures[0]
    }

    @Test("A stale response with the original data contains the image of this data", arguments: [true, false])
    func staleData(includesData: Bool) async throws {
        let fixture = try await replaced(RecordingTier(.disk))
        var request = ImageRequest(url: .sample)
        request.includesOriginalData = includesData
        let response = try await fixture.manager.response(for: request)
        #expect(response.isStale && response.revalidationError != nil)
        #expect(response.originalData == (includesData ? Numbered.data(2) : nil))
        // Without the data, the image that was delivered before the failure is also the last one.
        #expect(Numbered.number(of: response.image) == (includesData ? 2 : 1))
        #expect(response.source == (includesData ? .diskCache : .memoryCache))
    }

    @Test("A stale response has no original data if a cache contains only corrupt data of another image")
    func corruptStaleData() async throws {
        let tier = RecordingTier(.disk)
        let fixture = try await replaced(tier)
        tier.replaceData { $0.prefix(40) }
        var request = ImageRequest(url: .sample)
        request.includesOriginalData = true
        let response = try await fixture.manager.response(for: request)
        #expect(response.isStale && response.originalData == nil && response.source == .memoryCache)
        #expect(Numbered.number(of: response.image) == 1)
    }

    // MARK: - Crossing requests

    @Test("A revalidation sends no request if another one finishes while it reads the cache")
    func crossing() async throws {
        let (gate, hold) = (TestGate(), TestGate())
        let tier = RecordingTier(.disk)
        let loader = ContextLoader(gate) { confirming($0) }
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = [tier]
            $0.loaders = [loader]
        }
        let manager = fixture.manager
        let requests = [ImageRequest(url: .sample), ImageRequest(url: .sample, size: .fit(width: 3))]
        for request in requests { _ = try await manager.image(for: request) }
        await manager.rest()
        fixture.pass(seconds: 70)
        #expect(try manager.load(requests[0]).result?.get().isStale == true)
        await untilTrue { loader.count == 2 }
        let lookups = tier.lookups
        tier.blockLookups(hold)
        #expect(try manager.load(requests[1]).result?.get().isStale == true)
        // If a second revalidation started, it has seen the stale image and is reading the cache.
        await passing { tier.lookups > lookups }
        gate.open()
        await untilTrue { (try? manager.load(requests[0]).result?.get())?.isStale == false }
        hold.open()
        await manager.rest()
        await passing()
        await manager.rest()
        #expect(loader.count == 2)
    }

    // MARK: - Priority of revalidations

    @Test(
        "A background revalidation has a low priority regardless of the priority of the request",
        arguments: Location.allCases, RequestPriority.allCases)
    func low(place: Location, priority: RequestPriority) async throws {
        let gate = TestGate()
        let loader = ContextLoader(gate) { confirming($0) }
        let fixture = try await stale(loader, at: place)
        var request = ImageRequest(url: .sample)
        request.priority = priority
        #expect(await fixture.manager.load(request).number == 1)
        await untilTrue { loader.count > 1 }
        #expect(try #require(loader.priorities.last) <= .low)
        gate.open()
        await fixture.manager.rest()
    }

    @Test("A request that joins a revalidation raises its priority, and canceling the request lowers it")
    func raised() async throws {
        let gate = TestGate()
        let loader = ContextLoader(gate) { confirming($0) }
        let fixture = try await stale(loader, at: .memory)
        #expect(await fixture.manager.load(.sample).number == 1)
        await untilTrue { loader.count > 1 }
        var request = ImageRequest(url: .sample)
        request.cachePolicy = .refresh
        request.priority = .veryHigh
        let task = fixture.manager.load(request)
        await untilTrue { loader.priorities.dropFirst().contains(.veryHigh) }
        task.cancel()
        await untilTrue { loader.priorities.dropFirst().allSatisfy { $0 <= .low } }
        gate.open()
        await fixture.manager.rest()
    }

    // MARK: - Joining

    /// The ways to join a running load.
    enum Join: String, CaseIterable, Sendable {
        case image, data, encoded, change
    }

    @Test(
        "S-09: A request that joins a load raises its priority, and canceling the request lowers it",
        arguments: Join.allCases)
    func joining(join: Join) async throws {
        let gate = TestGate()
        let loader = ContextLoader(gate) { _ in Numbered.response(1) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        // The first load of this loader isn't held.
        let other = try #require(URL(string: "https://images.test/other"))
        #expect(await fixture.manager.load(other).number == 1)
        var low = ImageRequest(url: .sample)
        low.priority = .low
        let task = fixture.manager.load(low)
        await untilTrue { loader.count > 1 }
        #expect(loader.priorities.last == .low)
        var high = ImageRequest(url: .sample)
        high.priority = join == .change ? .low : .veryHigh
        let (manager, request) = (fixture.manager, high)
        let joined = Task {
            switch join {
            case .image: _ = try? await manager.image(for: request)
            case .data: _ = try? await manager.data(for: request)
            case .encoded: _ = try? await manager.encodedImage(for: request, as: .png).data
            case .change:
                let task = manager.load(request)
                task.priority = .veryHigh
                await withTaskCancellationHandler {
                    _ = try? await task.response
                } onCancel: {
                    task.cancel()
                }
            }
        }
        await untilTrue { loader.priorities.last == .veryHigh }
        joined.cancel()
        await untilTrue { loader.priorities.last == .low }
        gate.open()
        #expect(await task.number == 1)
        await joined.value
        #expect(loader.count == 2)
    }

    @Test("S-09: A request that joins a queued download moves it to the front of the queue", arguments: Join.allCases)
    func queued(join: Join) async throws {
        let gate = TestGate()
        let server = try LoopbackServer { request in
            LoopbackServer.Response(headers: Numbered.head(1).headers, body: Numbered.data(1))
                .with { if request.index == 0 { $0.headGate = gate } }
        }
        let fixture = try ManagerFixture {
            $0.downloader.maxConnections = 1
            $0.downloader.maxStartsPerSecond = nil
        }
        let manager = fixture.manager
        var tasks = [manager.load(server.url("/running"))]
        await server.waitForRequests(count: 1)
        for (name, priority) in [("normal", RequestPriority.normal), ("low", .low)] {
            var request = ImageRequest(url: server.url("/\(name)"))
            request.priority = priority
            tasks.append(manager.load(request))
        }
        await untilTrue { manager.downloader.queuedCount == 2 }
        var high = ImageRequest(url: server.url("/low"))
        high.priority = join == .change ? .low : .veryHigh
        let request = high
        let joined = Task {
            switch join {
            case .image: _ = try await manager.image(for: request)
            case .data: _ = try await manager.data(for: request)
            case .encoded: _ = try await manager.encodedImage(for: request, as: .png).data
            case .change: _ = try await manager.image(for: request)
            }
        }
        await manager.waitForLoads(4)
        if join == .change { tasks.last?.priority = .veryHigh }
        gate.open()
        for task in tasks { #expect(await task.number == 1) }
        try await joined.value
        #expect(server.requests.map(\.path) == ["/running", "/low", "/normal"])
    }
}
