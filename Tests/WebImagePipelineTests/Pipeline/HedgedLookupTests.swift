// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A tier whose lookups report a delay and wait for a gate while it's slow.
private final class SlowTier: CacheTier {
    private struct State {
        var entries: [CacheKey: CacheEntry] = [:]
        var stores = 0
        var gate: TestGate?
        var lookups = 0
    }

    private let state = Lock(State())

    var stores: Int { state.withLock { $0.stores } }
    var lookups: Int { state.withLock { $0.lookups } }
    /// The gate of the lookups, or `nil` if lookups are fast.
    var gate: TestGate? {
        get { state.withLock { $0.gate } }
        set { state.withLock { $0.gate = newValue } }
    }

    func entry(for key: CacheKey, matching headers: HTTPHeaderFields) async -> CacheEntry? {
        await entry(for: key, matching: headers, onDelay: {})
    }

    func entry(
        for key: CacheKey, matching headers: HTTPHeaderFields, onDelay: @escaping @Sendable () -> Void
    ) async -> CacheEntry? {
        let gate = state.withLock { state in
            state.lookups += 1
            return state.gate
        }
        if let gate {
            onDelay()
            await gate.wait()
        }
        return state.withLock { $0.entries[key] }
    }

    func store(_ entry: CacheEntry, matching headers: HTTPHeaderFields) async {
        state.withLock { state in
            state.entries[entry.key] = entry
            state.stores += 1
        }
    }

    func remove(_ key: CacheKey, matching headers: HTTPHeaderFields?) async {
        state.withLock { $0.entries[key] = nil }
    }

    func removeAll() async { state.withLock { $0.entries = [:] } }
}

@Suite("A lookup in a slow tier", .timeLimit(.minutes(2)))
struct HedgedLookupTests {
    private let tier = SlowTier()

    private func manager(_ change: (inout ImageManager.Configuration) -> Void = { _ in }) -> ImageManager {
        ImageManager { configuration in
            configuration.memoryCache.costLimit = 0
            configuration.diskCache = nil
            configuration.cacheTiers = [tier]
            configuration.downloader.proxy = .disabled
            configuration.downloader.maxStartsPerSecond = nil
            configuration.memoryPressureMonitor = MemoryPressureMonitor(observesSystem: false)
            change(&configuration)
        }
    }

    /// A server whose responses wait for the gate after `open` requests.
    private func origin(open: Int = 0, _ gate: TestGate) throws -> LoopbackServer {
        let image = try TestImages.png(3, width: 40, height: 30)
        let count = Atomic<Int>(0)
        return try LoopbackServer { _ in
            let number = count.add(1, ordering: .relaxed).oldValue
            return LoopbackServer.Response(headers: ["Cache-Control": "max-age=600"], body: image).with {
                $0.headGate = number < open ? nil : gate
            }
        }
    }

    @Test("The entry counts if it comes before the response of the origin, whose transfer is canceled")
    func lateEntry() async throws {
        let origin = try origin(open: 1, TestGate())
        let request = ImageRequest(url: origin.url("/a.png"))
        _ = try await manager().image(for: request)
        let stores = tier.stores
        let gate = TestGate()
        tier.gate = gate
        let task = manager().load(request)
        await origin.waitForRequests(count: 2)
        gate.open()
        var terminal = 0
        for await event in task.events {
            guard case .finished(let result) = event else { continue }
            terminal += 1
            #expect(try result.get().source == .stored(in: .custom))
        }
        #expect(terminal == 1)
        #expect(tier.stores == stores)
        // The connections of the canceled transfer ends, although the origin never responds.
        await origin.waitForClosedConnections(count: 1)
    }

    @Test("The response of the origin counts if it comes first, and is stored once")
    func lateTier() async throws {
        let origin = try origin(open: .max, TestGate())
        let gate = TestGate()
        tier.gate = gate
        let response = try await manager().response(for: ImageRequest(url: origin.url("/a.png")))
        #expect(response.source == .network)
        #expect(tier.stores == 1)
        #expect(!gate.isOpen && origin.requests.count == 1)
    }

    @Test("Concurrent requests share the lookup and the transfer, and all of them get the late entry")
    func shared() async throws {
        let origin = try origin(open: 1, TestGate())
        let url = origin.url("/a.png")
        let data = try await manager().data(for: url)
        let gate = TestGate()
        tier.gate = gate
        let (manager, before) = (manager(), tier.lookups)
        try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<8 { group.addTask { try await manager.data(for: url) } }
            await origin.waitForRequests(count: 2)
            gate.open()
            for try await result in group { #expect(result == data) }
        }
        #expect(origin.requests.count == 2)
        #expect(tier.lookups - before <= 8)
    }

    @Test("If the origin fails, the request waits for the tier")
    func failingOrigin() async throws {
        let image = try TestImages.png(3)
        let count = Atomic<Int>(0)
        let origin = try LoopbackServer { _ in
            count.add(1, ordering: .relaxed).oldValue == 0
                ? LoopbackServer.Response(headers: ["Cache-Control": "max-age=600"], body: image) : .status(500)
        }
        let url = origin.url("/a.png")
        _ = try await manager().data(for: url)
        let gate = TestGate()
        tier.gate = gate
        let plain = manager { $0.downloader.retry = .never }
        async let data = plain.data(for: url)
        await origin.waitForRequests(count: 2)
        gate.open()
        #expect(try await data == image)
    }

    @Test("A late encoding counts before the encode of a loaded image")
    func lateEncoding() async throws {
        let origin = try origin(open: 1, TestGate())
        let request = ImageRequest(url: origin.url("/a.png"), size: .fit(width: 20, height: 20))
        let encoded = try await manager().encodedImage(for: request, as: .png)
        let gate = TestGate()
        tier.gate = gate
        let other = manager()
        async let again = other.encodedImage(for: request, as: .png)
        await origin.waitForRequests(count: 2)
        gate.open()
        #expect(try await again.data == encoded.data)
        #expect(try await again.size == PixelSize(width: 20, height: 15))
    }

    @Test("A canceled request ends immediately and leaves no transfer")
    func cancellation() async throws {
        let origin = try origin(TestGate())
        tier.gate = TestGate()
        let manager = manager()
        let work = Task { try await manager.data(for: origin.url("/a.png")) }
        await origin.waitForRequests(count: 1)
        work.cancel()
        await #expect(throws: ImageError.cancelled) { try await work.value }
        await origin.waitForClosedConnections(count: 1)
    }

    @Test("An encoded image has the response of its source and its remaining lifetime")
    func source() async throws {
        let image = try TestImages.png(3)
        let date = "Wed, 21 Oct 2015 07:28:00 GMT"
        let origin = try LoopbackServer { _ in
            LoopbackServer.Response(
                headers: ["Cache-Control": "max-age=600", "Last-Modified": "\(date)", "ETag": "\"a\""], body: image)
        }
        let manager = manager()
        for _ in 0..<2 {
            let request = ImageRequest(url: origin.url("/a.png"))
            let encoded = try await manager.encodedImage(for: request, as: .jpeg(quality: 80))
            let source = try #require(encoded.source)
            #expect(source.head.statusCode == 200 && source.head.headers["ETag"] == "\"a\"")
            #expect(source.lastModified == Date(timeIntervalSince1970: 1_445_412_480))
            let lifetime = try #require(source.remainingLifetime)
            #expect(lifetime > .seconds(300) && lifetime <= .seconds(600))
        }
        let original = try await manager.originalImage(for: ImageRequest(url: origin.url("/a.png")))
        #expect(original.data == image && original.format == .png)
        #expect(original.source?.head.headers["ETag"] == "\"a\"")
        #expect(origin.requests.count == 1)
    }
}
