// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The bytes that requests are working on, by their key. Who asked before a load ended is served by it, however late it
/// comes to look: the newest bytes are held as long as any request runs. Thread-safe.
final class OriginalTable: Sendable {
    fileprivate struct Weak {
        weak var original: Original?
    }

    fileprivate struct State {
        var originals: [CacheKey: Weak] = [:]
        var limit = 256
        var running = 0
        /// Oldest first.
        var held: [Original] = []
        var heldBytes = 0
    }

    /// Bytes held for requests that are late.
    static let heldLimit = 4 << 20

    private let state = Lock(State())

    /// A request has been made.
    func enter() { state.withLock { $0.running += 1 } }

    /// A request is over.
    func leave() {
        let released = state.withLock { state -> [Original] in
            state.running -= 1
            guard state.running == 0 else { return [] }
            defer {
                state.held = []
                state.heldBytes = 0
            }
            return state.held
        }
        // Let go outside the lock.
        withExtendedLifetime(released) {}
    }

    /// Requests that run.
    var requestCount: Int { state.withLock { $0.running } }

    subscript(key: CacheKey) -> Original? { state.withLock { $0.originals[key]?.original } }

    /// `original` has come for `key`.
    func add(_ original: Original, for key: CacheKey) {
        let released = state.withLock { state -> ArraySlice<Original> in
            state.originals[key] = Weak(original: original)
            if state.originals.count > state.limit {
                state.originals = state.originals.filter { $0.value.original != nil }
                state.limit = max(256, state.originals.count * 2)
            }
            return state.hold(original)
        }
        withExtendedLifetime(released) {}
    }
}

extension OriginalTable.State {
    /// Holds `original`; gives those that leave for it.
    fileprivate mutating func hold(_ original: Original) -> ArraySlice<Original> {
        guard running > 0, original.data.count <= OriginalTable.heldLimit / 4 else { return [] }
        held.append(original)
        heldBytes += original.data.count
        var leaving = 0
        while heldBytes > OriginalTable.heldLimit {
            heldBytes -= held[leaving].data.count
            leaving += 1
        }
        let released = held[..<leaving]
        held.removeFirst(leaving)
        return released
    }
}
