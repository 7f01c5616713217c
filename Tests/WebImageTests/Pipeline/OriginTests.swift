// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport
import WebImageTesting

@Suite("Data that is still in use", .timeLimit(.minutes(1)))
struct OriginTests {
    /// A manager with one request that is held while it uses data from the network.
    private struct World {
        let gate = Gate()
        let loader = StubLoader { _ in Numbered.answer(1) }
        let fixture: ManagerFixture
        let held: ImageTask

        init(_ change: (inout ImageRequest) -> Void = { _ in }) async throws {
            let loader = loader
            fixture = try ManagerFixture { $0.loaders = [loader] }
            let holding = HoldingTransformer(gate)
            var request = ImageRequest(.sample, transformers: [holding])
            change(&request)
            held = fixture.manager.load(request)
            await untilTrue { holding.isHolding }
        }

        func end() async throws {
            gate.open()
            #expect(try await held.response.origin == .network)
        }
    }

    @Test(
        "An image made from data that is still in use doesn't come from the network",
        arguments: [nil, 4.0])
    func image(width: Double?) async throws {
        let world = try await World()
        let request = ImageRequest(.sample, size: width.map { .fit(width: $0) })
        let response = try await world.fixture.manager.response(for: request)
        #expect(response.origin != .network)
        #expect(response.metrics == nil)
        try await world.end()
        #expect(world.loader.requests.count == 1)
    }

    @Test("An image made from data in use that may not be stored doesn't come from the network")
    func unstorable() async throws {
        let world = try await World { $0.originalStores = [] }
        let response = try await world.fixture.manager.response(for: ImageRequest(.sample))
        #expect(response.origin != .network)
        #expect(response.metrics == nil)
        try await world.end()
    }

    @Test("The statistics count one download where one request downloaded and others used its data")
    func statistics() async throws {
        let world = try await World()
        for width in 1...3 {
            _ = try await world.fixture.manager.image(for: ImageRequest(.sample, size: .fit(width: Double(width))))
        }
        try await world.end()
        await world.fixture.manager.rest()
        let counts = world.fixture.manager.statistics
        #expect(counts.downloaded == 1)
        #expect(counts.loads == 1)
        // Three of four requests asked no source.
        #expect(counts.hitRate == 0.75)
    }

    @Test("Observers hear of one request that the network answered")
    func observers() async throws {
        let loader = StubLoader { _ in Numbered.answer(1) }
        let origins = Shared<[ImageResponse.Origin?]>([])
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.observers = [EndObserver(origins: origins)]
        }
        let gate = Gate()
        let holding = HoldingTransformer(gate)
        let held = fixture.manager.load(ImageRequest(.sample, transformers: [holding]))
        await untilTrue { holding.isHolding }
        _ = try await fixture.manager.image(for: ImageRequest(.sample))
        gate.open()
        _ = try await held.image
        await untilTrue { origins.value.count == 2 }
        #expect(origins.value.count { $0 == .network } == 1)
    }

    @Test("All requests that waited for a download come from the network")
    func joined() async throws {
        let gate = Gate()
        let loader = StubLoader { _ in Numbered.answer(1, gate: gate) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        let tasks = (1...3).map { fixture.manager.load(ImageRequest(.sample, size: .fit(width: Double($0)))) }
        await fixture.manager.waitForLoads(3)
        gate.open()
        for task in tasks { #expect(try await task.response.origin == .network) }
    }

    // MARK: - Memory

    /// A reference that doesn't keep its object alive.
    private final class Weak {
        weak var image: Image?
        init(_ image: Image) { self.image = image }
    }

    /// A request that leaves nothing in memory.
    private func fleeting(_ path: String, width: Double? = nil) throws -> ImageRequest {
        let url = try #require(URL(string: "https://images.test/\(path)"))
        var request = ImageRequest(url, size: width.map { .fit(width: $0) })
        request.stores = []
        request.originalStores = []
        return request
    }

    @Test(
        "Images that nobody uses are freed although another request runs", arguments: [true, false])
    func freed(sizes: Bool) async throws {
        let gate = Gate()
        let loader = StubLoader { Numbered.answer(1, gate: $0.url == .sample ? gate : nil) }
        let fixture = try ManagerFixture {
            $0.cache.usesDisk = false
            $0.loaders = [loader]
        }
        let running = fixture.manager.load(.sample)
        await loader.waitForRequests(count: 1)
        var images: [Weak] = []
        for number in 1...8 {
            let request = try fleeting(sizes ? "one" : "\(number)", width: sizes ? Double(number) : nil)
            images.append(Weak(try await fixture.manager.image(for: request)))
        }
        // The tasks of the requests end a moment after their results.
        await passing { images.allSatisfy { $0.image == nil } }
        #expect(images.count { $0.image != nil } == 0)
        gate.open()
        #expect(await running.number == 1)
    }

    @Test("Memory pressure frees images that nobody uses although another request runs")
    func pressure() async throws {
        let gate = Gate()
        let loader = StubLoader { Numbered.answer(1, gate: $0.url == .sample ? gate : nil) }
        let fixture = try ManagerFixture {
            $0.cache.usesDisk = false
            $0.loaders = [loader]
        }
        let running = fixture.manager.load(.sample)
        await loader.waitForRequests(count: 1)
        var images: [Weak] = []
        for number in 1...8 {
            var request = try fleeting("\(number)")
            request.stores = .memory
            images.append(Weak(try await fixture.manager.image(for: request)))
        }
        fixture.manager.handleMemoryPressure(.critical)
        await passing { images.allSatisfy { $0.image == nil } }
        #expect(images.count { $0.image != nil } == 0)
        gate.open()
        #expect(await running.number == 1)
    }

    @Test("Requests for one size that follow each other share an image that is in use")
    func sharedImage() async throws {
        let gate = Gate()
        let loader = StubLoader { Numbered.answer(1, gate: $0.url == .sample ? gate : nil) }
        let fixture = try ManagerFixture {
            $0.cache.usesDisk = false
            $0.loaders = [loader]
        }
        let running = fixture.manager.load(.sample)
        await loader.waitForRequests(count: 1)
        let request = try fleeting("one", width: 4)
        let first = fixture.manager.load(request)
        let second = fixture.manager.load(request)
        let images = (try await first.image, try await second.image)
        #expect(images.0 === images.1)
        gate.open()
        #expect(await running.number == 1)
    }
}

/// Collects the origins of requests that ended.
private struct EndObserver: ImageEventsObserver {
    let origins: Shared<[ImageResponse.Origin?]>

    func observe(_ event: StageEvent) {
        guard event.stage == .request, event.phase == .ended else { return }
        origins.update { $0.append(event.origin) }
    }
}
