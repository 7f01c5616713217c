// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// The number of running and queued transfers of a downloader.
package struct DownloaderActivity: Sendable, Hashable {
    /// The number of running transfers.
    package var running = 0
    /// The number of transfers that wait for a slot.
    package var queued = 0

    /// Creates an activity in which both numbers are 0.
    package init() {}
}

/// A counter for the transfers of one origin. Thread-safe.
final class OriginActivityCounter: Sendable {
    /// Running transfers are in the upper 32 bits and queued ones in the lower 32 bits, so both change atomically.
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

    func start() { counts.wrappingAdd(Self.one - 1, ordering: .relaxed) }

    func drop() { counts.wrappingSubtract(1, ordering: .relaxed) }

    func end() { counts.wrappingSubtract(Self.one, ordering: .relaxed) }
}

/// A counter for transfers by origin. Thread-safe.
final class ActivityCounter: Sendable {
    private struct State {
        var origins: [String: OriginActivityCounter] = [:]
        /// The number of origins at which the board removes origins without transfers.
        var mostOrigins = ActivityCounter.fewOrigins
    }

    private static let fewOrigins = 64

    private let state = Lock(State())

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

    func enqueue(_ origin: String) -> OriginActivityCounter {
        state.withLock { state in
            // Count under the lock, so that an origin is never removed below while a transfer is being added to it.
            if let known = state.origins[origin] {
                known.enqueue()
                return known
            }
            if state.origins.count >= state.mostOrigins {
                state.origins = state.origins.filter { $0.value.value != DownloaderActivity() }
                // Double the limit, so that the removal stays rare even if many origins are active.
                state.mostOrigins = max(Self.fewOrigins, state.origins.count * 2)
            }
            let activity = OriginActivityCounter()
            activity.enqueue()
            state.origins[origin] = activity
            return activity
        }
    }
}
