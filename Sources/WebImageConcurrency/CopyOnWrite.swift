// SPDX-License-Identifier: MIT

/// A large value that copies share until one of them changes.
///
/// A copy costs one reference, regardless of the size of the value. Reading borrows the value instead of copying it.
/// The members are inlinable so that callers specialize them.
public struct CopyOnWrite<Value: Sendable>: Sendable {
    /// The object that contains the value.
    @usableFromInline
    // Safe: only `CopyOnWrite.value` changes the object, and only if no other copy has a reference to it.
    final class Box: @unchecked Sendable {
        // Access to the structure excludes overlapping access to the box, so checks at run time are unnecessary.
        @exclusivity(unchecked) @usableFromInline var value: Value

        @inlinable
        init(_ value: Value) { self.value = value }
    }

    @usableFromInline var box: Box

    /// Creates a container for a value.
    @inlinable
    public init(_ value: Value) { box = Box(value) }

    /// The value. A change doesn't affect the copies of this container.
    @inlinable
    public var value: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }

    /// The identity of the storage. It's the same for all containers that share one value, and is valid while one of
    /// them exists.
    @inlinable
    public var identity: ObjectIdentifier { ObjectIdentifier(box) }
}
