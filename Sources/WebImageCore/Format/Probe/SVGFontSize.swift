// SPDX-License-Identifier: MIT

/// The font size of the root element of an SVG document, to which some units of lengths refer (CSS Values and Units 4,
/// section 6.1).
///
/// The `font-size` attribute and the `style` attribute of the root element determine the size. Stylesheets have no
/// effect, because they aren't a part of the header.
package struct SVGFontSize: Sendable, Hashable {
    /// The size that browsers use for text without a font size, in pixels.
    private static let initial = 16.0
    /// The sizes of the keywords in browsers, in pixels (CSS Fonts 4, section 2.5).
    private static let keywords: [String: Double] = [
        "xx-small": 9, "x-small": 10, "small": 13, "medium": 16, "large": 18, "x-large": 24, "xx-large": 32,
        "xxx-large": 48, "smaller": 16 / 1.2, "larger": 16 * 1.2,
    ]

    /// The size, in pixels.
    package let pixels: Double

    /// Creates the font size of a root element.
    ///
    /// - Parameters:
    ///   - attribute: The value of the `font-size` attribute, or `nil` if it's missing.
    ///   - style: The declarations in the `style` attribute, or `nil` if it's missing. They take precedence.
    package init(attribute: String?, style: String?) {
        let declared = style.flatMap(Self.declaredSize)
        pixels = declared ?? attribute.flatMap(Self.size) ?? Self.initial
    }

    /// Returns a length in pixels, or `nil` if it's a percentage or invalid.
    package func length(_ text: String) -> Double? { SVGLength.pixels(text, fontSize: pixels) }

    /// Returns a length in pixels if its unit refers to the font size, or `nil` otherwise.
    package func relativeLength(_ text: String) -> Double? { SVGLength.pixels(text) == nil ? length(text) : nil }

    /// Returns whether declarations set the font size.
    package static func isDeclared(in style: String) -> Bool { declaredSize(style) != nil }

    /// Returns the size in the last declaration that sets it.
    private static func declaredSize(_ style: String) -> Double? {
        var result: Double?
        for declaration in style.split(separator: ";") {
            guard let colon = declaration.firstIndex(of: ":") else { continue }
            let value = String(declaration[declaration.index(after: colon)...].prefix { $0 != "!" })
            switch declaration[..<colon].filter({ !$0.isWhitespace }).lowercased() {
            case "font-size": result = size(value) ?? result
            case "font": result = shorthandSize(value) ?? result
            default: break
            }
        }
        return result
    }

    private static func size(_ text: String) -> Double? {
        let value = text.lowercased().filter { !$0.isWhitespace }
        if let size = keywords[value] { return size }
        let size =
            value.hasSuffix("%")
            ? SVGLength.numbers(value).first.map { $0 / 100 * initial } : SVGLength.pixels(value, fontSize: initial)
        return size.flatMap { $0 >= 0 && $0.isFinite ? $0 : nil }
    }

    /// Returns the size in a shorthand, such as `bold 20px/1.5 serif`. Numbers without a unit are weights.
    private static func shorthandSize(_ text: String) -> Double? {
        for word in text.split(whereSeparator: { $0.isWhitespace }) {
            let value = String(word.prefix { $0 != "/" })
            guard value.last.map({ !("0"..."9" ~= $0) }) ?? false else { continue }
            if let size = size(value) { return size }
        }
        return nil
    }
}
