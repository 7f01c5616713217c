// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// The last removal that affected a key.
///
/// Work that starts in one generation must not store its result in another. Otherwise, removed data would reappear.
package struct CacheGeneration: Hashable, Sendable {
    /// The number of the last removal, or 0 if there was none. Numbers are unique among all caches of the process.
    private let stamp: UInt64

    fileprivate init(stamp: UInt64) { self.stamp = stamp }
}

/// The removals of one cache. This class is thread-safe.
final class RemovalLog: Sendable {
    private struct State {
        /// The number of the last removal that affected every key.
        var all: UInt64 = 0
        var keys: [CacheKey.Digest: UInt64] = [:]
    }

    /// The maximum number of remembered removals of single keys. Beyond it, all keys count as removed, which only
    /// repeats work.
    private static let limit = 4_096
    private static let lastStamp = Atomic<UInt64>(0)

    private let state = Lock(State())

    /// Returns the current generation of a key.
    func generation(of key: CacheKey) -> CacheGeneration {
        state.withLock { CacheGeneration(stamp: max($0.all, $0.keys[key.digest] ?? 0)) }
    }

    /// Records the removal of a key.
    ///
    /// Call this method before removing anything, so that data that was read earlier isn't stored again.
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

    /// Records the removal of every key.
    func removeAll() {
        state.withLock { state in
            state.keys.removeAll(keepingCapacity: true)
            state.all = Self.next()
        }
    }

    private static func next() -> UInt64 { lastStamp.add(1, ordering: .relaxed).newValue }
}
