// SPDX-License-Identifier: MIT

/// A weak reference to an object.
public struct Weak<Object: AnyObject & Sendable>: Sendable {
    /// The object, or `nil` after its deallocation.
    public private(set) weak var value: Object?

    /// Creates a weak reference.
    public init(_ value: Object) { self.value = value }
}
