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
        return prefix(text, columns: width - 1 - tail) + "…" + suffix(text, columns: tail)
    }

    private static func prefix(_ text: some Collection<Character>, columns: Int) -> String {
        var left = columns
        return String(
            text.prefix { character in
                left -= width(character)
                return left >= 0
            })
    }

    private static func suffix(_ text: String, columns: Int) -> String {
        String(prefix(text.reversed(), columns: columns).reversed())
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
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.value < 0x300 { return 1 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        let isWide = first.properties.isEmojiPresentation || wideBlocks.contains { $0.contains(first.value) }
        return isWide || character.unicodeScalars.contains("\u{FE0F}") ? 2 : 1
    }

    /// The blocks whose characters occupy two columns (East Asian Width W and F, Unicode Standard Annex 11).
    private static let wideBlocks: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
