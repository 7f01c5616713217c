// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@Suite("Cache removal while requests run", .serialized, .timeLimit(.minutes(5)))
struct RemovalTests {
    /// The entries to remove.
    enum Removal: String, CaseIterable, Sendable {
        case request, all

        func callAsFunction(_ manager: ImageManager) async {
            switch self {
            case .request: await manager.removeCachedImage(for: ImageRequest(url: .sample))
            case .all: await manager.removeAllCachedImages()
            }
        }
    }

    /// The stage at which a request is held.
    enum Stage: String, CaseIterable, Sendable {
        case head, body, decode, transform
    }

    /// A manager whose first request is held at a stage.
    private final class World: Sendable {
        let gate = TestGate()
        let tier = RecordingTier(.disk)
        let loader: StubLoader
        let fixture: ManagerFixture
        private let stage: Stage
        private let coder: HoldingCoder
        private let transformer: HoldingTransformer

        init(_ stage: Stage) throws {
            self.stage = stage
            let (gate, tier, count) = (gate, tier, Shared(0))
            coder = HoldingCoder(gate)
            transformer = HoldingTransformer(gate)
            let loader = StubLoader { _ in
                let number = count.update { count in
                    count += 1
                    return count
                }
                guard number == 1 else { return Numbered.response(number) }
                return Numbered.response(
                    1, responseGate: stage == .head ? gate : nil, bodyGate: stage == .body ? gate : nil)
            }
            self.loader = loader
            fixture = try ManagerFixture {
                $0.diskCache = nil
                $0.cacheTiers = [tier]
                $0.loaders = [loader]
            }
        }

        /// The request that is held.
        var blocked: ImageRequest {
            var request = ImageRequest(url: .sample)
            if stage == .decode { request.coder = coder }
            if stage == .transform { request.transformers = [transformer] }
            return request
        }

        /// Starts the request and waits until it's held.
        func start(_ change: (inout ImageRequest) -> Void = { _ in }) async -> ImageTask {
            var request = blocked
            change(&request)
            let task = fixture.manager.load(request)
            await waitUntilBlocked()
            return task
        }

        func waitUntilBlocked() async {
            switch stage {
            case .head, .body: await loader.waitForRequests(count: 1)
            case .decode: await untilTrue { coder.isHolding }
            case .transform: await untilTrue { transformer.isHolding }
            }
        }
    }

    @Test(
        "A request that runs during a removal returns its image and stores nothing",
        arguments: Stage.allCases, Removal.allCases)
    func running(stage: Stage, removal: Removal) async throws {
        let world = try World(stage)
        let task = await world.start { $0.caching.processedEncoding = .png }
        await removal(world.fixture.manager)
        world.gate.open()
        #expect(await task.number == 1)
        await task.waitUntilStored()
        await world.fixture.manager.rest()
        #expect(world.fixture.manager.cachedImage(for: world.blocked) == nil)
        #expect(world.tier.count == 0)
        var later = world.blocked
        later.cachePolicy = .cacheFirst
        #expect(await world.fixture.manager.load(later).number == 2)
    }

    @Test(
        "Data that is being loaded during a removal isn't stored", arguments: [Stage.head, .body],
        Removal.allCases)
    func data(stage: Stage, removal: Removal) async throws {
        let world = try World(stage)
        let manager = world.fixture.manager
        async let data = manager.data(for: ImageRequest(url: .sample))
        await world.waitUntilBlocked()
        await removal(manager)
        world.gate.open()
        #expect(try await data == Numbered.data(1))
        #expect(world.tier.count == 0)
    }

    @Test(
        "An image that is being encoded during a removal isn't stored", arguments: Stage.allCases,
        Removal.allCases)
    func encoded(stage: Stage, removal: Removal) async throws {
        let world = try World(stage)
        let manager = world.fixture.manager
        let request = {
            var request = world.blocked
            request.caching.waitsUntilStored = true
            return request
        }()
        async let data = manager.encodedImage(for: request, as: .png).data
        await world.waitUntilBlocked()
        await removal(manager)
        world.gate.open()
        _ = try await data
        await manager.rest()
        #expect(world.tier.count == 0)
        #expect(manager.cachedImage(for: request) == nil)
    }

    @Test(
        "A request after a removal doesn't use the data of an earlier running request", arguments: Stage.allCases,
        Removal.allCases)
    func after(stage: Stage, removal: Removal) async throws {
        let world = try World(stage)
        let earlier = await world.start()
        await removal(world.fixture.manager)
        let later = world.fixture.manager.load(ImageRequest(url: .sample))
        await world.loader.waitForRequests(count: 2)
        world.gate.open()
        #expect(await later.number == 2)
        #expect(await earlier.number == 1)
        await later.waitUntilStored()
        await earlier.waitUntilStored()
        await world.fixture.manager.rest()
        let image = try #require(world.fixture.manager.cachedImage(for: ImageRequest(url: .sample)))
        #expect(Numbered.number(of: image) == 2)
        #expect(world.tier.stored == [Numbered.data(2)])
    }

    @Test(
        "A request that reads a tier during a removal doesn't store its image in memory",
        arguments: Removal.allCases)
    func lookup(removal: Removal) async throws {
        let gate = TestGate()
        let count = Shared(0)
        let loader = StubLoader { _ in
            Numbered.response(
                count.update { count in
                    count += 1
                    return count
                })
        }
        let tier = RecordingTier(.disk, lookupGate: gate)
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = [tier]
            $0.loaders = [loader]
        }
        var first = ImageRequest(url: .sample)
        first.caching.originalReadFrom = []
        first.caching.writeTo = []
        #expect(await fixture.manager.load(first).number == 1)
        await fixture.manager.rest()
        await untilTrue { tier.count == 1 }
        // The data of the first request may still be in use.
        var second = ImageRequest(url: .sample, size: .fit(width: 4))
        second.caching.originalReadFrom = [.disk]
        let task = fixture.manager.load(second)
        await untilTrue { tier.lookups == 1 }
        await removal(fixture.manager)
        gate.open()
        let number = await task.number
        await task.waitUntilStored()
        await fixture.manager.rest()
        #expect(!tier.stored.contains(Numbered.data(1)))
        let kept = fixture.manager.cachedImage(for: task.request).map { Numbered.number(of: $0) }
        #expect(kept == nil || kept == 2 && number == 2)
        #expect(await fixture.manager.load(ImageRequest(url: .sample)).number != 1)
    }

    @Test(
        "A removal during a write leaves no entry",
        arguments: Removal.allCases)
    func writing(removal: Removal) async throws {
        let gate = TestGate()
        let tier = RecordingTier(.disk, storeGate: gate)
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = [tier]
            $0.loaders = [loader]
        }
        let manager = fixture.manager
        let task = manager.load(.sample)
        await untilTrue { tier.writes == 1 }
        async let removed: Void = removal(manager)
        // The removal either reaches the tier or waits for the write.
        await passing { tier.removals > 0 }
        gate.open()
        await removed
        #expect(await task.number == 1)
        await task.waitUntilStored()
        await manager.rest()
        #expect(tier.count == 0)
        #expect(manager.cachedImage(for: ImageRequest(url: .sample)) == nil)
    }

    @Test(
        "A request during a removal finds nothing in the tiers, so no removed image reappears",
        arguments: Removal.allCases, [false, true])
    func requestDuringRemoval(removal: Removal, isProcessed: Bool) async throws {
        let (gate, number) = (TestGate(), Shared(1))
        let tier = RecordingTier(.disk, removalGate: gate)
        let loader = StubLoader { _ in Numbered.response(number.value) }
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = [tier]
            $0.loaders = [loader]
        }
        let manager = fixture.manager
        var request = ImageRequest(url: .sample)
        if isProcessed {
            request.size = .fit(width: 4)
            request.caching.processedEncoding = .png
        }
        let first = manager.load(request)
        #expect(await first.number == 1)
        await first.waitUntilStored()
        #expect(tier.count == (isProcessed ? 2 : 1))
        number.value = 2
        let removed = Task { [request] in
            switch removal {
            case .request: await manager.removeCachedImage(for: request)
            case .all: await manager.removeAllCachedImages()
            }
        }
        await untilTrue { tier.removals > 0 }
        #expect(await manager.load(request).number == 2)
        gate.open()
        await removed.value
        await manager.rest()
        #expect(await manager.load(request).number == 2)
        #expect(!tier.stored.contains(Numbered.data(1)))
    }

    @Test("A 304 that arrives after a removal stores nothing", arguments: Removal.allCases)
    func confirmation(removal: Removal) async throws {
        let gate = TestGate()
        let tier = RecordingTier(.disk)
        let loader = ContextLoader(gate) { request in
            var response = Numbered.response(1)
            guard request.acceptsNotModified else { return response }
            response.httpResponse?.statusCode = 304
            response.chunks = []
            return response
        }
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = [tier]
            $0.loaders = [loader]
        }
        #expect(await fixture.manager.load(.sample).number == 1)
        await fixture.manager.rest()
        fixture.pass(seconds: 61)
        let task = fixture.manager.load(.sample)
        await untilTrue { loader.count == 2 }
        await removal(fixture.manager)
        gate.open()
        #expect(await task.number == 1)
        await task.waitUntilStored()
        await fixture.manager.rest()
        #expect(fixture.manager.cachedImage(for: ImageRequest(url: .sample)) == nil)
        #expect(tier.count == 0)
    }

    @Test("The removal of one image doesn't affect requests for other images", arguments: Stage.allCases)
    func others(stage: Stage) async throws {
        let world = try World(stage)
        let task = await world.start()
        let other = try #require(URL(string: "https://images.test/other"))
        await world.fixture.manager.removeCachedImage(for: ImageRequest(url: other))
        world.gate.open()
        #expect(await task.number == 1)
        await task.waitUntilStored()
        #expect(world.fixture.manager.cachedImage(for: world.blocked) != nil)
        #expect(world.tier.stored == [Numbered.data(1)])
    }

    @Test(
        "After a removal during a download and a restart, the disk cache is empty",
        arguments: Removal.allCases)
    func restart(removal: Removal) async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1, bodyGate: gate) }
        var fixture = try ManagerFixture { $0.loaders = [loader] }
        let task = fixture.manager.load(.sample)
        await loader.waitForRequests(count: 1)
        await removal(fixture.manager)
        gate.open()
        #expect(await task.number == 1)
        await task.waitUntilStored()
        fixture = try await fixture.restarted { $0.loaders = [loader] }
        var request = ImageRequest(url: .sample)
        request.cachePolicy = .cacheOnly
        #expect(await fixture.manager.load(request).number == nil)
    }
}
