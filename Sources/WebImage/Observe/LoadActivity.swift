// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// How many loads run, as a number and as a stream of numbers. Files and data URLs do not count. Thread-safe.
public final class LoadActivity: Sendable {
    private struct State {
        var count = 0
        var nextID = 0
        var streams: [Int: AsyncStream<Int>.Continuation] = [:]
    }

    private let state = Lock(State())

    /// Loads that run or wait for a connection.
    public var count: Int { state.withLock { $0.count } }

    /// The count now and after every change. Who reads slowly gets the last count only. Never ends by itself.
    public var counts: AsyncStream<Int> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let (id, count) = state.withLock { state in
                state.nextID += 1
                state.streams[state.nextID] = continuation
                return (state.nextID, state.count)
            }
            continuation.yield(count)
            continuation.onTermination = { [weak self] _ in
                // Released after the lock: a continuation may own things whose deinit comes back here.
                let removed = self?.state.withLock { $0.streams.removeValue(forKey: id) }
                _ = removed
            }
        }
    }

    func change(by step: Int) {
        let (count, streams) = state.withLock { state in
            state.count += step
            return (state.count, Array(state.streams.values))
        }
        for stream in streams { stream.yield(count) }
    }
}
