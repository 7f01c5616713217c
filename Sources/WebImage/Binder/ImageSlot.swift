// SPDX-License-Identifier: MIT

/// A place for a picture in a view that has several.
public struct ImageSlot: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Its name.
    public let name: String

    /// A slot of any name.
    public init(_ name: String) { self.name = name }

    /// A slot of any name.
    public init(stringLiteral name: String) { self.name = name }

    /// The picture itself.
    public static let image: ImageSlot = "image"
    /// What lies behind it.
    public static let background: ImageSlot = "background"

    /// The name.
    public var description: String { name }
}
