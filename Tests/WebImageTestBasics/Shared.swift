// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// A thread-safe value that several tasks of a test read and change.
public final class Shared<Value: Sendable>: Sendable {
    private let state: Lock<Value>

    /// Creates a shared value.
    public init(_ value: Value) { state = Lock(value) }

    /// The current value.
    public var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// Changes the value atomically.
    public func update<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        state.withLock { value in body(&value) }
    }
}
