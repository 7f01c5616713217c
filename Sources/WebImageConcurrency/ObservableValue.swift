// SPDX-License-Identifier: MIT

import Synchronization

/// A value that can change while observers follow it. This class is thread-safe.
///
/// Observers receive changes one at a time, in order, and without a lock being held. Even if two changes occur
/// concurrently, the last value that an observer receives is the most recent value.
///
/// The class is public, although no product contains this module, because Swift 6.3 specializes and inlines only public
/// functions of other modules. Every request has such a value, and package functions go through the metadata of the
/// generic class.
public final class ObservableValue<Value: Equatable & Sendable>: Sendable {
    @usableFromInline typealias Observer = @Sendable (Value) -> Void

    @usableFromInline
    struct Delivery: Sendable {
        @usableFromInline let value: Value
        /// The numbers of the observers that receive the value, which are those that existed when the value changed.
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

    /// Creates a value without observers.
    @inlinable
    public init(_ value: Value) { state = Lock(State(value: value)) }

    /// The current value.
    ///
    /// The setter returns after observers have received the change. However, if another thread is delivering a change,
    /// that thread also delivers this change afterward.
    @inlinable
    public var value: Value {
        get { state.withLock { $0.value } }
        set { update { $0 = newValue } }
    }

    /// The number of observers, for tests.
    @inlinable
    public var observerCount: Int { state.withLock { $0.observers.count } }

    /// Changes the value atomically.
    ///
    /// Observers receive the change if the closure `matters` returns `true` for the old and the new value. By default,
    /// they receive every change.
    @inlinable
    public func update(matters: (Value, Value) -> Bool = { $0 != $1 }, _ change: (inout Value) -> Void) {
        let hasWork = state.withLock { state -> Bool in
            let before = state.value
            change(&state.value)
            guard !state.observers.isEmpty, matters(before, state.value) else { return false }
            state.outbox.append(Delivery(value: state.value, observers: 0...state.lastNumber))
            return true
        }
        if hasWork { deliver() }
    }

    /// Calls a closure after every change until ``stopObserving(_:)`` is called.
    @inlinable
    public func observe(_ observer: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.observers.append((state.lastNumber, { _ in observer() }))
            return state.lastNumber
        }
    }

    /// Calls a closure with the current value, unless it equals `known`, and after every change until
    /// ``stopObserving(_:)`` is called.
    ///
    /// The closure receives every change in order.
    @inlinable
    public func follow(from known: Value? = nil, _ observer: @escaping @Sendable (Value) -> Void) -> Int {
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

    /// Ends an observation that ``observe(_:)`` or ``follow(from:_:)`` started. A concurrent call of the closure on
    /// another thread may still be running.
    @inlinable
    public func stopObserving(_ number: Int) {
        let removed = state.withLock { state -> Observer? in
            guard let index = state.observers.firstIndex(where: { $0.number == number }) else { return nil }
            return state.observers.remove(at: index).observer
        }
        // Release the closure after unlocking because a deinitializer of its captures may call this object again.
        _ = removed
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
