// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// A thread-safe value whose changes tests can wait for.
package final class AwaitableValue<Value: Sendable>: Sendable {
    private struct Waiter {
        let isMet: @Sendable (Value) -> Bool
        let waiter: Promise<Void>
    }

    private struct State {
        var value: Value
        var waiters: [Waiter] = []
    }

    private let state: Lock<State>

    package init(_ value: Value) {
        state = Lock(State(value: value))
    }

    /// The current value.
    package var value: Value { state.withLock { $0.value } }

    /// Changes the value and resumes the waiters whose condition is met.
    @discardableResult
    package func update<Result: Sendable>(_ change: @Sendable (inout Value) -> Result) -> Result {
        let (result, met) = state.withLock { state -> (Result, [Waiter]) in
            let result = change(&state.value)
            let value = state.value
            let met = state.waiters.filter { $0.isMet(value) }
            if !met.isEmpty { state.waiters.removeAll { $0.isMet(value) } }
            return (result, met)
        }
        for waiter in met { waiter.waiter.resolve(()) }
        return result
    }

    /// Waits until a condition is met. Returns early if the current task is canceled.
    package func wait(until condition: @escaping @Sendable (Value) -> Bool) async {
        let waiter = Promise<Void>()
        let isMet = state.withLock { state in
            if condition(state.value) { return true }
            state.waiters.append(Waiter(isMet: condition, waiter: waiter))
            return false
        }
        if isMet { return }
        await waiter.outcome { waiter.resolve(()) }
    }
}
