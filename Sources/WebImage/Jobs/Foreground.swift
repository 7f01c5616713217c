// SPDX-License-Identifier: MIT

import Synchronization
import WebImageCore

/// Whether requests are under way that somebody waits for, those that fetch ahead not counted. Thread-safe.
final class Foreground: Sendable {
    private struct State {
        var count = 0
        var nextToken = 0
        var observers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Lock(State())

    var isBusy: Bool { state.withLock { $0.count > 0 } }

    func enter() { change(by: 1) { $0 == 1 } }

    func leave() { change(by: -1) { $0 == 0 } }

    private func change(by step: Int, _ matters: (Int) -> Bool) {
        let observers = state.withLock { state -> [@Sendable () -> Void] in
            state.count += step
            return matters(state.count) ? Array(state.observers.values) : []
        }
        for observer in observers { observer() }
    }

    /// Calls `observer`, which reads ``isBusy`` itself, after every change of it until ``stopObserving(_:)``.
    func observe(_ observer: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.nextToken += 1
            state.observers[state.nextToken] = observer
            return state.nextToken
        }
    }

    func stopObserving(_ token: Int) {
        let removed = state.withLock { $0.observers.removeValue(forKey: token) }
        _ = removed  // Released here, after the lock: a closure may own things whose deinit comes back.
    }
}
