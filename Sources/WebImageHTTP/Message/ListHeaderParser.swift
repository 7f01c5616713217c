// SPDX-License-Identifier: MIT

/// A parser for list-based header fields: members separated by commas, with quoted strings (RFC 9110 5.6).
enum ListHeaderParser {
    /// Returns whether `byte` is valid in a token (RFC 9110 5.6.2).
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// Returns the members of `text` without surrounding whitespace. Empty members are omitted.
    static func members(_ text: String) -> [String] {
        var members: [[UInt8]] = [[]]
        var isQuoted = false
        var isEscaped = false
        for byte in text.utf8 {
            if isQuoted {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isQuoted = false
                }
            } else if byte == UInt8(ascii: "\"") {
                isQuoted = true
            } else if byte == UInt8(ascii: ",") {
                members.append([])
                continue
            }
            members[members.count - 1].append(byte)
        }
        return members.map { trimmed(String(decoding: $0, as: UTF8.self)) }.filter { !$0.isEmpty }
    }

    static func trimmed(_ text: String) -> String {
        let isBlank: (UInt8) -> Bool = { $0 == 32 || $0 == 9 }
        let bytes = Array(text.utf8.drop(while: isBlank))
        let end = bytes.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? 0
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    /// Returns the content of a quoted string without quotation marks and escapes, or `text` unchanged if it isn't
    /// quoted.
    static func unquoted(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else { return text }
        var plain: [UInt8] = []
        var isEscaped = false
        for byte in bytes[1..<(bytes.count - 1)] {
            if !isEscaped, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                plain.append(byte)
                isEscaped = false
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    /// Parses a number that consists of one or more digits. Larger values are clamped to ``CacheControl/longest`` (RFC
    /// 9111 1.2.2).
    static func deltaSeconds(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return min(Int(text) ?? .max, CacheControl.longest)
    }
}
