// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// The destination of prefetched images.
public enum PrefetchDestination: String, Sendable, Hashable, Codable, CaseIterable {
    /// The decoded image in memory. The original data is stored on disk like that of any other request.
    case memory
    /// The original data on disk, without decoding.
    case disk
}

/// The progress of a list.
public struct PrefetchProgress: Sendable, Hashable {
    /// The number of images in the list, or `nil` while a sequence can deliver more.
    public var total: Int?
    /// The number of images that were prefetched.
    public var loaded = 0
    /// The number of images that were skipped because they were already cached.
    public var skipped = 0
    /// The number of images that failed to load.
    public var failed = 0
    /// The number of canceled images.
    public var cancelled = 0

    /// Creates a progress value with zero counts and no total.
    public init() {}

    /// The number of images that were prefetched, skipped, failed, or canceled.
    public var finished: Int { loaded + skipped + failed + cancelled }
}

/// The handle of a list that is being prefetched. It's thread-safe. Releasing it doesn't stop the work.
public final class PrefetchTask: Sendable {
    private struct State {
        var progress: PrefetchProgress
        var isOver = false
        var isPaused = false
        var priority: RequestPriority
        var nextID = 0
        var streams: [Int: AsyncStream<PrefetchProgress>.Continuation] = [:]
    }

    private let state: Lock<State>
    private let core: PrefetchCore
    private let list: Int

    init(_ core: PrefetchCore, list: Int, _ progress: PrefetchProgress, _ priority: RequestPriority) {
        self.core = core
        self.list = list
        state = Lock(State(progress: progress, priority: priority))
    }

    /// The current progress.
    public var progress: PrefetchProgress { state.withLock { $0.progress } }

    /// A Boolean value that indicates whether the list is finished.
    public var isOver: Bool { state.withLock { $0.isOver } }

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
    public var events: AsyncStream<PrefetchProgress> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let (id, progress, isOver) = state.withLock { state in
                state.nextID += 1
                if !state.isOver { state.streams[state.nextID] = continuation }
                return (state.nextID, state.progress, state.isOver)
            }
            continuation.yield(progress)
            guard !isOver else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                // Release the continuation after unlocking because its deinitializers can call this object again.
                let removed = self?.state.withLock { $0.streams.removeValue(forKey: id) }
                _ = removed
            }
        }
    }

    /// The final progress, available when the list finishes. Canceling the Swift task that awaits it ends only this
    /// wait.
    public var result: PrefetchProgress {
        get async {
            for await _ in events {}
            return progress
        }
    }

    func take(_ progress: PrefetchProgress, isOver: Bool) {
        let streams = state.withLock { state in
            // Two items can finish at the same time. The higher count is the newer one.
            if progress.finished >= state.progress.finished { state.progress = progress }
            state.isOver = state.isOver || isOver
            defer { if isOver { state.streams = [:] } }
            return Array(state.streams.values)
        }
        let latest = self.progress
        for stream in streams {
            stream.yield(latest)
            if isOver { stream.finish() }
        }
    }
}
