// SPDX-License-Identifier: MIT

/// An entity tag (RFC 9110 8.8.3).
package struct EntityTag: Sendable, Hashable, CustomStringConvertible {
    /// The text between the quotation marks.
    package var opaque: String
    /// Whether the tag guarantees only an equivalent representation, not identical bytes.
    package var isWeak: Bool

    /// Creates an entity tag.
    package init(opaque: String, isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Parses `"…"` or `W/"…"`. Returns `nil` if the text has another form.
    package init?(_ text: String) {
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

    /// The entity tag as written in a header field.
    package var description: String { "\(isWeak ? "W/" : "")\"\(opaque)\"" }

    /// Returns whether both tags are strong and have the same text, which means identical bytes (RFC 9110 8.8.3.2).
    package func isStronglyEqual(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

    /// Returns whether both tags have the same text, which means equivalent representations.
    package func isWeaklyEqual(_ other: EntityTag) -> Bool { opaque == other.opaque }

    /// Returns whether two tags are equivalent (RFC 9110 8.8.3.2). It also compares malformed tags.
    static func isSameText(_ left: String, _ right: String) -> Bool { strong(left) == strong(right) }

    private static func strong(_ text: String) -> Substring { text.hasPrefix("W/") ? text.dropFirst(2) : text[...] }

    /// Returns the members of an `If-None-Match` header field as written. A backslash in a tag isn't an escape
    /// character.
    static func list(_ text: String) -> [String] {
        var members: [[UInt8]] = [[]]
        var isQuoted = false
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == UInt8(ascii: ","), !isQuoted {
                members.append([])
            } else {
                members[members.count - 1].append(byte)
            }
        }
        return members.map { ListHeaderParser.trimmed(String(decoding: $0, as: UTF8.self)) }.filter { !$0.isEmpty }
    }
}
