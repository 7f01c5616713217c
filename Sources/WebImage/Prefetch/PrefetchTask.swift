// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

extension ImagePrefetcher {
    /// The destination of prefetched images.
    public enum Destination: String, Sendable, Hashable, Codable, CaseIterable {
        /// The decoded image in memory. The original data is stored on disk like that of any other request.
        case memoryCache
        /// The original data on disk, without decoding.
        case diskCache
    }
}

extension ImagePrefetcher {
    /// The progress of all lists of a prefetcher.
    ///
    /// The counts begin at 0 when the prefetcher receives a list while it has no other list, so finished and canceled lists
    /// count until all lists are finished.
    public struct Progress: Sendable, Hashable {
        /// The number of images in the lists, or `nil` while a sequence can deliver more.
        public internal(set) var totalCount: Int? = 0
        /// The number of images that were prefetched.
        public internal(set) var loadedCount = 0
        /// The number of images that were skipped because they were already cached.
        public internal(set) var skippedCount = 0
        /// The number of images that failed. The result of a list contains its failures.
        public internal(set) var failedCount = 0
        /// The number of canceled images.
        public internal(set) var cancelledCount = 0

        /// The number of images that were prefetched, skipped, failed, or canceled.
        public var finishedCount: Int { loadedCount + skippedCount + failedCount + cancelledCount }
    }
}

extension PrefetchTask {
    /// The progress of a list.
    public struct Progress: Sendable {
        /// The number of images in the list, or `nil` while a sequence can deliver more.
        public internal(set) var totalCount: Int?
        /// The number of images that were prefetched.
        public internal(set) var loadedCount = 0
        /// The number of images that were skipped because they were already cached.
        public internal(set) var skippedCount = 0
        /// The number of canceled images.
        public internal(set) var cancelledCount = 0
        /// The requests that failed, and their errors, in the order of the failures.
        public var failures: [(request: ImageRequest, error: ImageError)] { failed.map { ($0.request, $0.error) } }
        private var failed: [PrefetchFailure] = []

        /// Creates a progress value with zero counts and no total.
        package init() {}

        /// The number of images that were prefetched, skipped, failed, or canceled.
        public var finishedCount: Int { loadedCount + skippedCount + failed.count + cancelledCount }

        mutating func add(_ failure: PrefetchFailure) { failed.append(failure) }
    }
}

/// A failed request of a list. It's an object because every change of the progress copies the failures.
final class PrefetchFailure: Sendable {
    let request: ImageRequest
    let error: ImageError

    init(_ request: ImageRequest, _ error: ImageError) {
        self.request = request
        self.error = error
    }
}

/// The handle of a list that is being prefetched. It's thread-safe. Releasing it doesn't stop the work.
public final class PrefetchTask: Sendable {
    private struct State {
        var progress: PrefetchTask.Progress
        var isFinished = false
        var isPaused = false
        var priority: RequestPriority
        var nextID = 0
        var streams: [Int: AsyncStream<PrefetchTask.Progress>.Continuation] = [:]
    }

    private let state: Lock<State>
    private let core: PrefetchRunner
    private let list: Int

    init(_ core: PrefetchRunner, list: Int, _ progress: PrefetchTask.Progress, _ priority: RequestPriority) {
        self.core = core
        self.list = list
        state = Lock(State(progress: progress, priority: priority))
    }

    /// The current progress.
    public var currentProgress: PrefetchTask.Progress { state.withLock { $0.progress } }

    /// A Boolean value that indicates whether the list is finished.
    public var isFinished: Bool { state.withLock { $0.isFinished } }

    /// The priority of the list and of its requests, including running requests. The prefetcher starts lists with a
    /// higher priority first. The priority doesn't affect visible requests for the same images.
    public var priority: RequestPriority {
        get { state.withLock { $0.priority } }
        set {
            state.withLock { $0.priority = newValue }
            core.setPriority(newValue, list)
        }
    }

    /// A Boolean value that indicates whether the list is paused. A paused list starts no requests, but running
    /// requests continue.
    public var isPaused: Bool {
        get { state.withLock { $0.isPaused } }
        set {
            state.withLock { $0.isPaused = newValue }
            core.setPaused(newValue, list)
        }
    }

    /// Cancels the list immediately. Work that visible requests share continues.
    public func cancel() { core.cancel([list]) }

    /// The current progress and the progress after every change. A slow subscriber receives only the most recent value.
    /// The stream ends with the list.
    public var progress: AsyncStream<PrefetchTask.Progress> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let (id, progress, isOver) = state.withLock { state in
                state.nextID += 1
                if !state.isFinished { state.streams[state.nextID] = continuation }
                return (state.nextID, state.progress, state.isFinished)
            }
            continuation.yield(progress)
            guard !isOver else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                self?.state.discard { $0.streams.removeValue(forKey: id) }
            }
        }
    }

    /// The final progress, available when the list finishes. Canceling the Swift task that awaits it ends only this
    /// wait.
    public var result: PrefetchTask.Progress {
        get async {
            for await _ in progress {}
            return currentProgress
        }
    }

    func receive(_ progress: PrefetchTask.Progress, isFinished: Bool) {
        let streams = state.withLock { state in
            // Two items can finish at the same time. The higher count is the newer one.
            if progress.finishedCount >= state.progress.finishedCount { state.progress = progress }
            state.isFinished = state.isFinished || isFinished
            defer { if isFinished { state.streams = [:] } }
            return Array(state.streams.values)
        }
        let latest = self.currentProgress
        for stream in streams {
            stream.yield(latest)
            if isFinished { stream.finish() }
        }
    }
}
