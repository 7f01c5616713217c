// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@Suite("Data in use", .timeLimit(.minutes(5)))
struct OriginTests {
    /// A manager with one request that is held while it uses data from the network.
    private struct World {
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture: ManagerFixture
        let blocked: ImageTask

        init(_ change: (inout ImageRequest) -> Void = { _ in }) async throws {
            let loader = loader
            fixture = try ManagerFixture { $0.loaders = [loader] }
            let holding = HoldingTransformer(gate)
            var request = ImageRequest(url: .sample, transformers: [holding])
            change(&request)
            blocked = fixture.manager.load(request)
            await untilTrue { holding.isHolding }
        }

        func end() async throws {
            gate.open()
            #expect(try await blocked.response.source == .network)
        }
    }

    @Test(
        "The origin of an image from data in use isn't the network",
        arguments: [nil, 4.0])
    func image(width: Double?) async throws {
        let world = try await World()
        let request = ImageRequest(url: .sample, size: width.map { .fit(width: $0) })
        let response = try await world.fixture.manager.response(for: request)
        #expect(response.source != .network)
        #expect(response.metrics == nil)
        try await world.end()
        #expect(world.loader.requests.count == 1)
    }

    @Test("The origin of an image from data in use that isn't stored isn't the network")
    func unstorable() async throws {
        let world = try await World { $0.caching.originalWriteTo = [] }
        let response = try await world.fixture.manager.response(for: ImageRequest(url: .sample))
        #expect(response.source != .network)
        #expect(response.metrics == nil)
        try await world.end()
    }

    @Test("The statistics count one download if other requests use its data")
    func statistics() async throws {
        let world = try await World()
        for width in 1...3 {
            _ = try await world.fixture.manager.image(for: ImageRequest(url: .sample, size: .fit(width: Double(width))))
        }
        try await world.end()
        await world.fixture.manager.rest()
        let counts = world.fixture.manager.statistics
        #expect(counts.downloads == 1)
        #expect(counts.loads == 1)
        // Three of four requests contacted no source.
        #expect(counts.hitRate == 0.75)
    }

    @Test("Observers receive one request with the network as its origin")
    func observers() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let origins = Shared<[ImageResponse.Source?]>([])
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.observers = [EndObserver(origins: origins)]
        }
        let gate = TestGate()
        let holding = HoldingTransformer(gate)
        let held = fixture.manager.load(ImageRequest(url: .sample, transformers: [holding]))
        await untilTrue { holding.isHolding }
        _ = try await fixture.manager.image(for: ImageRequest(url: .sample))
        gate.open()
        _ = try await held.image
        await untilTrue { origins.value.count == 2 }
        #expect(origins.value.count { $0 == .network } == 1)
    }

    @Test("The origin of all requests that waited for a download is the network")
    func joined() async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1, responseGate: gate) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        let tasks = (1...3).map { fixture.manager.load(ImageRequest(url: .sample, size: .fit(width: Double($0)))) }
        await fixture.manager.waitForLoads(3)
        gate.open()
        for task in tasks { #expect(try await task.response.source == .network) }
    }

    // MARK: - Memory

    /// A weak reference to an image.
    private final class Weak {
        weak var image: DecodedImage?
        init(_ image: DecodedImage) { self.image = image }
    }

    /// Returns a request whose image isn't cached.
    private func fleeting(_ path: String, width: Double? = nil) throws -> ImageRequest {
        let url = try #require(URL(string: "https://images.test/\(path)"))
        var request = ImageRequest(url: url, size: width.map { .fit(width: $0) })
        request.caching.writeTo = []
        request.caching.originalWriteTo = []
        return request
    }

    @Test(
        "Unused images are deallocated while another request runs", arguments: [true, false])
    func freed(sizes: Bool) async throws {
        let gate = TestGate()
        let loader = StubLoader { Numbered.response(1, responseGate: $0.url == .sample ? gate : nil) }
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.loaders = [loader]
        }
        let running = fixture.manager.load(.sample)
        await loader.waitForRequests(count: 1)
        var images: [Weak] = []
        for number in 1...8 {
            let request = try fleeting(sizes ? "one" : "\(number)", width: sizes ? Double(number) : nil)
            images.append(Weak(try await fixture.manager.image(for: request)))
        }
        // The tasks of the requests end shortly after their results.
        await passing { images.allSatisfy { $0.image == nil } }
        #expect(images.count { $0.image != nil } == 0)
        gate.open()
        #expect(await running.number == 1)
    }

    @Test("Memory pressure releases unused images while another request runs")
    func pressure() async throws {
        let gate = TestGate()
        let loader = StubLoader { Numbered.response(1, responseGate: $0.url == .sample ? gate : nil) }
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.loaders = [loader]
        }
        let running = fixture.manager.load(.sample)
        await loader.waitForRequests(count: 1)
        var images: [Weak] = []
        for number in 1...8 {
            var request = try fleeting("\(number)")
            request.caching.writeTo = .memory
            images.append(Weak(try await fixture.manager.image(for: request)))
        }
        fixture.manager.configuration.memoryPressureMonitor.report(.critical)
        await passing { images.allSatisfy { $0.image == nil } }
        #expect(images.count { $0.image != nil } == 0)
        gate.open()
        #expect(await running.number == 1)
    }

    @Test("Consecutive requests for one size share an image in use")
    func sharedImage() async throws {
        let gate = TestGate()
        let loader = StubLoader { Numbered.response(1, responseGate: $0.url == .sample ? gate : nil) }
        let fixture = try ManagerFixture {
            $0.diskCache = nil
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

/// An observer that records the origins of finished requests.
private struct EndObserver: ImageManagerObserver {
    let origins: Shared<[ImageResponse.Source?]>

    func observe(_ event: ImageManager.Event) {
        guard event.stage == .request, event.phase == .ended else { return }
        origins.update { $0.append(event.source) }
    }
}
