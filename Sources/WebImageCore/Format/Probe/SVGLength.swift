// SPDX-License-Identifier: MIT

/// A parser for numbers and lengths in SVG attributes.
enum SVGLength {
    /// The number of pixels per unit (CSS Values and Units 4, section 6.2). An inch has 96 pixels.
    private static let units: [Substring: Double] = [
        "": 1, "px": 1, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6, "pt": 96 / 72, "pc": 16,
    ]

    /// The number of font sizes per unit. Without the metrics of a font, an x and a zero are half as large as the font
    /// (CSS Values and Units 4, section 6.1.1).
    private static let fontUnits: [Substring: Double] = ["em": 1, "rem": 1, "ex": 0.5, "ch": 0.5]

    /// Returns a length in pixels, or `nil` if it's relative or invalid. Without a font size, which is in pixels, units
    /// that refer to it are relative.
    static func pixels(_ text: String, fontSize: Double? = nil) -> Double? {
        let trimmed = text.drop(while: isSeparator)
        let (value, rest) = number(trimmed)
        let suffix = Substring(rest.prefix { !isSeparator($0) }.lowercased())
        let relative = fontSize.flatMap { size in fontUnits[suffix].map { $0 * size } }
        guard let value, let factor = units[suffix] ?? relative else { return nil }
        return (value * factor).isFinite ? value * factor : nil
    }

    /// Returns numbers that whitespace or commas separate, up to five.
    static func numbers(_ text: String) -> [Double] {
        var numbers: [Double] = []
        var rest = text.drop(while: isSeparator)
        while numbers.count < 5 {
            let (value, next) = number(rest)
            guard let value else { break }
            numbers.append(value)
            rest = next.drop(while: isSeparator)
        }
        return numbers
    }

    private static func isSeparator(_ character: Character) -> Bool { character.isWhitespace || character == "," }

    /// Returns the number at the start of `text` and the rest. An exponent requires digits, so the `e` of `1em`
    /// belongs to the unit.
    private static func number(_ text: Substring) -> (Double?, Substring) {
        var end = text.startIndex
        func skip(_ isWanted: (Character) -> Bool) {
            while end < text.endIndex, isWanted(text[end]) { end = text.index(after: end) }
        }
        func isDigit(_ character: Character) -> Bool { "0"..."9" ~= character }
        if end < text.endIndex, text[end] == "-" || text[end] == "+" { end = text.index(after: end) }
        skip(isDigit)
        if end < text.endIndex, text[end] == "." {
            end = text.index(after: end)
            skip(isDigit)
        }
        let mantissa = end
        if end < text.endIndex, text[end] == "e" || text[end] == "E" {
            end = text.index(after: end)
            if end < text.endIndex, text[end] == "-" || text[end] == "+" { end = text.index(after: end) }
            let digits = end
            skip(isDigit)
            if end == digits { end = mantissa }
        }
        guard let value = Double(text[..<end]), value.isFinite else { return (nil, text) }
        return (value, text[end...])
    }
}
