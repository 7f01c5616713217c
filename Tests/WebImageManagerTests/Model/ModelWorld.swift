// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A manager, its subscribers, and the results that they received.
final class ModelWorld {
    /// A Boolean value that indicates whether requests use different caches and credentials and whether caches are
    /// emptied while loads run. To disable this, set the environment variable `WEBIMAGE_MODEL_SHARING` to `off`.
    static let checksSharing = ProcessInfo.processInfo.environment["WEBIMAGE_MODEL_SHARING"] != "off"

    struct Running {
        let task: ImageTask
        var isCancelled = false
    }

    let seed: UInt64
    var random: SeededGenerator
    let fixture: ManagerFixture
    let source: ModelSource
    let loader: StubLoader
    let prefetcher: ImagePrefetcher
    let pressure = MemoryPressureMonitor(observesSystem: false)
    /// The caches that individual requests use.
    let caches = (0..<2).map { _ in ImageCache(tiers: [RecordingTier()]) }
    /// The versions of the images when the manager's caches were last emptied.
    var oldest = Array(repeating: 0, count: ModelSource.imageCount)
    var running: [Running] = []
    var prefetches: [PrefetchTask] = []
    /// The tasks that read events. Each one returns the number of terminal events and whether the last event was
    /// terminal.
    var listeners: [Task<(terminals: Int, isLast: Bool), Never>] = []
    /// The tasks that wait for one response, and whether they were canceled.
    var waits: [(wait: Task<Void, Never>, isCancelled: Bool)] = []
    /// The errors that the model found, or an empty array.
    let complaints = Shared<[String]>([])
    var successes = Shared(0)

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        let source = try ModelSource(seed: seed &+ 1)
        self.source = source
        let loader = StubLoader { source.response($0) }
        self.loader = loader
        var random = random
        let pressure = pressure
        fixture = try ManagerFixture { configuration in
            configuration.loaders = [loader]
            configuration.memoryPressureMonitor = pressure
            configuration.revalidationInterval =
                [.zero, .seconds(15), .seconds(300)].randomElement(using: &random) ?? .zero
            if Bool.random(using: &random) { configuration.diskCache = nil }
            configuration.workerThreadCount = Int.random(in: 1...3, using: &random)
            // Space for a few hundred images, for a few images, or for one image.
            configuration.memoryCache.costLimit = [1 << 20, 16 << 10, 2_000].randomElement(using: &random) ?? 0
            configuration.memoryCache.entryCostLimit = 1 << 20
            configuration.maxInFlightRequests = Bool.random(using: &random) ? nil : 24
            configuration.maxQueuedWorkItems = Int.random(in: 0..<3, using: &random) == 0 ? 4 : 1_000
            configuration.decodingMemoryLimit = [1 << 20, 1 << 10].randomElement(using: &random) ?? 0
            if Self.checksSharing { configuration.cacheTiers = [RecordingTier()] }
            if Int.random(in: 0..<4, using: &random) == 0 { configuration.interceptors = [ModelInterceptor()] }
        }
        self.random = random
        prefetcher = ImagePrefetcher(manager: fixture.manager) { $0.network = NetworkConditions() }
    }

    func chance(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &random) == 0 }

    func complain(_ text: String) { complaints.update { $0.append(text) } }

    /// Waits until all work ends.
    func rest() async {
        source.setOpen(true)
        prefetcher.isPaused = false
        for task in prefetches { task.isPaused = false }
        for (index, listener) in listeners.enumerated() {
            let (terminals, isLast) = await listener.value
            if terminals != 1 { complain("listener \(index) saw \(terminals) terminal events") }
            if !isLast { complain("listener \(index) heard something behind the end") }
        }
        for wait in waits { await wait.wait.value }
        for task in prefetches {
            let result = await task.result
            if result.totalCount != result.finishedCount { complain("a list ended with \(result)") }
        }
        // Include tasks without listeners.
        for entry in running { _ = try? await entry.task.response }
        let manager = fixture.manager
        await untilTrue { [loader, prefetcher] in manager.isAtRest && loader.isAtRest && prefetcher.listCount == 0 }
        for entry in running {
            if case .failure(let error)? = entry.task.result, error == .cancelled, !entry.isCancelled {
                complain("a task ended as canceled without a cancellation")
            }
        }
    }
}

extension StubLoader {
    /// A Boolean value that indicates whether all requests have finished.
    var isAtRest: Bool { requests.count == finishedCount }
}

/// An interceptor that forwards most requests, retries some, and rejects a few.
struct ModelInterceptor: ImageRequestInterceptor {
    func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> ImageResponse {
        switch request.userInfo["intercept"] as? Int {
        case 0: throw .request(.rejected(reason: "by the model"))
        case 1:
            var changed = request
            changed.caching.bypassesFailureCache = true
            if let response = try? await next(request) { return response }
            return try await next(changed)
        default: return try await next(request)
        }
    }
}
