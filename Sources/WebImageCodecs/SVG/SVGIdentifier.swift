// SPDX-License-Identifier: MIT

#if SVG
    /// The identifier of an element.
    ///
    /// librsvg compares the bytes of identifiers. Strings with different bytes can be equal in Swift.
    struct SVGIdentifier: Hashable, Comparable {
        private let bytes: [UInt8]

        init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

        static func < (first: SVGIdentifier, second: SVGIdentifier) -> Bool {
            first.bytes.lexicographicallyPrecedes(second.bytes)
        }
    }
#endif
