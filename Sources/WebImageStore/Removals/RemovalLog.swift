// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// The last removal that concerned a key. Work that began in one generation must not store its result in another: what
/// was removed would come back.
package struct CacheGeneration: Hashable, Sendable {
    /// Number of the last removal; 0 where there was none. Unique among all caches of the process.
    private let stamp: UInt64

    fileprivate init(stamp: UInt64) { self.stamp = stamp }
}

/// The removals of one cache. Thread-safe.
final class RemovalLog: Sendable {
    private struct State {
        /// Number of the last removal that concerned every key.
        var all: UInt64 = 0
        var keys: [CacheKey.Digest: UInt64] = [:]
    }

    /// Removals of single keys remembered; beyond, all keys count as removed, which costs repeated work only.
    private static let limit = 4_096
    private static let lastStamp = Atomic<UInt64>(0)

    private let state = Lock(State())

    /// The generation of `key` now.
    func generation(of key: CacheKey) -> CacheGeneration {
        state.withLock { CacheGeneration(stamp: max($0.all, $0.keys[key.digest] ?? 0)) }
    }

    /// Begins the removal of `key`. Called before anything is removed, so that nothing that was read before is stored.
    func remove(_ key: CacheKey) {
        state.withLock { state in
            let stamp = Self.next()
            if state.keys.count >= Self.limit {
                state.keys.removeAll(keepingCapacity: true)
                state.all = stamp
            }
            state.keys[key.digest] = stamp
        }
    }

    /// Begins the removal of every key.
    func removeAll() {
        state.withLock { state in
            state.keys.removeAll(keepingCapacity: true)
            state.all = Self.next()
        }
    }

    private static func next() -> UInt64 { lastStamp.add(1, ordering: .relaxed).newValue }
}
