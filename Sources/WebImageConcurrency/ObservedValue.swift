// SPDX-License-Identifier: MIT

import Synchronization

/// A value that may change while others go by it. Observers are told that it changed and read it themselves, so that
/// two changes that overtake one another still end at the right value. Thread-safe.
package final class ObservedValue<Value: Equatable & Sendable>: Sendable {
    private struct State {
        var value: Value
        var observers: [Int: @Sendable () -> Void] = [:]
        var nextToken = 0
    }

    private let state: Lock<State>

    package init(_ value: Value) { state = Lock(State(value: value)) }

    /// Observers are called before the setter returns, where it is another value.
    package var value: Value {
        get { state.withLock { $0.value } }
        set { update { $0 = newValue } }
    }

    /// Changes the value in one step. Observers are called before this returns, where the change is one that `matters`:
    /// without it, any.
    package func update(matters: (Value, Value) -> Bool = { $0 != $1 }, _ change: (inout Value) -> Void) {
        let observers = state.withLock { state -> [@Sendable () -> Void] in
            let before = state.value
            change(&state.value)
            return matters(before, state.value) ? Array(state.observers.values) : []
        }
        for observer in observers { observer() }
    }

    /// Calls `observer` after every change until ``stopObserving(_:)``.
    package func observe(_ observer: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.nextToken += 1
            state.observers[state.nextToken] = observer
            return state.nextToken
        }
    }

    package func stopObserving(_ token: Int) {
        let removed = state.withLock { $0.observers.removeValue(forKey: token) }
        _ = removed  // Released here, after the lock: a closure may own things whose deinit comes back.
    }
}
