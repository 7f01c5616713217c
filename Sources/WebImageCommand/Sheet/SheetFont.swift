// SPDX-License-Identifier: MIT

import Foundation

/// A small bitmap font, smoothed when it is enlarged.
struct SheetFont: Sendable {
    /// The font of ``GlyphArt``.
    static let standard = SheetFont(art: GlyphArt.text)

    /// One letter: its ink, doubled three times with rounded steps.
    struct Glyph: Sendable {
        /// Columns of ink in the drawing.
        let width: Int
        /// Rows of `GlyphArt.rows × 8`, each `width × 8` and a margin of 8 at either side.
        let ink: [[Bool]]
    }

    private var glyphs: [Character: Glyph] = [:]

    init(art: String) {
        let lines = art.split(separator: "\n", omittingEmptySubsequences: false)
        for start in stride(from: 0, to: lines.count - GlyphArt.rows, by: GlyphArt.rows + 1) {
            let names = lines[start].split(separator: " ")
            for (index, name) in names.enumerated() {
                guard let character = name.first else { continue }
                let rows = lines[(start + 1)...(start + GlyphArt.rows)].map { line in
                    line.dropFirst(index * (GlyphArt.columns + 1)).prefix(GlyphArt.columns).map { $0 == "#" }
                }
                glyphs[character] = Self.glyph(rows, isDigit: character.isNumber)
            }
        }
        glyphs[" "] = Self.glyph(Array(repeating: [false, false], count: GlyphArt.rows), isDigit: true)
    }

    /// Accents are dropped, what is not there is a box.
    func glyph(for character: Character) -> Glyph? {
        if let glyph = glyphs[character] { return glyph }
        let base = String(character).decomposedStringWithCanonicalMapping.unicodeScalars.first.map(Character.init)
        return base.flatMap { glyphs[$0] } ?? glyphs["□"]
    }

    /// Pixels from the first to the last ink of `text` at `scale` pixels per dot.
    func width(of text: String, scale: Double) -> Double {
        let dots = text.reduce(0) { $0 + (glyph(for: $1)?.width ?? 0) + 1 }
        return Double(max(0, dots - 1)) * scale
    }

    /// `text` cut in its middle to `width` pixels.
    func truncated(_ text: String, to width: Double, scale: Double) -> String {
        var columns = text.count
        var shown = text
        while self.width(of: shown, scale: scale) > width, columns > 1 {
            columns -= 1
            let tail = (columns - 1) / 2
            shown = String(text.prefix(columns - 1 - tail)) + "…" + String(text.suffix(tail))
        }
        return shown
    }

    /// `text` in lines of at most `width` pixels, broken between words.
    func lines(_ text: String, width: Double, scale: Double) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ").map(String.init) {
            let joined = lines.last.map { "\($0) \(word)" }
            if let joined, self.width(of: joined, scale: scale) <= width {
                lines[lines.count - 1] = joined
            } else {
                lines.append(word)
            }
        }
        return lines
    }

    private static func glyph(_ rows: [[Bool]], isDigit: Bool) -> Glyph {
        let columns = rows.first?.indices ?? 0..<0
        // Digits keep their width, so that figures under each other line up.
        let inked = isDigit ? Array(columns) : columns.filter { column in rows.contains { $0[column] } }
        let first = inked.first ?? 0
        let last = inked.last ?? 0
        var ink = rows.map { [false] + $0[first...last] + [false] }
        for _ in 0..<3 { ink = doubled(ink) }
        return Glyph(width: last - first + 1, ink: ink)
    }

    /// Doubles a drawing and rounds its steps: a corner takes the colour of its two neighbours where these agree
    /// and the opposite ones differ (Eric's Pixel Expansion, 1992).
    private static func doubled(_ rows: [[Bool]]) -> [[Bool]] {
        var result = Array(
            repeating: Array(repeating: false, count: (rows.first?.count ?? 0) * 2), count: rows.count * 2)
        func at(_ y: Int, _ x: Int) -> Bool {
            rows.indices.contains(y) && rows[y].indices.contains(x) && rows[y][x]
        }
        for y in rows.indices {
            for x in rows[y].indices {
                let (up, down, left, right) = (at(y - 1, x), at(y + 1, x), at(y, x - 1), at(y, x + 1))
                func corner(_ a: Bool, _ b: Bool, _ c: Bool, _ d: Bool) -> Bool {
                    a == b && a != c && b != d ? a : rows[y][x]
                }
                result[2 * y][2 * x] = corner(left, up, down, right)
                result[2 * y][2 * x + 1] = corner(up, right, left, down)
                result[2 * y + 1][2 * x] = corner(down, left, right, up)
                result[2 * y + 1][2 * x + 1] = corner(right, down, up, left)
            }
        }
        return result
    }
}
