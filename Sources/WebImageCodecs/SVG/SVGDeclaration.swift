// SPDX-License-Identifier: MIT

#if SVG
    /// A declaration of a stylesheet or of a `style` attribute.
    struct SVGDeclaration: Hashable {
        /// The name of the property in lowercase. The names of custom properties keep their case.
        let name: String
        let value: String

        var isCustom: Bool { name.hasPrefix("--") }

        var text: String { "\(name):\(value);" }

        /// Returns the value without `!important`, and whether the value ends with it.
        var priority: (value: String, isImportant: Bool) {
            guard let mark = value.lastIndex(of: "!"),
                value[value.index(after: mark)...].trimmed.lowercased() == "important"
            else { return (value, false) }
            return (value[..<mark].trimmed, true)
        }

        /// Creates the declaration with which an element gets the value that it has without any declaration (`unset` of
        /// CSS Cascade 4, section 7.3.3), or returns `nil` if the property is unknown. librsvg 2.54 knows only the
        /// keyword `inherit`.
        init?(unsetting name: String) {
            if Self.inherited.contains(name) {
                self.init(name: name, value: "inherit")
            } else if let initial = Self.initialValues[name] {
                self.init(name: name, value: initial)
            } else {
                return nil
            }
        }

        init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// Returns whether an attribute of an element is a presentation attribute, whose value has the syntax of CSS
        /// (SVG 2, section 6.6).
        static func isProperty(_ name: String) -> Bool {
            inherited.contains(name) || initialValues[name] != nil || geometry.contains(name)
        }

        /// The properties of SVG 2 that elements inherit.
        private static let inherited: Set<String> = [
            "clip-rule", "color", "color-interpolation", "color-interpolation-filters", "cursor", "direction", "fill",
            "fill-opacity", "fill-rule", "font", "font-family", "font-size", "font-stretch", "font-style",
            "font-variant", "font-weight", "glyph-orientation-vertical", "image-rendering", "letter-spacing",
            "line-height", "marker", "marker-end", "marker-mid", "marker-start", "paint-order", "pointer-events",
            "shape-rendering", "stroke", "stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin",
            "stroke-miterlimit", "stroke-opacity", "stroke-width", "text-anchor", "text-rendering", "visibility",
            "word-spacing", "writing-mode",
        ]

        /// The initial values of the other properties.
        private static let initialValues: [String: String] = [
            "baseline-shift": "baseline", "clip-path": "none", "display": "inline", "filter": "none",
            "flood-color": "black", "flood-opacity": "1", "isolation": "auto", "lighting-color": "white",
            "mask": "none", "mask-type": "luminance", "mix-blend-mode": "normal", "opacity": "1",
            "overflow": "visible", "stop-color": "black", "stop-opacity": "1", "text-decoration": "none",
            "unicode-bidi": "normal", "vector-effect": "none",
        ]

        /// The attributes whose initial value is the same as that of a missing attribute.
        private static let geometry: Set<String> = ["cx", "cy", "height", "r", "rx", "ry", "width", "x", "y"]
    }
#endif
