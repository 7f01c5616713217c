// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@Suite("Two requests for one URL with different caches", .serialized, .timeLimit(.minutes(5)))
struct StoreChoiceTests {
    /// The location where a request stores original data.
    enum Location: String, CaseIterable, Sendable {
        case nowhere, everywhere, nearTier, farTier, ownCache, ownOriginalCache

        /// The names of the tiers that receive the data.
        var tiers: Set<String> {
            switch self {
            case .nowhere: []
            case .everywhere: ["near", "far"]
            case .nearTier: ["near"]
            case .farTier: ["far"]
            case .ownCache: ["own"]
            case .ownOriginalCache: ["original"]
            }
        }
    }

    /// The form of the data that a request returns.
    enum Form: String, CaseIterable, Sendable {
        case image, data
    }

    /// A manager with two tiers and two caches for individual requests.
    private struct World {
        let near = RecordingTier(.disk)
        let far = RecordingTier(.custom)
        let own = RecordingTier()
        let original = RecordingTier()
        let fixture: ManagerFixture
        private let ownCache: ImageCache
        private let originalCache: ImageCache

        init(_ loader: StubLoader) throws {
            let (near, far) = (near, far)
            ownCache = ImageCache(tiers: [own])
            originalCache = ImageCache(memory: nil, tiers: [original])
            fixture = try ManagerFixture {
                $0.diskCache = nil
                $0.cacheTiers = [near, far]
                $0.loaders = [loader]
            }
        }

        func request(_ place: Location) -> ImageRequest {
            var request = ImageRequest(url: .sample)
            switch place {
            case .nowhere: request.caching.originalWriteTo = []
            case .everywhere: break
            case .nearTier: request.caching.originalWriteTo = .disk
            case .farTier: request.caching.originalWriteTo = .custom
            case .ownCache: request.caching.cache = ownCache
            case .ownOriginalCache: request.caching.originalCache = originalCache
            }
            return request
        }

        /// Checks that exactly the tiers of `places` contain the data and that each received it once.
        func check(_ places: Location..., sourceLocation: SourceLocation = #_sourceLocation) {
            let wanted = places.reduce(into: Set<String>()) { $0.formUnion($1.tiers) }
            for (name, tier) in ["near": near, "far": far, "own": own, "original": original] {
                let expected = wanted.contains(name) ? [Numbered.data(1)] : []
                #expect(tier.payloads == expected, "\(name)", sourceLocation: sourceLocation)
            }
        }
    }

    @Test(
        "N-02: Joined requests store the data once in each of their tiers, in either order",
        arguments: pairs(Location.allCases))
    func joined(first: Location, second: Location) async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1, responseGate: gate) }
        let world = try World(loader)
        let manager = world.fixture.manager
        let tasks = [manager.load(world.request(first)), manager.load(world.request(second))]
        await manager.waitForLoads(2)
        gate.open()
        for task in tasks {
            #expect(await task.number == 1)
            await task.waitUntilStored()
        }
        #expect(loader.requests.count == 1)
        world.check(first, second)
    }

    @Test("Joined requests encode and store their processed image once in each of their tiers")
    func joinedProcessed() async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1, responseGate: gate) }
        let world = try World(loader)
        let manager = world.fixture.manager
        var request = world.request(.nowhere)
        request.caching.processedEncoding = .png
        request.caching.writeTo = .disk
        var wide = request
        wide.caching.writeTo = [.disk, .custom]
        let tasks = [request, request, wide].map { manager.load($0) }
        await manager.waitForLoads(3)
        gate.open()
        for task in tasks {
            #expect(await task.number == 1)
            await task.waitUntilStored()
        }
        #expect(loader.requests.count == 1)
        #expect(world.near.payloads.count == 1 && world.far.payloads.count == 1)
    }

    @Test(
        "A request for data in use stores it in its own tiers regardless of the first request",
        arguments: pairs(Location.allCases))
    func inUse(first: Location, second: Location) async throws {
        let gate = TestGate()
        let holding = HoldingTransformer(gate)
        let loader = StubLoader { _ in Numbered.response(1) }
        let world = try World(loader)
        let manager = world.fixture.manager
        var held = world.request(first)
        held.transformers = [holding]
        let task = manager.load(held)
        await untilTrue { holding.isHolding }
        let other = manager.load(world.request(second))
        #expect(await other.number == 1)
        await other.waitUntilStored()
        gate.open()
        #expect(await task.number == 1)
        await task.waitUntilStored()
        #expect(loader.requests.count == 1)
        world.check(first, second)
    }

    @Test(
        "Requests for an image and for its data store the same data",
        arguments: pairs(Form.allCases),
        [
            (Location.nowhere, Location.everywhere), (Location.everywhere, Location.nowhere),
            (Location.ownCache, Location.farTier),
        ])
    func forms(forms: (Form, Form), places: (Location, Location)) async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1, responseGate: gate) }
        let world = try World(loader)
        let manager = world.fixture.manager
        let requests = [(forms.0, places.0), (forms.1, places.1)].map { form, place in
            var request = world.request(place)
            request.caching.waitsUntilStored = true
            return (form, request)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, (form, request)) in requests.enumerated() {
                group.addTask {
                    switch form {
                    case .image:
                        let image = try await manager.image(for: request)
                        #expect(Numbered.number(of: image) == 1)
                    case .data:
                        let data = try await manager.data(for: request)
                        #expect(data == Numbered.data(1))
                    }
                }
                await manager.waitForLoads(index + 1)
            }
            gate.open()
            try await group.waitForAll()
        }
        #expect(loader.requests.count == 1)
        world.check(places.0, places.1)
    }

    @Test("Requests with different tiers store the data in all of them")
    func three() async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1, responseGate: gate) }
        let world = try World(loader)
        let manager = world.fixture.manager
        let places: [Location] = [.nowhere, .nearTier, .farTier, .ownCache, .ownOriginalCache, .nearTier]
        let tasks = places.map { manager.load(world.request($0)) }
        await manager.waitForLoads(places.count)
        gate.open()
        for task in tasks { await task.waitUntilStored() }
        #expect(loader.requests.count == 1)
        world.check(.nearTier, .farTier, .ownCache, .ownOriginalCache)
    }

    @Test(
        "A request stores its data after a joined request with other tiers was canceled",
        arguments: pairs(Location.allCases))
    func canceled(leaving: Location, staying: Location) async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1, responseGate: gate) }
        let world = try World(loader)
        let manager = world.fixture.manager
        let canceled = manager.load(world.request(leaving))
        let task = manager.load(world.request(staying))
        await manager.waitForLoads(2)
        canceled.cancel()
        gate.open()
        #expect(await task.number == 1)
        await task.waitUntilStored()
        world.check(staying)
    }

    @Test("If one of two joined requests stores the image in memory, the image is in memory")
    func memory() async throws {
        for order in [[true, false], [false, true]] {
            let gate = TestGate()
            let loader = StubLoader { _ in Numbered.response(1, responseGate: gate) }
            let world = try World(loader)
            let manager = world.fixture.manager
            let tasks = order.map { stores in
                var request = ImageRequest(url: .sample)
                if !stores { request.caching.writeTo = [] }
                return manager.load(request)
            }
            await manager.waitForLoads(2)
            gate.open()
            for task in tasks { #expect(await task.number == 1) }
            #expect(manager.cachedImage(for: ImageRequest(url: .sample)) != nil)
        }
    }
}
