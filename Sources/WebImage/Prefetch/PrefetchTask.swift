// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// Where pictures are fetched ahead to.
public enum PrefetchDestination: String, Sendable, Hashable, Codable, CaseIterable {
    /// Decoded, in memory; the bytes on disk as for every request.
    case memory
    /// The original bytes on disk, nothing decoded.
    case disk
}

/// How far a list is.
public struct PrefetchProgress: Sendable, Hashable {
    /// Pictures of the list; nil while a sequence may give more.
    public var total: Int?
    /// Fetched now.
    public var loaded = 0
    /// Not fetched, because they were there.
    public var skipped = 0
    /// Could not be had.
    public var failed = 0
    /// Given up.
    public var cancelled = 0

    /// All zero, and no total.
    public init() {}

    /// Pictures that are done with in one way or another.
    public var finished: Int { loaded + skipped + failed + cancelled }
}

/// The handle of a list that is fetched ahead. Thread-safe; dropping it does not stop the work.
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

    /// How far it is.
    public var progress: PrefetchProgress { state.withLock { $0.progress } }

    /// Whether nothing more comes.
    public var isOver: Bool { state.withLock { $0.isOver } }

    /// How soon it is wanted: which list goes first, and the priority of the requests, those that run included. Setting
    /// it does not touch visible requests that want the same.
    public var priority: RequestPriority {
        get { state.withLock { $0.priority } }
        set {
            state.withLock { $0.priority = newValue }
            core.setPriority(newValue, list)
        }
    }

    /// While true, nothing more of this list is started; what runs goes on.
    public var isPaused: Bool {
        get { state.withLock { $0.isPaused } }
        set {
            state.withLock { $0.isPaused = newValue }
            core.setPaused(newValue, list)
        }
    }

    /// Gives the list up, at once. What visible requests wait for as well goes on.
    public func cancel() { core.cancel([list]) }

    /// The progress now and after every change; who reads slowly gets the last one only. Ends with the list.
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
                // Released after the lock: a continuation may own things whose deinit comes back here.
                let removed = self?.state.withLock { $0.streams.removeValue(forKey: id) }
                _ = removed
            }
        }
    }

    /// Waits for the end; gives how it went. Cancelling the waiting Swift task ends that wait only.
    public var result: PrefetchProgress {
        get async {
            for await _ in events {}
            return progress
        }
    }

    func take(_ progress: PrefetchProgress, isOver: Bool) {
        let streams = state.withLock { state in
            // Two items may end at once; the one that counted more is right.
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
