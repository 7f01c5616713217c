// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A method with which an application makes requests.
private enum EntryPoint: CaseIterable, Sendable {
    case load, image, response, results, data, originalImage, encodedImage, memoryPrefetch, diskPrefetch

    /// Returns whether a request of this entry point can have an outcome.
    func allows(_ outcome: Outcome) -> Bool {
        switch (self, outcome) {
        // Memory contains no data, and a prefetcher starts no request for an image that its destination contains.
        case (.data, .memoryCache), (.originalImage, .memoryCache), (.memoryPrefetch, .memoryCache): false
        case (.diskPrefetch, .memoryCache), (.diskPrefetch, .diskCache), (.diskPrefetch, .cacheTier): false
        // The limit of requests in flight doesn't apply to prefetches to the disk.
        case (.diskPrefetch, .rejection): false
        default: true
        }
    }

    /// Makes a request, and returns after it has a result. `cancel` is called after the request was made.
    func run(_ request: ImageRequest, _ manager: ImageManager, cancelling cancel: @Sendable () async -> Bool) async {
        switch self {
        case .load:
            let task = manager.load(request)
            if await cancel() { task.cancel() }
            _ = try? await task.response
        case .memoryPrefetch, .diskPrefetch:
            var configuration = ImagePrefetcher.Configuration()
            configuration.destination = self == .memoryPrefetch ? .memoryCache : .diskCache
            configuration.pausesOnMeteredNetworks = false
            let prefetcher = ImagePrefetcher(manager: manager, configuration: configuration)
            let list = prefetcher.prefetch([request])
            if await cancel() { list.cancel() }
            _ = await list.result
        case .image, .response, .results, .data, .originalImage, .encodedImage:
            let task = Task { try await call(request, manager) }
            if await cancel() { task.cancel() }
            _ = try? await task.value
        }
    }

    private func call(_ request: ImageRequest, _ manager: ImageManager) async throws {
        switch self {
        case .image: _ = try await manager.image(for: request)
        case .response: _ = try await manager.response(for: request)
        case .results: for await _ in manager.results(for: [request]) {}
        case .data: _ = try await manager.data(for: request)
        case .originalImage: _ = try await manager.originalImage(for: request)
        case .encodedImage: _ = try await manager.encodedImage(for: request, as: .jpeg)
        case .load, .memoryPrefetch, .diskPrefetch: break
        }
    }
}

/// A result of a request.
private enum Outcome: CaseIterable, Sendable {
    case memoryCache, diskCache, cacheTier, revalidated, network, local, failure, limit, rejection, cancellation

    /// The source of a successful request.
    var source: ImageResponse.Source? {
        switch self {
        case .memoryCache: .memoryCache
        case .diskCache: .diskCache
        case .cacheTier: .cacheTier
        case .revalidated: .revalidated
        case .network: .network
        case .local: .local
        case .failure, .limit, .rejection, .cancellation: nil
        }
    }

    /// The code of the error of a failed request.
    var code: Int? {
        switch self {
        case .failure: 2002
        case .limit: 6011
        case .rejection: 6010
        case .cancellation: ImageError.cancelled.code
        default: nil
        }
    }

    /// The names of the counters that a request with this outcome increases.
    var counters: Set<String> {
        switch self {
        case .limit, .rejection: ["failures", "limitFailures"]
        case .failure: ["failures"]
        case .cancellation: ["cancellations"]
        case .memoryCache: ["memoryHits"]
        case .diskCache: ["diskHits"]
        case .cacheTier: ["tierHits"]
        case .revalidated: ["revalidations"]
        case .network: ["downloads"]
        case .local: ["localLoads"]
        }
    }
}

/// An observer that records the events of requests.
private final class RequestRecorder: ImageManagerObserver {
    private let state = Lock<[ImageManager.Event]>([])
    var events: [ImageManager.Event] { state.withLock { $0 } }
    func removeAll() { state.withLock { $0 = [] } }

    func observe(_ event: ImageManager.Event) {
        if event.stage == .request { state.withLock { $0.append(event) } }
    }
}

private struct PassingInterceptor: ImageRequestInterceptor {
    let appliesToMemoryHits: Bool

    func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> ImageResponse {
        try await next(request)
    }
}

@Suite("The report of each request", .timeLimit(.minutes(5)))
struct RequestReportTests {
    private static let interceptors: [[PassingInterceptor]] = [
        [], [PassingInterceptor(appliesToMemoryHits: false)], [PassingInterceptor(appliesToMemoryHits: true)],
    ]

    private let recorder = RequestRecorder()
    private let tier = RecordingTier()
    private let loader: StubLoader
    private let url: URL
    private let held: URL
    private let body: Data

    init() throws {
        url = try #require(URL(string: "https://example.org/a.png"))
        held = try #require(URL(string: "https://example.org/held.png"))
        body = try TestImages.png(1)
        let head = HTTPResponseHead(
            statusCode: 200, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
        var notModified = head
        notModified.statusCode = 304
        loader = StubLoader { [notModified, body] request in
            request.headers["If-None-Match"] == nil
                ? .init(body: body, httpResponse: head) : .init(httpResponse: notModified)
        }
    }

    private func configure(
        _ configuration: inout ImageManager.Configuration, _ outcome: Outcome, _ interceptors: [PassingInterceptor]
    ) {
        configuration.loaders = [loader]
        configuration.observers = [recorder]
        configuration.interceptors = interceptors
        if outcome == .rejection { configuration.maxInFlightRequests = 1 }
        guard outcome == .cacheTier else { return }
        configuration.diskCache = nil
        configuration.cacheTiers = [tier]
    }

    /// Returns a manager with which a request of `entry` has `outcome`.
    private func prepared(
        _ entry: EntryPoint, _ outcome: Outcome, _ request: inout ImageRequest, _ interceptors: [PassingInterceptor],
        _ gate: TestGate
    ) async throws -> ManagerFixture {
        let fixture = try ManagerFixture { configure(&$0, outcome, interceptors) }
        switch outcome {
        case .memoryCache: _ = try await fixture.manager.image(for: request)
        case .diskCache, .cacheTier:
            // An encoded image is stored, too, and prefetching stores what it loads.
            await entry.run(request, fixture.manager) { false }
            return try await fixture.restarted { configure(&$0, outcome, interceptors) }
        case .revalidated:
            _ = try await fixture.manager.image(for: request)
            await fixture.manager.cache.flush()
            await fixture.manager.letsGo(of: request)
            fixture.pass(seconds: 61)
        case .network: break
        case .rejection: loader.respond(to: held, with: .init(body: body, responseGate: gate))
        case .local: loader.respond(to: url, with: .init(body: body, httpResponse: nil))
        case .failure:
            let error = ImageError.network(
                ImageError.NetworkFailure(.cannotFindHost, url: url, phase: .nameResolution))
            loader.respond(to: url, with: .init(error: error))
        case .limit:
            request.limits = ImageLimits.desktop
            request.limits?.maxSourcePixels = 10
        case .cancellation: loader.respond(to: url, with: .init(responseGate: gate))
        }
        return fixture
    }

    @Test(
        "Each request of each entry point counts once, and its beginning and its end are reported with its result",
        arguments: EntryPoint.allCases, Outcome.allCases)
    fileprivate func table(entry: EntryPoint, outcome: Outcome) async throws {
        guard entry.allows(outcome) else { return }
        for interceptors in Self.interceptors {
            // The image for an encoding has another key than the image in memory, which then isn't read before the
            // interceptors run.
            if entry == .encodedImage, outcome == .memoryCache, interceptors.contains(where: \.appliesToMemoryHits) {
                continue
            }
            try await check(entry, outcome, interceptors)
        }
    }

    private func check(
        _ entry: EntryPoint, _ outcome: Outcome, _ interceptors: [PassingInterceptor]
    ) async throws {
        var request = ImageRequest(url: url)
        let gate = TestGate()
        let fixture = try await prepared(entry, outcome, &request, interceptors, gate)
        let manager = fixture.manager
        await untilTrue { manager.runningJobs == 0 && recorder.events.count.isMultiple(of: 2) }
        recorder.removeAll()
        let before = manager.statistics.counts
        let started = loader.requests.count
        // A request for data doesn't keep a prefetcher from starting its requests.
        let holder = outcome == .rejection ? Task { try await manager.data(for: held) } : nil
        if holder != nil { await loader.waitForRequests(count: started + 1) }
        await entry.run(request, manager) {
            guard outcome == .cancellation else { return false }
            await loader.waitForRequests(count: started + 1)
            return true
        }
        await untilTrue { manager.statistics.counts != before }
        let changes = manager.statistics.counts.filter { $0.value != before[$0.key] }
        #expect(Set(changes.keys) == outcome.counters)
        for (name, count) in changes { #expect(count - (before[name] ?? 0) == 1) }
        await untilTrue { recorder.events.contains { $0.url == url && $0.phase == .ended } }
        let events = recorder.events.filter { $0.url == url }
        #expect(events.map(\.phase) == [.began, .ended])
        #expect(Set(events.map(\.spanID)).count == 1)
        #expect(events.last?.source == outcome.source)
        #expect(events.last?.error?.code == outcome.code)
        gate.open()
        _ = try await holder?.value
    }

    @Test("The work for an encoded image is reported as a part of the only request, which has the size of the result")
    func encodedParts() async throws {
        let all = Lock<[ImageManager.Event]>([])
        let fixture = try ManagerFixture { configuration in
            configuration.loaders = [loader]
            configuration.observers = [EventObserver { event in all.withLock { $0.append(event) } }]
        }
        let small = ImageRequest(url: url, size: .fit(width: 16))
        let image = try await fixture.manager.encodedImage(for: small, as: .jpeg)
        let events = all.withLock { $0 }
        let request = try #require(events.first { $0.stage == .request })
        #expect(Set(events.map(\.requestID)) == [request.requestID])
        let others = events.filter { $0.stage != .request }
        #expect(others.contains { $0.stage == .load } && others.contains { $0.stage == .encode })
        #expect(others.allSatisfy { $0.parentSpanID == request.spanID })
        let end = try #require(events.last { $0.stage == .request })
        #expect(request.details == "jpeg" && end.details == "jpeg")
        #expect(end.byteCount == image.data.count && end.imageSize == image.size && end.source == .network)
    }
}

/// An observer that calls a closure.
private struct EventObserver: ImageManagerObserver {
    let action: @Sendable (ImageManager.Event) -> Void
    func observe(_ event: ImageManager.Event) { action(event) }
}

extension ImageManager.Statistics {
    /// The counters of requests by their names.
    fileprivate var counts: [String: Int] {
        [
            "memoryHits": memoryHits, "diskHits": diskHits, "tierHits": tierHits, "revalidations": revalidations,
            "downloads": downloads, "localLoads": localLoads, "failures": failures, "cancellations": cancellations,
            "limitFailures": limitFailures,
        ]
    }
}
