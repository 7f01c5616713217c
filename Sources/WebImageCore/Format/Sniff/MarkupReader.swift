// SPDX-License-Identifier: MIT

/// The beginning of a text as ASCII characters, regardless of its encoding. Non-ASCII characters appear as 0x80.
struct MarkupReader {
    private let bytes: HeaderBytes
    private let start: Int
    private let width: Int
    private let low: Int

    /// Creates a text and detects its encoding from the byte order mark or from the `<` with which markup begins.
    init(_ bytes: HeaderBytes) throws(HeaderParsingError) {
        self.bytes = bytes
        if try bytes.has([0xEF, 0xBB, 0xBF]) {
            (start, width, low) = (3, 1, 0)
        } else if try bytes.has([0xFF, 0xFE]) {
            (start, width, low) = (2, 2, 0)
        } else if try bytes.has([0xFE, 0xFF]) {
            (start, width, low) = (2, 2, 1)
        } else if try bytes.has([0x3C, 0x00]) {
            (start, width, low) = (0, 2, 0)
        } else if try bytes.has([0x00, 0x3C]) {
            (start, width, low) = (0, 2, 1)
        } else {
            (start, width, low) = (0, 1, 0)
        }
    }

    /// Returns the character at `index`, or `nil` after the end of a complete text and beyond the bound.
    func character(at index: Int) throws(HeaderParsingError) -> UInt8? {
        guard index < HeaderBounds.markupUnits else { return nil }
        let offset = start + index * width
        guard offset + width <= bytes.available else {
            if bytes.isComplete || offset + width > bytes.declaredLength ?? .max { return nil }
            try bytes.require(width, at: offset)
            return nil
        }
        let character = try bytes.byte(at: offset + low)
        if width == 2, try bytes.byte(at: offset + 1 - low) != 0 { return 0x80 }
        return character < 0x80 ? character : 0x80
    }

    /// Returns the number of units in the sequence of the non-ASCII character at `index`, or `nil` if it isn't valid
    /// UTF-8. In UTF-16, each surrogate counts separately.
    func sequenceLength(at index: Int) throws(HeaderParsingError) -> Int? {
        guard width == 1 else { return 1 }
        return switch try bytes.byte(at: start + index) {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: nil
        }
    }

    /// Returns whether the available byte at `index` is a UTF-8 continuation byte.
    func continues(at index: Int) throws(HeaderParsingError) -> Bool {
        try bytes.byte(at: start + index) & 0xC0 == 0x80
    }

    /// Returns whether `text`, which must be lowercase ASCII, is located at `index`, ignoring case.
    func has(_ text: StaticString, at index: Int) throws(HeaderParsingError) -> Bool {
        for place in 0..<text.utf8CodeUnitCount {
            let wanted = text.withUTF8Buffer { $0[place] }
            guard let character = try character(at: index + place) else { return false }
            let isUpper = (0x41...0x5A).contains(character)
            guard (isUpper ? character | 0x20 : character) == wanted else { return false }
        }
        return true
    }

    func skipSpace(_ index: Int) throws(HeaderParsingError) -> Int {
        var index = index
        while let character = try character(at: index), Self.isSpace(character) { index += 1 }
        return index
    }

    /// Returns the index after the first `text` at or after `index`, or `nil` if the text ends before.
    func end(of text: StaticString, from index: Int) throws(HeaderParsingError) -> Int? {
        var index = index
        while try character(at: index) != nil {
            if try has(text, at: index) { return index + text.utf8CodeUnitCount }
            index += 1
        }
        return nil
    }

    static func isSpace(_ character: UInt8) -> Bool {
        character == 0x20 || character == 0x09 || character == 0x0A || character == 0x0D || character == 0x0C
    }
}
