// SPDX-License-Identifier: MIT

import Synchronization
import WebImageNet

/// The identity that decides whether two loaders are the same. It retains the loader so that the address of an object
/// isn't reused.
enum LoaderIdentity: Hashable, Sendable {
    case registry
    /// A loader of a source that the key identifies, regardless of the closure that supplies the data.
    case key
    case object(LoaderObject)
    case value(LoaderValue)
    /// A loader that is a value without `Hashable` conformance. Only copies of one request have the same identity.
    case unique(Int)

    private static let count = Atomic<Int>(0)

    init(_ loader: (any ImageLoader)?) {
        guard let loader else {
            self = .registry
            return
        }
        if type(of: loader) is AnyClass {
            self = .object(LoaderObject(loader: loader))
        } else if loader is any Hashable {
            self = .value(LoaderValue(loader: loader))
        } else {
            self = .unique(Self.count.add(1, ordering: .relaxed).newValue)
        }
    }
}

/// A loader compared by identity.
struct LoaderObject: Hashable, Sendable {
    let loader: any ImageLoader

    private var identity: ObjectIdentifier { ObjectIdentifier(loader as AnyObject) }

    static func == (left: LoaderObject, right: LoaderObject) -> Bool { left.identity == right.identity }

    func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

/// A loader compared by value. Its type conforms to `Hashable`.
struct LoaderValue: Hashable, Sendable {
    let loader: any ImageLoader

    private var value: AnyHashable? { (loader as? any Hashable).map { AnyHashable($0) } }

    static func == (left: LoaderValue, right: LoaderValue) -> Bool { left.value == right.value }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
