// SPDX-License-Identifier: MIT

import Synchronization

/// A value that may change while others go by it. Observers hear of its changes one at a time and in the order of the
/// changes, without a lock: also where two changes cross, the last thing that an observer hears is the last value.
/// Thread-safe.
///
/// The members can be inlined: every request has such a value, and calls of a generic class of another module would
/// otherwise go through its metadata.
package final class ObservedValue<Value: Equatable & Sendable>: Sendable {
    @usableFromInline typealias Observer = @Sendable (Value) -> Void

    @usableFromInline
    struct Delivery: Sendable {
        @usableFromInline let value: Value
        /// The observers with these numbers hear of it: those that were there when the value changed.
        @usableFromInline let observers: ClosedRange<Int>

        @inlinable
        init(value: Value, observers: ClosedRange<Int>) {
            self.value = value
            self.observers = observers
        }
    }

    @usableFromInline
    struct State: Sendable {
        @usableFromInline var value: Value
        @usableFromInline var observers: [(number: Int, observer: Observer)] = []
        @usableFromInline var lastNumber = 0
        @usableFromInline var outbox = OrderedDelivery<Delivery>()

        @inlinable
        init(value: Value) { self.value = value }

        @inlinable
        func observers(in numbers: ClosedRange<Int>) -> [Observer] {
            observers.compactMap { numbers.contains($0.number) ? $0.observer : nil }
        }
    }

    @usableFromInline let state: Lock<State>

    /// Creates a value.
    @inlinable
    package init(_ value: Value) { state = Lock(State(value: value)) }

    /// The present value. When the setter returns, observers have heard of the change, unless a change on another thread
    /// is being delivered: then that thread delivers this one next.
    @inlinable
    package var value: Value {
        get { state.withLock { $0.value } }
        set { update { $0 = newValue } }
    }

    /// Changes the value in one step. Observers hear of it if the change is one that `matters`; without it, any.
    @inlinable
    package func update(matters: (Value, Value) -> Bool = { $0 != $1 }, _ change: (inout Value) -> Void) {
        let hasWork = state.withLock { state -> Bool in
            let before = state.value
            change(&state.value)
            guard !state.observers.isEmpty, matters(before, state.value) else { return false }
            state.outbox.append(Delivery(value: state.value, observers: 0...state.lastNumber))
            return true
        }
        if hasWork { deliver() }
    }

    /// Calls `observer` after every change until ``stopObserving(_:)``.
    @inlinable
    package func observe(_ observer: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.observers.append((state.lastNumber, { _ in observer() }))
            return state.lastNumber
        }
    }

    /// Calls `observer` with the present value, unless that is `known`, and with the value after every change until
    /// ``stopObserving(_:)``. No change is missed, and none is told before an earlier one.
    @inlinable
    package func follow(from known: Value? = nil, _ observer: @escaping @Sendable (Value) -> Void) -> Int {
        let (number, hasWork) = state.withLock { state -> (Int, Bool) in
            state.lastNumber += 1
            let number = state.lastNumber
            state.observers.append((number, observer))
            guard state.value != known else { return (number, false) }
            state.outbox.append(Delivery(value: state.value, observers: number...number))
            return (number, true)
        }
        if hasWork { deliver() }
        return number
    }

    /// Ends ``observe(_:)`` or ``follow(from:_:)``. A call that another thread makes now may still be running.
    @inlinable
    package func stopObserving(_ number: Int) {
        let removed = state.withLock { state -> Observer? in
            guard let index = state.observers.firstIndex(where: { $0.number == number }) else { return nil }
            return state.observers.remove(at: index).observer
        }
        _ = removed  // Released here, after the lock: a closure may own things whose deinit comes back.
    }

    @inlinable
    func deliver() {
        OrderedDelivery<Delivery>.deliver { access in
            state.withLock { access(&$0.outbox) }
        } _: { delivery in
            for observer in state.withLock({ $0.observers(in: delivery.observers) }) { observer(delivery.value) }
        }
    }
}
