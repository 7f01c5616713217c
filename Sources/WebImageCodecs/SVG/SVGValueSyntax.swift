// SPDX-License-Identifier: MIT

#if SVG
    /// The values that certainly have a valid syntax. For other values, an element can have the value of its parent,
    /// because librsvg ignores invalid ones.
    enum SVGValueSyntax {
        /// Returns whether a value is `none`, a color, or a reference to an element.
        static func isPaint(_ value: String) -> Bool {
            let text = value.lowercased()
            return isReference(text) || colors.contains(text) || isHexadecimalColor(text) || isColorFunction(text)
        }

        /// Returns whether a value is `none` or a reference to an element.
        static func isReference(_ value: String) -> Bool {
            let text = value.lowercased()
            if text == "none" { return true }
            guard text.hasPrefix("url(#"), text.hasSuffix(")") else { return false }
            let name = text.utf8.dropFirst(5).dropLast()
            return !name.isEmpty && name.allSatisfy { isDigit($0) || isLetter($0) || $0 == 0x2D || $0 == 0x5F }
        }

        /// Returns whether a value is a length that isn't negative.
        static func isLength(_ value: String) -> Bool {
            let text = value.lowercased().utf8
            let number = text.prefix { isDigit($0) || $0 == 0x2E }
            let parts = number.split(separator: 0x2E, omittingEmptySubsequences: false)
            guard parts.count <= 2, let fraction = parts.last, !fraction.isEmpty else { return false }
            return units.contains(String(decoding: text.dropFirst(number.count), as: UTF8.self))
        }

        private static func isHexadecimalColor(_ text: String) -> Bool {
            guard text.utf8.first == 0x23 else { return false }
            let digits = text.utf8.dropFirst()
            return (digits.count == 3 || digits.count == 6)
                && digits.allSatisfy { isDigit($0) || (0x61...0x66).contains($0) }
        }

        private static func isColorFunction(_ text: String) -> Bool {
            guard text.utf8.starts(with: "rgb(".utf8), text.utf8.last == 0x29 else { return false }
            let parts = text.utf8.dropFirst(4).dropLast().split(separator: 0x2C, omittingEmptySubsequences: false)
            return parts.count == 3
                && parts.allSatisfy { part in
                    let digits = part.drop { $0 == 0x20 }
                    return (1...3).contains(digits.count) && digits.allSatisfy(isDigit)
                }
        }

        private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
        private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

        private static let units: Set<String> = ["", "px", "em", "ex", "in", "cm", "mm", "pt", "pc", "%"]

        /// The color keywords of CSS Color 4, sections 6.1 to 6.3.
        private static let colors: Set<String> = [
            "aliceblue", "antiquewhite", "aqua", "aquamarine", "azure", "beige", "bisque", "black", "blanchedalmond",
            "blue", "blueviolet", "brown", "burlywood", "cadetblue", "chartreuse", "chocolate", "coral",
            "cornflowerblue", "cornsilk", "crimson", "currentcolor", "cyan", "darkblue", "darkcyan", "darkgoldenrod",
            "darkgray", "darkgreen", "darkgrey", "darkkhaki", "darkmagenta", "darkolivegreen", "darkorange",
            "darkorchid", "darkred", "darksalmon", "darkseagreen", "darkslateblue", "darkslategray", "darkslategrey",
            "darkturquoise", "darkviolet", "deeppink", "deepskyblue", "dimgray", "dimgrey", "dodgerblue", "firebrick",
            "floralwhite", "forestgreen", "fuchsia", "gainsboro", "ghostwhite", "gold", "goldenrod", "gray", "green",
            "greenyellow", "grey", "honeydew", "hotpink", "indianred", "indigo", "ivory", "khaki", "lavender",
            "lavenderblush", "lawngreen", "lemonchiffon", "lightblue", "lightcoral", "lightcyan",
            "lightgoldenrodyellow", "lightgray", "lightgreen", "lightgrey", "lightpink", "lightsalmon",
            "lightseagreen", "lightskyblue", "lightslategray", "lightslategrey", "lightsteelblue", "lightyellow",
            "lime", "limegreen", "linen", "magenta", "maroon", "mediumaquamarine", "mediumblue", "mediumorchid",
            "mediumpurple", "mediumseagreen", "mediumslateblue", "mediumspringgreen", "mediumturquoise",
            "mediumvioletred", "midnightblue", "mintcream", "mistyrose", "moccasin", "navajowhite", "navy", "oldlace",
            "olive", "olivedrab", "orange", "orangered", "orchid", "palegoldenrod", "palegreen", "paleturquoise",
            "palevioletred", "papayawhip", "peachpuff", "peru", "pink", "plum", "powderblue", "purple", "red",
            "rosybrown", "royalblue", "saddlebrown", "salmon", "sandybrown", "seagreen", "seashell", "sienna",
            "silver", "skyblue", "slateblue", "slategray", "slategrey", "snow", "springgreen", "steelblue", "tan",
            "teal", "thistle", "tomato", "transparent", "turquoise", "violet", "wheat", "white", "whitesmoke",
            "yellow", "yellowgreen",
        ]
    }
#endif
