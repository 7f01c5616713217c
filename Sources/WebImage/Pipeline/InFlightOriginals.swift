// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The bytes that requests are working on, by their key. A request that was made before a load ended is served by it,
/// however late it looks: the newest bytes, and nothing made of them, are held while any request runs. Thread-safe.
final class InFlightOriginals: Sendable {
    private struct State {
        var originals = WeakTable<CacheKey, OriginalData, Void>()
        var running = 0
        /// Oldest first.
        var held: [OriginalData] = []
        var heldBytes = 0

        /// Holds `original`; returns those that leave for it.
        mutating func hold(_ original: OriginalData) -> ArraySlice<OriginalData> {
            // An image that the application made is pixels, not bytes.
            guard running > 0, original.image == nil, original.data.count <= heldLimit / 4 else { return [] }
            held.append(original)
            heldBytes += original.data.count
            var leaving = 0
            while heldBytes > heldLimit {
                heldBytes -= held[leaving].data.count
                leaving += 1
            }
            let released = held[..<leaving]
            held.removeFirst(leaving)
            return released
        }
    }

    /// Bytes held for requests that look late.
    private static let heldLimit = 4 << 20

    private let state = Lock(State())

    /// A request was made.
    func enter() { state.withLock { $0.running += 1 } }

    /// A request ended.
    func leave() {
        let released = state.withLock { state -> [OriginalData] in
            state.running -= 1
            guard state.running == 0 else { return [] }
            defer {
                state.held = []
                state.heldBytes = 0
            }
            return state.held
        }
        // Released outside the lock.
        withExtendedLifetime(released) {}
    }

    /// Running requests.
    var requestCount: Int { state.withLock { $0.running } }

    /// The bytes of `key` that are in use and were requested after the last removal of the key.
    func original(for key: CacheKey, _ generation: CacheGeneration) -> OriginalData? {
        let original = state.withLock { $0.originals[key]?.object }
        return original?.generation == generation ? original : nil
    }

    /// `original` arrived for `key`.
    func add(_ original: OriginalData, for key: CacheKey) {
        let released = state.withLock { state -> ArraySlice<OriginalData> in
            state.originals.insert(original, for: key)
            return state.hold(original)
        }
        withExtendedLifetime(released) {}
    }
}
