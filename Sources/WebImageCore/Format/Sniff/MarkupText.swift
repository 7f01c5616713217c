// SPDX-License-Identifier: MIT

/// The beginning of a text as ASCII characters, whatever it is encoded in; what is not ASCII reads as 0x80.
struct MarkupText {
    private let bytes: HeaderBytes
    private let start: Int
    private let width: Int
    private let low: Int

    /// Finds the encoding by the byte order mark, or by the `<` that markup begins with.
    init(_ bytes: HeaderBytes) throws(ProbeStop) {
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

    /// The character at `index`; nil behind the end of a text that is complete, and behind the bound.
    func character(at index: Int) throws(ProbeStop) -> UInt8? {
        guard index < ProbeBounds.markupUnits else { return nil }
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

    /// How many characters of this kind make the one at `index`, which is not ASCII; nil where that is no UTF-8.
    /// In UTF-16 every half counts by itself.
    func sequenceLength(at index: Int) throws(ProbeStop) -> Int? {
        guard width == 1 else { return 1 }
        return switch try bytes.byte(at: start + index) {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: nil
        }
    }

    /// Whether the byte at `index`, which is there, goes on with a character of UTF-8.
    func continues(at index: Int) throws(ProbeStop) -> Bool {
        try bytes.byte(at: start + index) & 0xC0 == 0x80
    }

    /// Whether `text`, lower-case ASCII, stands at `index`, in whatever case.
    func has(_ text: StaticString, at index: Int) throws(ProbeStop) -> Bool {
        for place in 0..<text.utf8CodeUnitCount {
            let wanted = text.withUTF8Buffer { $0[place] }
            guard let character = try character(at: index + place) else { return false }
            let isUpper = (0x41...0x5A).contains(character)
            guard (isUpper ? character | 0x20 : character) == wanted else { return false }
        }
        return true
    }

    /// The index of the first character at or after `index` that is no white space.
    func skipSpace(_ index: Int) throws(ProbeStop) -> Int {
        var index = index
        while let character = try character(at: index), Self.isSpace(character) { index += 1 }
        return index
    }

    /// The index behind `text`, searched from `index` on; nil where the text ends before.
    func end(of text: StaticString, from index: Int) throws(ProbeStop) -> Int? {
        var index = index
        while try character(at: index) != nil {
            if try has(text, at: index) { return index + text.utf8CodeUnitCount }
            index += 1
        }
        return nil
    }

    /// White space of XML and HTML.
    static func isSpace(_ character: UInt8) -> Bool {
        character == 0x20 || character == 0x09 || character == 0x0A || character == 0x0D || character == 0x0C
    }
}
