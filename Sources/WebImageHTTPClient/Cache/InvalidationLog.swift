// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// A thread-safe log of invalidated cache keys.
///
/// A response that was in flight during an invalidation is neither stored nor shared with later callers.
final class InvalidationLog: Sendable {
    private struct State {
        var epochs: [String: UInt64] = [:]
        var last: UInt64 = 0
        /// The epoch of keys without an entry. Keys that were removed from the log count as invalidated.
        var floor: UInt64 = 0
    }

    static let limit = 1_024

    private let state = Lock(State())

    func epoch(of key: String) -> UInt64 { state.withLock { $0.epochs[key] ?? $0.floor } }

    func recordAll() {
        state.withLock { state in
            state.last += 1
            state.epochs.removeAll(keepingCapacity: true)
            state.floor = state.last
        }
    }

    func record(_ key: String) {
        state.withLock { state in
            state.last += 1
            if state.epochs.count >= Self.limit {
                state.epochs.removeAll(keepingCapacity: true)
                state.floor = state.last
                state.last += 1
            }
            state.epochs[key] = state.last
        }
    }
}
