// SPDX-License-Identifier: MIT

/// Functions for texts in errors. Such texts can contain parts of hostile files, because codec libraries quote them, and
/// programs write errors to terminals and logs.
package enum PrintableText {
    /// Returns `text` with U+FFFD instead of each control character (C0, delete, and C1), each separator of lines or
    /// paragraphs, and each character that reorders text. Tabs and line breaks become spaces, so that a text can't forge
    /// lines of a log.
    package static func text(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard isUnsafe(scalar) else {
                result.append(scalar)
                continue
            }
            result.append(["\t", "\n", "\r"].contains(scalar) ? " " : "\u{FFFD}")
        }
        return String(result)
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case ..<0x20, 0x7F...0x9F: true
        // Separators, and bidirectional embeddings, overrides, and isolates (Unicode Standard Annex 9).
        case 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
