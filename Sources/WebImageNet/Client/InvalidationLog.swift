// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// Remembers which stored answers were invalidated, so that an answer that was on its way then is neither stored nor
/// shared with who asks later. Thread-safe.
final class InvalidationLog: Sendable {
    private struct State {
        var epochs: [String: UInt64] = [:]
        var last: UInt64 = 0
        /// The epoch of every key that is not named: what was forgotten counts as invalidated.
        var floor: UInt64 = 0
    }

    /// Most keys that are remembered.
    static let limit = 1_024

    private let state = Lock(State())

    /// Grows with every invalidation of `key`.
    func epoch(of key: String) -> UInt64 { state.withLock { $0.epochs[key] ?? $0.floor } }

    /// Notes an invalidation of all keys.
    func noteAll() {
        state.withLock { state in
            state.last += 1
            state.epochs.removeAll(keepingCapacity: true)
            state.floor = state.last
        }
    }

    /// Notes an invalidation of `key`.
    func note(_ key: String) {
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
