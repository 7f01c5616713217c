// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// How much a downloader has to do.
public struct DownloaderActivity: Sendable, Hashable {
    /// Transfers that hold a place.
    public var running = 0
    /// Transfers that wait for one.
    public var queued = 0

    /// All zero.
    public init() {}
}

/// Transfers of one origin, counted. Thread-safe.
final class OriginActivity: Sendable {
    /// Those that run above the lower 32 bits, those that wait in them, so that one step changes both.
    private let counts = Atomic<UInt64>(0)
    private static let one = UInt64(1) << 32

    var value: DownloaderActivity {
        let counts = counts.load(ordering: .relaxed)
        var activity = DownloaderActivity()
        activity.running = Int(counts / Self.one)
        activity.queued = Int(counts % Self.one)
        return activity
    }

    fileprivate func enqueue() { counts.wrappingAdd(1, ordering: .relaxed) }

    /// One that waits begins.
    func start() { counts.wrappingAdd(Self.one - 1, ordering: .relaxed) }

    /// One that waits is given up.
    func drop() { counts.wrappingSubtract(1, ordering: .relaxed) }

    /// One that ran ended.
    func end() { counts.wrappingSubtract(Self.one, ordering: .relaxed) }
}

/// Counts transfers by origin. Thread-safe.
final class ActivityBoard: Sendable {
    private struct State {
        var origins: [String: OriginActivity] = [:]
        /// How many origins there are when those without transfers are forgotten.
        var mostOrigins = ActivityBoard.fewOrigins
    }

    private static let fewOrigins = 64

    private let state = Lock(State())

    /// Everything together.
    var total: DownloaderActivity {
        state.withLock { state in
            state.origins.values.reduce(into: DownloaderActivity()) {
                let activity = $1.value
                $0.running += activity.running
                $0.queued += activity.queued
            }
        }
    }

    subscript(origin: String) -> DownloaderActivity {
        state.withLock { $0.origins[origin]?.value ?? DownloaderActivity() }
    }

    /// Counts a transfer that begins to wait at `origin`; the rest of its way is told to what comes back.
    func enqueue(_ origin: String) -> OriginActivity {
        state.withLock { state in
            // Counted under the lock: what is forgotten here has no transfer, and gets none.
            if let known = state.origins[origin] {
                known.enqueue()
                return known
            }
            if state.origins.count >= state.mostOrigins {
                state.origins = state.origins.filter { $0.value.value != DownloaderActivity() }
                state.mostOrigins = max(Self.fewOrigins, state.origins.count * 2)
            }
            let activity = OriginActivity()
            activity.enqueue()
            state.origins[origin] = activity
            return activity
        }
    }
}
