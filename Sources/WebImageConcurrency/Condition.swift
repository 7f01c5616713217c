// SPDX-License-Identifier: MIT

import Foundation

/// A value that threads wait on: a lock and a condition. Unlike ``Lock`` it can put a thread to sleep until the value
/// changes.
final class Condition<State>: @unchecked Sendable {
    // Sendable: `state` is touched only between `condition.lock()` and `condition.unlock()`.
    private var state: State
    private let condition = NSCondition()

    enum Decision<Value> {
        case take(Value)
        case wait
        case stop
    }

    init(_ state: State) { self.state = state }

    func withLock<Result>(
        wakeOne: Bool = false, wakeAll: Bool = false, _ body: (inout State) -> Result
    ) -> Result {
        condition.lock()
        defer { condition.unlock() }
        let result = body(&state)
        if wakeAll { condition.broadcast() } else if wakeOne { condition.signal() }
        return result
    }

    /// Sleeps until `decide` takes a value or stops; `nil` if it stops.
    func wait<Value>(_ decide: (inout State) -> Decision<Value>) -> Value? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            switch decide(&state) {
            case .take(let value): return value
            case .stop: return nil
            case .wait: condition.wait()
            }
        }
    }
}
