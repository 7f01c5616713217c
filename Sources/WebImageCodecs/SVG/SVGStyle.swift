// SPDX-License-Identifier: MIT

#if SVG
    import WebImageCore

    /// The properties of an element that determine the time for drawing it.
    ///
    /// If several rules set a property, all of their values count, regardless of their precedence.
    struct SVGStyle {
        /// The properties whose references an element inherits.
        enum Paint: Int, CaseIterable { case fill, stroke, marker }

        /// The reference targets of each paint, or `nil` if the property isn't set. An empty string means that the
        /// value can also be inherited.
        private(set) var paints: [Set<String>?] = [nil, nil, nil]
        /// The reference targets of filters, masks, and clip paths.
        private(set) var effects: Set<String> = []
        /// The number of layers for opacity and blending.
        private(set) var layers = 0
        /// The number of filter functions, such as `blur()`.
        private(set) var filterFunctions = 0
        private(set) var strokeWidth: Double?
        private(set) var dashPeriod: Double?
        /// The maximum factor by which transforms enlarge lengths.
        private(set) var scale = 1.0

        init() {}

        init(_ declarations: [SVGDeclaration]) throws(ImageError) {
            for declaration in declarations { try apply(declaration.name, declaration.value) }
        }

        /// Adds a presentation attribute or a declaration.
        mutating func apply(_ name: String, _ value: String) throws(ImageError) {
            switch name {
            case "fill": add(value, .fill)
            case "stroke": add(value, .stroke)
            case "marker", "marker-start", "marker-mid", "marker-end": add(value, .marker)
            case "filter":
                effects.formUnion(Self.targets(value))
                filterFunctions += value.utf8.count { $0 == 0x28 }
                try DrawingBounds.check(filterFunctions, SVGBounds.filterPrimitives, "filters of one element")
            case "mask", "clip-path": effects.formUnion(Self.targets(value))
            case "opacity": if SVGNumbers.all(value, limit: 1) != [1] { layers = 1 }
            case "mix-blend-mode", "isolation": if value != "normal", value != "auto" { layers = 1 }
            case "stroke-width": strokeWidth = max(strokeWidth ?? 0, Self.length(value))
            case "stroke-dasharray": applyDashes(value)
            case "font-size", "font":
                try DrawingBounds.check(Self.length(value), SVGBounds.fontSize, "units of font size")
            case "transform", "patternTransform": scale = max(scale, Self.scale(value))
            default: break
            }
        }

        /// Adds the properties of another rule for the same element.
        mutating func formUnion(_ other: SVGStyle) throws(ImageError) {
            for paint in Paint.allCases {
                guard let targets = other.paints[paint.rawValue] else { continue }
                paints[paint.rawValue] = (paints[paint.rawValue] ?? []).union(targets)
            }
            effects.formUnion(other.effects)
            layers = max(layers, other.layers)
            filterFunctions += other.filterFunctions
            if let width = other.strokeWidth { strokeWidth = max(strokeWidth ?? 0, width) }
            if let period = other.dashPeriod { dashPeriod = min(dashPeriod ?? .infinity, period) }
            scale = max(scale, other.scale)
            try DrawingBounds.check(filterFunctions, SVGBounds.filterPrimitives, "filters of one element")
            try DrawingBounds.check(
                paints.reduce(effects.count) { $0 + ($1?.count ?? 0) }, 64, "references of one element")
        }

        mutating func inherit(_ parent: SVGStyle) throws(ImageError) {
            for place in paints.indices {
                guard let own = paints[place] else {
                    paints[place] = parent.paints[place]
                    continue
                }
                if own.contains("") { paints[place] = own.union(parent.paints[place] ?? []) }
            }
            strokeWidth = strokeWidth ?? parent.strokeWidth
            dashPeriod = dashPeriod ?? parent.dashPeriod
        }

        private mutating func add(_ value: String, _ paint: Paint) {
            let targets = Self.targets(value)
            let isOpen = value.contains("inherit") || value.contains("context") || value.contains("current")
            paints[paint.rawValue] = (paints[paint.rawValue] ?? []).union(isOpen ? targets.union([""]) : targets)
        }

        private mutating func applyDashes(_ value: String) {
            let numbers = SVGNumbers.all(value)
            let sum = numbers.reduce(0) { $0 + abs($1) } * (value.contains("%") ? 0.01 : 1)
            // Without a positive sum, the line is solid.
            if sum > 0 { dashPeriod = min(dashPeriod ?? .infinity, sum) }
        }

        /// Returns the largest number of a value. A relative unit counts as user units.
        private static func length(_ value: String) -> Double { SVGNumbers.all(value, limit: 16).map(abs).max() ?? 0 }

        /// Returns the identifiers in the `url()` functions of a value.
        static func targets(_ value: String) -> Set<String> {
            var targets: Set<String> = []
            var rest = Substring(value)
            while let paren = rest.firstIndex(of: "(") {
                let isAddress = rest[..<paren].lowercased().hasSuffix("url")
                rest = rest[rest.index(after: paren)...]
                guard isAddress else { continue }
                var address = rest.drop { $0.isWhitespace }
                let quote = address.first.flatMap { $0 == "\"" || $0 == "'" ? $0 : nil }
                if quote != nil { address = address.dropFirst() }
                address = address.prefix { $0 != quote ?? ")" }
                rest = rest[address.endIndex...]
                if let start = address.firstIndex(where: { !$0.isWhitespace }), address[start] == "#" {
                    targets.insert(address[start...].dropFirst().trimmed)
                }
            }
            return targets
        }

        private static func scale(_ value: String) -> Double {
            var scale = 1.0
            for function in value.split(separator: ")") {
                guard let paren = function.firstIndex(of: "(") else { continue }
                let name = function[..<paren].lowercased()
                let numbers = SVGNumbers.all(String(function[paren...]), limit: 6).map(abs)
                guard let first = numbers.first else { continue }
                if name.contains("scale") {
                    scale *= numbers.max() ?? 1
                } else if name.contains("matrix") {
                    scale *= min(1e150, numbers.prefix(4).reduce(0) { $0 + $1 })
                } else if name.contains("skew") {
                    scale *= 1 + abs(tangent(ofDegrees: first))
                }
                scale = min(scale, 1e150)
            }
            return max(scale, 1e-150)
        }

        /// Returns an upper bound of the tangent near its poles.
        private static func tangent(ofDegrees degrees: Double) -> Double {
            return 60 / max(abs(degrees.truncatingRemainder(dividingBy: 180) - 90), 1e-9)
        }
    }

    extension Substring {
        var trimmed: String {
            var text = self
            while text.first?.isWhitespace ?? false { text.removeFirst() }
            while text.last?.isWhitespace ?? false { text.removeLast() }
            return String(text)
        }
    }
#endif
