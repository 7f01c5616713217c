// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency

/// Values that several tests or test cases need, which are created once.
final class SharedValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let values = Lock<[Key: Value]>([:])

    /// Returns the value for a key. The first call creates it, and concurrent calls wait for it.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - create: A function that creates the value. It must not use the same object.
    func value(for key: Key, _ create: () throws -> Value) throws -> Value {
        try values.withLock { (values) throws -> Value in
            if let value = values[key] { return value }
            let value = try create()
            values[key] = value
            return value
        }
    }
}
