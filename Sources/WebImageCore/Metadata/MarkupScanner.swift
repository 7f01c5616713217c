// SPDX-License-Identifier: MIT

/// A scanner that splits XML into tags and text (XML 1.0, fifth edition).
///
/// The scanner doesn't check whether tags match, and it skips comments, processing instructions, and declarations. It
/// expands only the predefined entities and character references, so expansions can't grow. Its time is linear in the
/// number of bytes.
struct MarkupScanner {
    enum Token: Equatable {
        case start(name: String, attributes: [(name: String, value: String)], isEmpty: Bool)
        case end(name: String)
        case text(String)

        static func == (left: Token, right: Token) -> Bool {
            switch (left, right) {
            case (.start(let a, let first, let b), .start(let c, let second, let d)):
                a == c && b == d && first.elementsEqual(second, by: ==)
            case (.end(let a), .end(let b)), (.text(let a), .text(let b)): a == b
            default: false
            }
        }
    }

    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the next token, or `nil` at the end or at an unfinished tag.
    mutating func next() -> Token? {
        while place < bytes.count {
            guard bytes[place] == UInt8(ascii: "<") else { return text() }
            if has("<!--") {
                guard skip(past: "-->") else { return nil }
            } else if has("<![CDATA[") {
                place += 9
                let start = place
                guard skip(past: "]]>") else { return nil }
                return .text(string(start..<place - 3))
            } else if has("<?") {
                guard skip(past: "?>") else { return nil }
            } else if has("<!") {
                guard skip(past: ">") else { return nil }
            } else {
                return tag()
            }
        }
        return nil
    }

    private mutating func text() -> Token {
        let start = place
        while place < bytes.count, bytes[place] != UInt8(ascii: "<") { place += 1 }
        return .text(expanded(start..<place))
    }

    private mutating func tag() -> Token? {
        place += 1
        let isEnd = place < bytes.count && bytes[place] == UInt8(ascii: "/")
        if isEnd { place += 1 }
        let name = word()
        var attributes: [(name: String, value: String)] = []
        while true {
            skipWhitespace()
            guard place < bytes.count else { return nil }
            switch bytes[place] {
            case UInt8(ascii: ">"):
                place += 1
                return isEnd ? .end(name: name) : .start(name: name, attributes: attributes, isEmpty: false)
            case UInt8(ascii: "/"):
                place += 1
                guard place < bytes.count, bytes[place] == UInt8(ascii: ">") else { continue }
                place += 1
                return isEnd ? .end(name: name) : .start(name: name, attributes: attributes, isEmpty: true)
            default:
                guard let attribute = attribute() else { return nil }
                attributes.append(attribute)
            }
        }
    }

    /// Returns the attribute at the current place, and advances by at least one byte.
    private mutating func attribute() -> (name: String, value: String)? {
        let start = place
        let name = word()
        if place == start { place += 1 }
        skipWhitespace()
        guard place < bytes.count, bytes[place] == UInt8(ascii: "=") else { return (name, "") }
        place += 1
        skipWhitespace()
        guard place < bytes.count else { return nil }
        let quote = bytes[place]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return (name, word()) }
        place += 1
        let first = place
        while place < bytes.count, bytes[place] != quote { place += 1 }
        guard place < bytes.count else { return nil }
        defer { place += 1 }
        return (name, expanded(first..<place))
    }

    /// Returns the name at the current place, which may be empty.
    private mutating func word() -> String {
        let start = place
        while place < bytes.count, !Self.isWhitespace(bytes[place]), !Self.delimiters.contains(bytes[place]) {
            place += 1
        }
        return string(start..<place)
    }

    private static let delimiters = Set("<>/='\"".utf8)

    private static func isWhitespace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private mutating func skipWhitespace() {
        while place < bytes.count, Self.isWhitespace(bytes[place]) { place += 1 }
    }

    private func has(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - place >= count else { return false }
        return text.withUTF8Buffer { $0.elementsEqual(bytes[place..<place + count]) }
    }

    /// Advances past the next occurrence of `text`. Returns `false` if there's none.
    private mutating func skip(past text: StaticString) -> Bool {
        while place < bytes.count {
            if has(text) {
                place += text.utf8CodeUnitCount
                return true
            }
            place += 1
        }
        return false
    }

    private func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Returns text with its references replaced. An unknown reference remains unchanged.
    private func expanded(_ range: Range<Int>) -> String {
        guard bytes[range].contains(UInt8(ascii: "&")) else { return string(range) }
        var text = ""
        var start = range.lowerBound
        while let ampersand = bytes[start..<range.upperBound].firstIndex(of: UInt8(ascii: "&")) {
            text += string(start..<ampersand)
            // The longest reference is that of a character, such as `&#x10FFFF;`.
            let limit = min(ampersand + 12, range.upperBound)
            if let end = bytes[ampersand..<limit].firstIndex(of: UInt8(ascii: ";")),
                let character = Self.character(string(ampersand + 1..<end))
            {
                text.unicodeScalars.append(character)
                start = end + 1
            } else {
                text += "&"
                start = ampersand + 1
            }
        }
        return text + string(start..<range.upperBound)
    }

    private static func character(_ reference: String) -> Unicode.Scalar? {
        switch reference {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        guard reference.hasPrefix("#") else { return nil }
        let digits = reference.dropFirst()
        let value = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return value.flatMap { Unicode.Scalar($0) }
    }
}
