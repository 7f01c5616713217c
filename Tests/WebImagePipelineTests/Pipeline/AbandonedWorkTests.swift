// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@Suite("Canceled requests, and requests that wait for the store", .timeLimit(.minutes(5)))
struct AbandonedWorkTests {
    // MARK: - Canceled during the cache lookup

    /// A source that must not be started for a canceled request.
    enum Source: String, CaseIterable, Sendable {
        case managerLoader, requestLoader, data, stream
    }

    @Test(
        "G-03: A source isn't started for a request that was canceled during the cache lookup",
        arguments: Source.allCases)
    func lookup(source: Source) async throws {
        let gate = TestGate()
        let starts = Shared(0)
        let loader = StubLoader { _ in
            starts.update { $0 += 1 }
            return Numbered.response(1)
        }
        let tier = RecordingTier(.disk, lookupGate: gate)
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = [tier]
            $0.loaders = source == .managerLoader ? [loader] : []
        }
        // Each round uses its own image, because a new request may still join the lookup of a request that was just
        // canceled.
        for round in 1...20 {
            let task = fixture.manager.load(request(source, round, loader, starts))
            await untilTrue { tier.lookups == round }
            task.cancel()
            #expect(await task.code == 1001)
        }
        await passing()
        gate.open()
        await fixture.manager.rest()
        await passing()
        #expect(starts.value == 0)
    }

    private func request(
        _ source: Source, _ round: Int, _ loader: StubLoader, _ starts: Shared<Int>
    ) -> ImageRequest {
        switch source {
        case .managerLoader: return ImageRequest(url: .sample.appending(path: "\(round)"))
        case .requestLoader:
            var request = ImageRequest(url: .sample.appending(path: "\(round)"))
            request.loader = loader
            return request
        case .data:
            return ImageRequest(cacheKey: "\(round)") {
                starts.update { $0 += 1 }
                return Numbered.data(1)
            }
        case .stream:
            return ImageRequest(
                cacheKey: "\(round)",
                stream: {
                    starts.update { $0 += 1 }
                    return AsyncThrowingStream { $0.finish() }
                })
        }
    }

    @Test("A request for data that was canceled during the cache lookup starts no load")
    func dataLookup() async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1) }
        let tier = RecordingTier(.disk, lookupGate: gate)
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = [tier]
            $0.loaders = [loader]
        }
        let manager = fixture.manager
        for round in 1...20 {
            let waiting = Task { try await manager.data(for: ImageRequest(url: .sample.appending(path: "\(round)"))) }
            await untilTrue { tier.lookups == round }
            waiting.cancel()
            _ = try? await waiting.value
        }
        gate.open()
        await manager.rest()
        await passing()
        #expect(loader.requests.isEmpty)
    }

    @Test("A request loads once if another request was canceled during their shared cache lookup")
    func survivor() async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1) }
        let tier = RecordingTier(.disk, lookupGate: gate)
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = [tier]
            $0.loaders = [loader]
        }
        let canceled = fixture.manager.load(.sample)
        await untilTrue { tier.lookups == 1 }
        let task = fixture.manager.load(.sample)
        canceled.cancel()
        gate.open()
        #expect(await task.number == 1)
        #expect(loader.requests.count == 1)
    }

    @Test("A request that is canceled before its stored processed image is decoded removes no cache entry")
    func processed() async throws {
        let gate = TestGate()
        let holder = HoldingTransformer(gate)
        let loader = StubLoader { _ in Numbered.response(1) }
        let tier = RecordingTier(.disk)
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = [tier]
            $0.loaders = [loader]
            $0.workerThreadCount = 1
        }
        let manager = fixture.manager
        var request = ImageRequest(url: .sample)
        request.caching.processedEncoding = .png
        request.caching.waitsUntilStored = true
        _ = try await manager.image(for: request)
        #expect(tier.count == 2)
        manager.cache.memory?.removeAll()
        // A transformer holds the only worker thread.
        var other = ImageRequest(url: URL.sample.appending(path: "other"))
        other.transformers = [holder]
        other.caching.originalWriteTo = []
        let holding = manager.load(other)
        await untilTrue { holder.isHolding }
        let before = manager.runningJobs
        let task = manager.load(request)
        await untilTrue { manager.runningJobs > before }
        task.cancel()
        #expect(await task.code == 1001)
        await passing { tier.removals > 0 }
        gate.open()
        _ = await holding.number
        await manager.rest()
        #expect(tier.removals == 0)
        #expect(tier.count == 2)
    }

    // MARK: - Waiting for the store

    /// The method that a request uses.
    enum Form: String, CaseIterable, Sendable {
        case image, data, encoded
    }

    @Test(
        "S-05: Each of two joined requests that wait for the store ends after the data is stored",
        arguments: pairs(Form.allCases))
    func waiting(first: Form, second: Form) async throws {
        let (gate, stored) = (TestGate(), TestGate())
        let tier = RecordingTier(.disk, storeGate: stored)
        let loader = StubLoader { _ in Numbered.response(1, responseGate: gate) }
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = [tier]
            $0.storesEncodedImages = false
            $0.loaders = [loader]
        }
        let manager = fixture.manager
        var request = ImageRequest(url: .sample)
        request.caching.waitsUntilStored = true
        let ended = Shared(0)
        await withTaskGroup(of: Void.self) { group in
            for (index, form) in [first, second].enumerated() {
                let request = request
                group.addTask {
                    switch form {
                    case .image: _ = try? await manager.image(for: request)
                    case .data: _ = try? await manager.data(for: request)
                    case .encoded: _ = try? await manager.encodedImage(for: request, as: .png).data
                    }
                    // The stored data must exist when the request has ended.
                    if !tier.payloads.contains(Numbered.data(1)) { ended.update { $0 += 1 } }
                }
                await manager.waitForLoads(index + 1)
            }
            gate.open()
            await untilTrue { tier.writes > 0 }
            await passing { ended.value > 0 }
            stored.open()
        }
        #expect(ended.value == 0, "A request ended before its data was stored")
    }

    @Test("A request that waits for the store ends after another request has stored the data in use")
    func waitingInUse() async throws {
        let stored = TestGate()
        let tier = RecordingTier(.disk, storeGate: stored)
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = [tier]
            $0.loaders = [loader]
        }
        // This request stores the data and doesn't end before the gate opens.
        let first = fixture.manager.load(.sample)
        await untilTrue { tier.writes == 1 }
        var request = ImageRequest(url: .sample, size: .fit(width: 4))
        request.caching.waitsUntilStored = true
        let second = fixture.manager.load(request)
        await passing { second.result != nil }
        #expect(second.result == nil)
        stored.open()
        #expect(await second.number == 1)
        #expect(await first.number == 1)
        #expect(tier.payloads == [Numbered.data(1)])
    }

    // MARK: - Prefetching

    @Test(
        "A canceled prefetch releases its sequence immediately",
        arguments: [0, 1, 40], [true, false])
    func prefetch(elements: Int, cancelsAll: Bool) async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.loaders = [loader]
        }
        let prefetcher = ImagePrefetcher(manager: fixture.manager) { $0.network = NetworkConditions() }
        let waits = Shared(false)
        var token: Token? = Token()
        weak let reference = token
        let task = prefetcher.prefetch(
            contentsOf: BlockingSequence(token: try #require(token), elements: elements, waits: waits))
        token = nil
        await untilTrue { waits.value }
        #expect(reference != nil)
        if cancelsAll { prefetcher.cancelAll() } else { task.cancel() }
        await untilTrue { reference == nil }
        #expect(reference == nil)
        #expect(task.isFinished)
    }
}

/// An object that a sequence retains.
private final class Token: Sendable {}

/// A sequence that produces `elements` requests and then waits until its reader is canceled.
private struct BlockingSequence: AsyncSequence, Sendable {
    typealias Element = ImageRequest

    let token: Token
    let elements: Int
    let waits: Shared<Bool>

    struct Iterator: AsyncIteratorProtocol {
        let token: Token
        var left: Int
        let waits: Shared<Bool>

        mutating func next() async -> ImageRequest? {
            guard left == 0 else {
                left -= 1
                return URL(string: "https://images.test/\(left)").map { ImageRequest(url: $0) }
            }
            waits.value = true
            await TestGate().wait()
            return nil
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(token: token, left: elements, waits: waits) }
}
