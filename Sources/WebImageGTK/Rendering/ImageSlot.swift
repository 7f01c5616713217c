// SPDX-License-Identifier: MIT

#if GTK
    /// A slot for one image in a view with several images.
    public struct ImageSlot: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name of the slot.
        public let name: String

        /// Creates a slot with a name.
        public init(_ name: String) { self.name = name }

        /// Creates a slot with a name.
        public init(stringLiteral name: String) { self.name = name }

        /// The main image.
        public static let image: ImageSlot = "image"
        /// The background image.
        public static let background: ImageSlot = "background"

        /// The name of the slot.
        public var description: String { name }
    }
#endif
