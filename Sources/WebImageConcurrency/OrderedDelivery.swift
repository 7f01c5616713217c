// SPDX-License-Identifier: MIT

import Synchronization

/// What changes of a state have to deliver, in the order of the changes. A part of that state, behind its lock.
///
/// A change appends its items while it holds the lock. After unlocking, whoever changed the state takes the items with
/// ``begin()`` and ``next()`` and delivers them without the lock. One caller delivers at a time: a second one that
/// changed the state meanwhile gets nothing from ``begin()``, and the first one delivers its items too. Without this,
/// two changes that cross could be delivered in the wrong order, and the older value would stay.
package struct OrderedDelivery<Item> {
    @usableFromInline var waiting: [Item] = []
    @usableFromInline var isDelivering = false

    /// Creates an empty queue.
    @inlinable
    package init() {}

    /// Appends an item. To be called together with the change that it tells of.
    @inlinable
    package mutating func append(_ item: Item) { waiting.append(item) }

    /// The items to deliver, in order; `nil` if there are none, or if another caller delivers. Whoever gets items has to
    /// call ``next()`` after delivering them.
    @inlinable
    package mutating func begin() -> [Item]? {
        guard !isDelivering, !waiting.isEmpty else { return nil }
        isDelivering = true
        defer { waiting = [] }
        return waiting
    }

    /// The items that came during a delivery; `nil` if there are none, which ends the delivery.
    @inlinable
    package mutating func next() -> [Item]? {
        guard !waiting.isEmpty else {
            isDelivering = false
            return nil
        }
        defer { waiting = [] }
        return waiting
    }

    /// Delivers everything that waits, unless another caller does.
    ///
    /// - Parameters:
    ///   - access: Calls its argument with the queue, behind the lock.
    ///   - deliver: Delivers one item. Called without the lock.
    @inlinable
    package static func deliver(
        _ access: ((inout OrderedDelivery) -> [Item]?) -> [Item]?, _ deliver: (Item) -> Void
    ) {
        var batch = access { $0.begin() }
        while let items = batch {
            for item in items { deliver(item) }
            batch = access { $0.next() }
        }
    }
}

extension OrderedDelivery: Sendable where Item: Sendable {}

/// Actions that are called one at a time, in the order in which they were added. Thread-safe.
package final class DeliveryQueue: Sendable {
    package typealias Action = @Sendable () -> Void

    private let state = Lock(OrderedDelivery<Action>())

    /// Creates an empty queue.
    package init() {}

    /// Adds an action and calls nothing, so that it may be added under the lock of the state that changes. Every addition
    /// is followed by ``deliver()`` without that lock.
    package func add(_ action: @escaping Action) { state.withLock { $0.append(action) } }

    /// Calls what waits. If another caller does so already, that one calls the new actions as well, and this returns.
    package func deliver() {
        OrderedDelivery<Action>.deliver { access in
            state.withLock { access(&$0) }
        } _: {
            $0()
        }
    }
}
