// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import Synchronization
import WebImage

/// A prefetcher, which contains an `ImagePrefetcher` of WebImage. Releasing it cancels its requests.
public final class ImagePrefetcher: Sendable {
    /// The destination of prefetched images.
    public enum Destination: Sendable {
        /// The decoded image in memory.
        case memoryCache
        /// The data on disk.
        case diskCache
    }

    private struct Key: Hashable {
        let request: WebImage.ImageRequest
    }

    private struct State {
        var priority = ImageRequest.Priority.low
        var running: [Key: PrefetchTask] = [:]
        var didComplete: (@MainActor @Sendable () -> Void)?
    }

    private let pipeline: ImagePipeline
    private let prefetcher: WebImage.ImagePrefetcher
    private let state = Mutex(State())

    /// Creates a prefetcher.
    public init(
        pipeline: ImagePipeline = .shared, destination: Destination = .memoryCache, maxConcurrentRequestCount: Int = 2
    ) {
        self.pipeline = pipeline
        var configuration = WebImage.ImagePrefetcher.Configuration()
        configuration.destination = destination == .memoryCache ? .memoryCache : .diskCache
        configuration.maxConcurrentRequests = max(1, maxConcurrentRequestCount)
        prefetcher = WebImage.ImagePrefetcher(manager: pipeline.manager, configuration: configuration)
    }

    deinit { prefetcher.cancelAll() }

    /// A Boolean value that indicates whether no requests start.
    public var isPaused: Bool {
        get { prefetcher.isPaused }
        set { prefetcher.isPaused = newValue }
    }

    /// The priority of all requests. The default is low.
    public var priority: ImageRequest.Priority {
        get { state.withLock { $0.priority } }
        set {
            let running = state.withLock { state in
                state.priority = newValue
                return state.running.values
            }
            for task in running { task.priority = newValue.mapped }
        }
    }

    /// A closure that’s called when all requests are finished.
    public var didComplete: (@MainActor @Sendable () -> Void)? {
        get { state.withLock { $0.didComplete } }
        set { state.withLock { $0.didComplete = newValue } }
    }

    /// Prefetches images.
    public func startPrefetching(with urls: [URL]) { startPrefetching(with: urls.map { ImageRequest(url: $0) }) }

    /// Prefetches images. Requests that already run have no effect.
    public func startPrefetching(with requests: [ImageRequest]) {
        let requests = requests.compactMap { pipeline.request($0) }
        // The requests start together, so that `didComplete` isn't called before the last one is added.
        let tasks = state.withLock { state in
            requests.compactMap { request -> (WebImage.ImageRequest, PrefetchTask)? in
                guard state.running[Key(request: request)] == nil else { return nil }
                let task = prefetcher.prefetch([request], priority: state.priority.mapped)
                state.running[Key(request: request)] = task
                return (request, task)
            }
        }
        for (request, task) in tasks {
            Task { [weak self] in
                _ = await task.result
                await self?.finish(Key(request: request), task)
            }
        }
    }

    /// Cancels images.
    public func stopPrefetching(with urls: [URL]) { stopPrefetching(with: urls.map { ImageRequest(url: $0) }) }

    /// Cancels images.
    public func stopPrefetching(with requests: [ImageRequest]) {
        for request in requests.compactMap({ pipeline.request($0) }) {
            state.withLock { $0.running.removeValue(forKey: Key(request: request)) }?.cancel()
        }
    }

    /// Cancels all images.
    public func stopPrefetching() {
        state.withLock { $0.running.removeAll() }
        prefetcher.cancelAll()
    }

    private func finish(_ key: Key, _ task: PrefetchTask) async {
        let completion = state.withLock { state -> (@MainActor @Sendable () -> Void)? in
            guard state.running[key] === task else { return nil }
            state.running[key] = nil
            return state.running.isEmpty ? state.didComplete : nil
        }
        await completion?()
    }
}
