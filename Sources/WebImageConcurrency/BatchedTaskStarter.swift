// SPDX-License-Identifier: MIT

import Synchronization

/// A starter of Swift tasks for callers that must not be delayed. This class is thread-safe.
///
/// Waking a thread costs more than the rest of starting a request. Of many consecutive requests, only the first one
/// wakes a thread.
package final class BatchedTaskStarter: Sendable {
    private struct State {
        var waiting: [@Sendable () async -> Void] = []
        var isRunning = false
    }

    private let state = Lock(State())

    /// Creates a starter.
    package init() {}

    /// Calls a closure soon on Swift's cooperative pool, in the order of the calls to this method. The closure must not
    /// suspend for long.
    package func start(_ begin: @escaping @Sendable () async -> Void) {
        let isFirst = state.withLock { state in
            state.waiting.append(begin)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isFirst else { return }
        Task.detached {
            while let batch = self.next() { for begin in batch { await begin() } }
        }
    }

    private func next() -> [@Sendable () async -> Void]? {
        state.withLock { state in
            defer { state.waiting = [] }
            guard state.waiting.isEmpty else { return state.waiting }
            state.isRunning = false
            return nil
        }
    }
}
