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

    /// Whether two tags of fields are equivalent (RFC 9110 8.8.3.2), also where they are written against the rules.
    static func isSameText(_ left: String, _ right: String) -> Bool { strong(left) == strong(right) }

    private static func strong(_ text: String) -> Substring { text.hasPrefix("W/") ? text.dropFirst(2) : text[...] }

    /// The members of If-None-Match as written. A backslash in a tag is a character like others.
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
        return members.map { FieldList.trimmed(String(decoding: $0, as: UTF8.self)) }.filter { !$0.isEmpty }
    }
}
