// SPDX-License-Identifier: MIT

import Foundation

/// A small bitmap font that's smoothed when it's enlarged.
struct SheetFont: Sendable {
    static let standard = SheetFont(art: BitmapFontGlyphs.text)

    /// A glyph, enlarged by doubling its dots three times with smoothing.
    struct Glyph: Sendable {
        /// The number of columns with ink in the original glyph.
        let width: Int
        /// The enlarged dots, in `BitmapFontGlyphs.rows × 8` rows. A row has `width × 8` dots and a margin of 8 dots on
        /// both sides.
        let ink: [[Bool]]
    }

    private var glyphs: [Character: Glyph] = [:]

    init(art: String) {
        let lines = art.split(separator: "\n", omittingEmptySubsequences: false)
        for start in stride(from: 0, to: lines.count - BitmapFontGlyphs.rows, by: BitmapFontGlyphs.rows + 1) {
            let names = lines[start].split(separator: " ")
            for (index, name) in names.enumerated() {
                guard let character = name.first else { continue }
                let rows = lines[(start + 1)...(start + BitmapFontGlyphs.rows)].map { line in
                    line.dropFirst(index * (BitmapFontGlyphs.columns + 1)).prefix(BitmapFontGlyphs.columns).map {
                        $0 == "#"
                    }
                }
                glyphs[character] = Self.glyph(rows, isDigit: character.isNumber)
            }
        }
        glyphs[" "] = Self.glyph(Array(repeating: [false, false], count: BitmapFontGlyphs.rows), isDigit: true)
    }

    /// Returns the glyph for a character. If there's none, the accents of the character are removed. Unknown characters
    /// are shown as a box.
    func glyph(for character: Character) -> Glyph? {
        if let glyph = glyphs[character] { return glyph }
        let base = String(character).decomposedStringWithCanonicalMapping.unicodeScalars.first.map(Character.init)
        return base.flatMap { glyphs[$0] } ?? glyphs["□"]
    }

    /// Returns the width of `text` from the first to the last ink, in pixels, where `scale` is the number of pixels per
    /// dot.
    func width(of text: String, scale: Double) -> Double {
        let dots = text.reduce(0) { $0 + (glyph(for: $1)?.width ?? 0) + 1 }
        return Double(max(0, dots - 1)) * scale
    }

    /// Returns `text` truncated in the middle to `width` pixels.
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

    /// Returns `text` in lines of at most `width` pixels, wrapped between words.
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
        // Digits have a fixed width, so that numbers in a column line up.
        let inked = isDigit ? Array(columns) : columns.filter { column in rows.contains { $0[column] } }
        let first = inked.first ?? 0
        let last = inked.last ?? 0
        var ink = rows.map { [false] + $0[first...last] + [false] }
        for _ in 0..<3 { ink = doubled(ink) }
        return Glyph(width: last - first + 1, ink: ink)
    }

    /// Doubles the dots of a glyph and smooths its edges. A quarter takes the value of its two neighbors if they're
    /// equal and the opposite neighbors differ (Eric's Pixel Expansion, 1992).
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
