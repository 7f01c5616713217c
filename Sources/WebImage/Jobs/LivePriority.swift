// SPDX-License-Identifier: MIT

import Synchronization
import WebImageCore

/// A priority that may change while work runs. Observers are told that it changed and read it themselves, so
/// two changes that overtake one another still end at the right value. Thread-safe.
final class LivePriority: Sendable {
    private struct State {
        var value: RequestPriority
        var observers: [Int: @Sendable () -> Void] = [:]
        var nextToken = 0
    }

    private let state: Lock<State>

    init(_ value: RequestPriority) { state = Lock(State(value: value)) }

    var value: RequestPriority {
        get { state.withLock { $0.value } }
        set {
            let observers = state.withLock { state -> [@Sendable () -> Void] in
                guard state.value != newValue else { return [] }
                state.value = newValue
                return Array(state.observers.values)
            }
            for observer in observers { observer() }
        }
    }

    /// Calls `observer` after every change until ``stopObserving(_:)``.
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
