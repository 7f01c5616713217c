// SPDX-License-Identifier: MIT

/// Functions for text in a terminal. Names come from servers, so control characters and bidirectional overrides must
/// not reach the terminal.
package enum DisplayText {
    /// Returns `text` with a replacement for each character that would move the cursor, change colors, or reorder the
    /// text.
    package static func safe(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { result.append(isUnsafe(scalar) ? "\u{FFFD}" : scalar) }
        return String(result)
    }

    /// Returns the number of columns that `text` occupies.
    package static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

    /// Returns `text` padded with spaces to `width` columns. If `trailing` is `true`, the text is aligned to the right.
    package static func padded(_ text: String, to width: Int, trailing: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, width - Self.width(text)))
        return trailing ? blanks + text : text + blanks
    }

    /// Returns `text` truncated to `width` columns, between whole characters and with an ellipsis. The ellipsis is at
    /// the end, or in the middle to preserve a file extension.
    package static func truncated(_ text: String, to width: Int, inMiddle: Bool = false) -> String {
        guard Self.width(text) > width else { return text }
        guard width > 1 else { return width == 1 ? "…" : "" }
        let tail = inMiddle ? (width - 1) / 2 : 0
        return String(prefix(text, columns: width - 1 - tail) + "…" + suffix(text, columns: tail))
    }

    private static func prefix(_ text: String, columns: Int) -> Substring {
        text.prefix(count(text, columns: columns))
    }

    /// Returns the longest suffix that fits and that begins with a character that occupies a column. A mark without a
    /// base, such as a variation selector, would change the character before it.
    private static func suffix(_ text: String, columns: Int) -> Substring {
        text.suffix(count(text.reversed(), columns: columns)).drop { width($0) == 0 }
    }

    /// Returns the number of characters at the beginning of `text` that fit into `columns`.
    private static func count(_ text: some Sequence<Character>, columns: Int) -> Int {
        var left = columns
        var count = 0
        for character in text {
            left -= width(character)
            guard left >= 0 else { break }
            count += 1
        }
        return count
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        // Bidirectional overrides, embeddings, and isolates (Unicode Standard Annex 9).
        case .privateUse: FileNameText.isEscape(scalar)
        case .format: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        default: false
        }
    }

    private static func width(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        // The base isn't always the first scalar, because some marks precede their base.
        let width = scalars.reduce(0) { max($0, Self.width($1)) }
        return width == 1 && scalars.contains("\u{FE0F}") ? 2 : width
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        let isWide = scalar.properties.isEmojiPresentation || wideBlocks.contains { $0.contains(scalar.value) }
        return isWide ? 2 : 1
    }

    /// The blocks whose characters occupy two columns (East Asian Width W and F, Unicode Standard Annex 11).
    private static let wideBlocks: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
