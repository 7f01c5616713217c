// SPDX-License-Identifier: MIT

import Foundation

/// A strong reference that is compared by identity.
///
/// The object lives at least as long as the box, so no other object can reuse its address.
package struct IdentityBox<Object: AnyObject & Sendable>: Sendable, Hashable {
    /// The object.
    package let object: Object

    /// Creates a box for an object.
    package init(_ object: Object) { self.object = object }

    package static func == (left: IdentityBox, right: IdentityBox) -> Bool { left.object === right.object }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
}

/// A closure with an identity: copies are equal, and each new closure differs from all others.
///
/// Swift can't compare closures. An options value that is copied keeps the identity of its closures.
struct IdentifiedClosure<Closure: Sendable>: Sendable, Hashable {
    private final class Holder: Sendable {
        let closure: Closure
        let id = UUID()
        init(_ closure: Closure) { self.closure = closure }
    }

    private let holder: Holder

    init(_ closure: Closure) { holder = Holder(closure) }

    var closure: Closure { holder.closure }

    /// An identifier that no other closure has, in this process or another.
    var processID: String { holder.id.uuidString }

    static func == (left: Self, right: Self) -> Bool { left.holder === right.holder }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(holder)) }
}
