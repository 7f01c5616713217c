// SPDX-License-Identifier: MIT

import Synchronization

/// A queue that delivers the changes of a state in order. It's part of that state and guarded by the same lock.
///
/// A change appends its items while it holds the lock. After unlocking, the caller takes the items with ``begin()`` and
/// ``next()`` and delivers them without the lock. Only one caller delivers at a time. If a second caller changes the
/// state meanwhile, ``begin()`` returns `nil`, and the first caller also delivers the new items. Without this rule,
/// concurrent changes could be delivered in the wrong order, and the older value would remain.
public struct OrderedDelivery<Item> {
    @usableFromInline var waiting: [Item] = []
    @usableFromInline var isDelivering = false

    /// Creates an empty queue.
    @inlinable
    public init() {}

    /// Appends an item. Call this method while holding the lock under which the state changes.
    @inlinable
    public mutating func append(_ item: Item) { waiting.append(item) }

    /// Returns the items to deliver in order, or `nil` if there are none or if another caller is delivering.
    ///
    /// If the result isn't `nil`, the caller must call ``next()`` after delivering the items.
    @inlinable
    public mutating func begin() -> [Item]? {
        guard !isDelivering, !waiting.isEmpty else { return nil }
        isDelivering = true
        defer { waiting = [] }
        return waiting
    }

    /// Returns the items that were added during a delivery, or `nil` if there are none, which ends the delivery.
    @inlinable
    public mutating func next() -> [Item]? {
        guard !waiting.isEmpty else {
            isDelivering = false
            return nil
        }
        defer { waiting = [] }
        return waiting
    }

    /// Delivers all pending items unless another caller is delivering.
    ///
    /// - Parameters:
    ///   - access: A closure that calls its argument with the queue while holding the lock.
    ///   - deliver: A closure that delivers one item without holding the lock.
    @inlinable
    public static func deliver(
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

/// A thread-safe queue of actions that are called one at a time in the order in which they were added.
public final class DeliveryQueue: Sendable {
    /// An action, which is called without holding a lock.
    public typealias Action = @Sendable () -> Void

    @usableFromInline let state = Lock(OrderedDelivery<Action>())

    /// Creates an empty queue.
    @inlinable
    public init() {}

    /// Adds an action without calling it, so that you can add it while holding the lock of the changed state.
    ///
    /// After every addition, call ``deliver()`` without holding that lock.
    @inlinable
    public func add(_ action: @escaping Action) { state.withLock { $0.append(action) } }

    /// Calls the pending actions. If another caller is already doing so, that caller also calls the new actions, and
    /// this method returns.
    @inlinable
    public func deliver() {
        OrderedDelivery<Action>.deliver { access in
            state.withLock { access(&$0) }
        } _: {
            $0()
        }
    }
}
