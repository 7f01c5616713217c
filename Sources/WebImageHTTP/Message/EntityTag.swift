// SPDX-License-Identifier: MIT

/// An entity tag (RFC 9110 8.8.3).
public struct EntityTag: Sendable, Hashable, CustomStringConvertible {
    /// The text between the quotes.
    public var opaque: String
    /// Whether it only promises an equivalent picture, not equal bytes.
    public var isWeak: Bool

    /// Creates a tag.
    public init(opaque: String, isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Reads `"…"` or `W/"…"`; nil for anything else.
    public init?(_ text: String) {
        let isWeak = text.hasPrefix("W/")
        let quoted = text.dropFirst(isWeak ? 2 : 0).utf8
        guard quoted.count >= 2, quoted.first == UInt8(ascii: "\""), quoted.last == UInt8(ascii: "\"") else {
            return nil
        }
        let inner = quoted.dropFirst().dropLast()
        guard inner.allSatisfy({ $0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80 }),
            let opaque = String(inner)
        else { return nil }
        self.init(opaque: opaque, isWeak: isWeak)
    }

    /// As it stands in a field.
    public var description: String { "\(isWeak ? "W/" : "")\"\(opaque)\"" }

    /// Equal bytes: both strong, same text (RFC 9110 8.8.3.2).
    public func isStronglyEqual(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

    /// Equivalent: same text.
    public func isWeaklyEqual(_ other: EntityTag) -> Bool { opaque == other.opaque }
}
