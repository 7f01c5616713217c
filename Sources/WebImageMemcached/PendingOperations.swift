// SPDX-License-Identifier: MIT

import WebImageStore

/// The entries and removals that wait to be sent to memcached, as a pure state machine.
///
/// At most one operation per key is running, so operations on a key reach the server in order. A newer operation on a
/// key replaces a waiting one. If there are too many entries, the oldest waiting entry is dropped. Removals are never
/// dropped.
package struct PendingOperations: Sendable {
    /// An operation on one key.
    package enum Operation: Sendable {
        /// Stores an entry.
        case store(CacheEntry)
        /// Removes the entry.
        case remove
    }

    private struct Item: Sendable {
        var operation: Operation
        var order: UInt64
    }

    private let countLimit: Int
    private let byteLimit: Int
    private var waiting: [CacheKey: Item] = [:]
    private var running: [CacheKey: Item] = [:]
    /// The keys of the waiting operations by their order. It can contain operations that have been replaced.
    private var queue: [(key: CacheKey, order: UInt64)] = []
    private var queueHead = 0
    private var nextOrder: UInt64 = 0
    private var entryCount = 0
    /// The total size of the waiting entries, in bytes.
    package private(set) var byteCount = 0

    /// Creates an empty queue.
    package init(countLimit: Int, byteLimit: Int) {
        self.countLimit = max(0, countLimit)
        self.byteLimit = max(0, byteLimit)
    }

    /// The number of waiting and running operations.
    package var count: Int { waiting.count + running.count }
    /// The number of waiting operations.
    package var waitingCount: Int { waiting.count }

    /// Returns the newest operation on a key, which a read must see, or `nil` if there is none.
    package func newest(for key: CacheKey) -> Operation? { (waiting[key] ?? running[key])?.operation }

    /// Adds an operation. Returns the number of dropped entries, including the new one if it exceeds the limits.
    package mutating func add(_ operation: Operation, for key: CacheKey) -> Int {
        withdraw(key)
        nextOrder += 1
        waiting[key] = Item(operation: operation, order: nextOrder)
        queue.append((key, nextOrder))
        if case .store(let entry) = operation {
            entryCount += 1
            byteCount += entry.data.count
        }
        return dropOldest()
    }

    /// Takes the waiting operation on a key. Returns `nil` if there is none or if another operation on the key is
    /// running. In the second case, ``finish(_:)`` reports the waiting operation.
    package mutating func begin(_ key: CacheKey) -> Operation? {
        guard running[key] == nil, let item = waiting[key] else { return nil }
        withdraw(key)
        running[key] = item
        return item.operation
    }

    /// Ends the running operation on a key. Returns whether another one waits, which the caller begins.
    package mutating func finish(_ key: CacheKey) -> Bool {
        running[key] = nil
        return waiting[key] != nil
    }

    /// Removes all waiting entries, but no removals.
    package mutating func dropEntries() {
        for (key, item) in waiting { if case .store = item.operation { withdraw(key) } }
    }

    private mutating func withdraw(_ key: CacheKey) {
        guard let item = waiting.removeValue(forKey: key) else { return }
        if case .store(let entry) = item.operation {
            entryCount -= 1
            byteCount -= entry.data.count
        }
    }

    private mutating func dropOldest() -> Int {
        var dropped = 0
        while entryCount > countLimit || byteCount > byteLimit, queueHead < queue.count {
            let (key, order) = queue[queueHead]
            queueHead += 1
            guard let item = waiting[key], item.order == order else { continue }
            guard case .store = item.operation else { continue }
            withdraw(key)
            dropped += 1
        }
        compact()
        return dropped
    }

    private mutating func compact() {
        guard queue.count > 64, queue.count > 2 * waiting.count else { return }
        queue = queue[queueHead...].filter { waiting[$0.key]?.order == $0.order }
        queueHead = 0
    }
}
