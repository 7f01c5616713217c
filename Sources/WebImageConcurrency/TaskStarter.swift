// SPDX-License-Identifier: MIT

import Synchronization

/// Starts Swift tasks for callers that must not be held up: waking a thread costs more than all else that a request's start
/// takes, and of many requests in a row only the first one pays for it. Thread-safe.
package final class TaskStarter: Sendable {
    private struct State {
        var waiting: [@Sendable () async -> Void] = []
        var isRunning = false
    }

    private let state = Lock(State())

    /// Creates a starter.
    package init() {}

    /// Calls `begin` soon, in the order of the calls, on Swift's pool. It must not wait for long.
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
