// SPDX-License-Identifier: MIT

import Foundation

/// A value that is guarded by a lock and a condition variable. Unlike ``Lock``, it lets a thread sleep until the value
/// changes.
package final class ConditionVariable<State>: @unchecked Sendable {
    // Safe: `state` is accessed only between `condition.lock()` and `condition.unlock()`.
    private var state: State
    private let condition = NSCondition()

    /// The decision of a waiting thread.
    package enum Decision<Value> {
        case proceed(Value)
        case wait
        case stop
    }

    /// Creates a guarded value.
    package init(_ state: State) { self.state = state }

    /// Calls `body` with exclusive access to the value, and then wakes one or all waiting threads if requested.
    package func withLock<Result>(
        wakeOne: Bool = false, wakeAll: Bool = false, _ body: (inout State) -> Result
    ) -> Result {
        #if DEBUG
            if let scheduler = Simulation.current {
                scheduler.willLock()
                let result = locked(body)
                if wakeAll || wakeOne { scheduler.wake(ObjectIdentifier(self), all: wakeAll) }
                scheduler.didUnlock(switches: true)
                return result
            }
        #endif
        condition.lock()
        defer { condition.unlock() }
        let result = body(&state)
        if wakeAll { condition.broadcast() } else if wakeOne { condition.signal() }
        return result
    }

    /// Sleeps until the closure takes a value or stops. Returns `nil` if it stops.
    package func wait<Value>(_ decide: (inout State) -> Decision<Value>) -> Value? {
        #if DEBUG
            if let scheduler = Simulation.current { return wait(scheduler, decide) }
        #endif
        condition.lock()
        defer { condition.unlock() }
        while true {
            switch decide(&state) {
            case .proceed(let value): return value
            case .stop: return nil
            case .wait: condition.wait()
            }
        }
    }
    /// Sleeps like ``wait(_:)``, but at most for `time`. Returns `nil` if the closure stops or the time has expired.
    package func wait<Value>(upTo time: Duration, _ decide: (inout State) -> Decision<Value>) -> Value? {
        let end = Date(timeIntervalSinceNow: time / .seconds(1))
        condition.lock()
        defer { condition.unlock() }
        while true {
            switch decide(&state) {
            case .proceed(let value): return value
            case .stop: return nil
            case .wait: if !condition.wait(until: end) { return nil }
            }
        }
    }

    #if DEBUG
        private func locked<Result>(_ body: (inout State) -> Result) -> Result {
            condition.lock()
            defer { condition.unlock() }
            return body(&state)
        }

        /// Waits like ``wait(_:)`` on a thread of a simulation.
        private func wait<Value>(_ scheduler: any SimulatedScheduler, _ decide: (inout State) -> Decision<Value>)
            -> Value?
        {
            while true {
                scheduler.willLock()
                let decision = locked(decide)
                scheduler.didUnlock(switches: false)
                switch decision {
                case .proceed(let value): return value
                case .stop: return nil
                case .wait: scheduler.block(on: ObjectIdentifier(self))
                }
            }
        }
    #endif
}
