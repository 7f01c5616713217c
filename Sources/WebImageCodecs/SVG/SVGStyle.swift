// SPDX-License-Identifier: MIT

#if SVG
    import WebImageCore

    /// The properties of an element that determine the time for drawing it.
    ///
    /// If several rules set a property, all of their values count, regardless of their precedence.
    struct SVGStyle {
        /// A property whose values can refer to other elements.
        enum Reference: Int, CaseIterable {
            case fill, stroke, markerStart, markerMid, markerEnd, filter, mask, clipPath

            static let markers: [Reference] = [.markerStart, .markerMid, .markerEnd]
            static let effects: [Reference] = [.filter, .mask, .clipPath]

            /// The name of the property in stylesheets.
            var name: String {
                switch self {
                case .fill: "fill"
                case .stroke: "stroke"
                case .markerStart: "marker-start"
                case .markerMid: "marker-mid"
                case .markerEnd: "marker-end"
                case .filter: "filter"
                case .mask: "mask"
                case .clipPath: "clip-path"
                }
            }

            /// Whether elements without a value have that of their parent.
            fileprivate var isInherited: Bool { rawValue < Reference.filter.rawValue }

            /// Returns whether a value is certainly valid.
            fileprivate func accepts(_ value: String) -> Bool {
                switch self {
                case .fill, .stroke: SVGValueSyntax.isPaint(value)
                default: SVGValueSyntax.isReference(value)
                }
            }

            /// Returns the properties that a declaration sets.
            static func properties(_ name: String) -> [Reference] {
                if name == "marker" { return markers }
                return allCases.first { $0.name == name }.map { [$0] } ?? []
            }
        }

        /// The values of a property that refers to other elements.
        private struct Targets {
            var identifiers: Set<SVGIdentifier> = []
            /// Whether one of the element's own values certainly applies, or `nil` if the element has none.
            var isValid: Bool?
            /// Whether one of the values can be the keyword `inherit`.
            var isInheriting = false
            /// Whether the element has no reference, regardless of stylesheets.
            var isExcluded = false

            mutating func formUnion(_ rule: Targets) {
                guard !isExcluded else { return }
                identifiers.formUnion(rule.identifiers)
                // It's not certain that the rule applies.
                if rule.isValid == false, isValid != nil { isValid = false }
                isInheriting = isInheriting || rule.isInheriting
            }
        }

        private var targets = Array(repeating: Targets(), count: Reference.allCases.count)
        /// The number of layers for opacity and blending.
        private(set) var layers = 0
        /// The number of filter functions, such as `blur()`.
        private(set) var filterFunctions = 0
        private(set) var strokeWidth: Double?
        /// Whether the element's own stroke width certainly applies, or `nil` if the element has none.
        private var hasValidWidth: Bool?
        private(set) var hasStroke = false
        private(set) var dashPeriod: Double?
        /// The maximum factor by which transforms enlarge lengths.
        private(set) var scale = 1.0

        init() {}

        init(_ declarations: [SVGDeclaration]) throws(ImageError) {
            for declaration in declarations { try apply(declaration) }
        }

        /// Returns the identifiers to which properties refer.
        func targets(of references: [Reference]) -> Set<SVGIdentifier> {
            references.reduce(into: []) { $0.formUnion(targets[$1.rawValue].identifiers) }
        }

        /// The identifiers to which all properties refer.
        var allTargets: Set<SVGIdentifier> { targets(of: Reference.allCases) }

        /// Adds a declaration of a stylesheet or of a `style` attribute.
        mutating func apply(_ declaration: SVGDeclaration) throws(ImageError) {
            let (value, isImportant) = declaration.priority
            try apply(declaration.name, value, isImportant: isImportant)
        }

        /// Adds a presentation attribute or a declaration without its priority.
        mutating func apply(_ name: String, _ value: String, isImportant: Bool = false) throws(ImageError) {
            switch name {
            case "fill", "stroke", "marker", "marker-start", "marker-mid", "marker-end", "mask", "clip-path":
                set(name, value, isImportant)
            case "filter":
                set(name, value, isImportant)
                filterFunctions += value.utf8.count { $0 == 0x28 }
                try DrawingBounds.check(filterFunctions, SVGBounds.filterPrimitives, "filters of one element")
            case "opacity": if SVGNumbers.all(value, limit: 1) != [1] { layers = 1 }
            case "mix-blend-mode", "isolation": if value != "normal", value != "auto" { layers = 1 }
            case "stroke-width":
                strokeWidth = max(strokeWidth ?? 0, Self.length(value))
                hasValidWidth = (hasValidWidth ?? true) && SVGValueSyntax.isLength(value)
            case "stroke-dasharray": applyDashes(value)
            case "font-size", "font":
                try DrawingBounds.check(Self.length(value), SVGBounds.fontSize, "units of font size")
            case "transform", "patternTransform": scale = max(scale, Self.scale(value))
            default: break
            }
        }

        /// Adds the properties of a rule that can apply to the element.
        mutating func formUnion(_ rule: SVGStyle) throws(ImageError) {
            for place in targets.indices { targets[place].formUnion(rule.targets[place]) }
            layers = max(layers, rule.layers)
            filterFunctions += rule.filterFunctions
            if let width = rule.strokeWidth {
                strokeWidth = max(strokeWidth ?? 0, width)
                // It's not certain that the rule applies.
                hasValidWidth = false
            }
            hasStroke = hasStroke || rule.hasStroke
            if let period = rule.dashPeriod { dashPeriod = min(dashPeriod ?? .infinity, period) }
            scale = max(scale, rule.scale)
            try DrawingBounds.check(filterFunctions, SVGBounds.filterPrimitives, "filters of one element")
            try checkTargets()
        }

        /// Adds the values that the element can have from its parent.
        mutating func inherit(_ parent: SVGStyle) throws(ImageError) {
            for reference in Reference.allCases {
                let own = targets[reference.rawValue]
                let mayInherit = own.isInheriting || reference.isInherited && own.isValid != true
                guard mayInherit, !own.isExcluded else { continue }
                targets[reference.rawValue].identifiers.formUnion(parent.targets[reference.rawValue].identifiers)
                if reference == .filter { filterFunctions += parent.filterFunctions }
            }
            // Without a valid width, the width is that of the parent, or 1.
            if hasValidWidth != true, strokeWidth != nil || parent.strokeWidth != nil {
                strokeWidth = max(strokeWidth ?? 0, parent.strokeWidth ?? 1)
            }
            hasStroke = hasStroke || parent.hasStroke
            if let period = parent.dashPeriod { dashPeriod = min(dashPeriod ?? .infinity, period) }
            try DrawingBounds.check(filterFunctions, SVGBounds.filterPrimitives, "filters of one element")
            try checkTargets()
        }

        /// Removes all references to an element, and returns the properties that had them.
        mutating func exclude(_ target: SVGIdentifier) -> [Reference] {
            let references = Reference.allCases.filter { targets[$0.rawValue].identifiers.contains(target) }
            for reference in references {
                targets[reference.rawValue] = Targets(isValid: true, isExcluded: true)
            }
            return references
        }

        private func checkTargets() throws(ImageError) {
            let count = targets.reduce(0) { $0 + $1.identifiers.count }
            try DrawingBounds.check(count, 64, "references of one element")
        }

        private mutating func set(_ name: String, _ value: String, _ isImportant: Bool) {
            if name == "stroke" { hasStroke = true }
            for reference in Reference.properties(name) {
                var own = targets[reference.rawValue]
                // Nothing has a higher precedence than an important declaration of the element.
                guard !own.isExcluded || isImportant else { continue }
                if isImportant, value == "none" {
                    own = Targets(isValid: true, isExcluded: true)
                } else {
                    own.identifiers.formUnion(Self.identifiers(in: value))
                    own.isValid = (own.isValid ?? true) && reference.accepts(value)
                    own.isInheriting = own.isInheriting || value.lowercased().contains("inherit")
                    own.isExcluded = false
                }
                targets[reference.rawValue] = own
            }
        }

        private mutating func applyDashes(_ value: String) {
            let numbers = SVGNumbers.all(value)
            let sum = numbers.reduce(0) { $0 + abs($1) } * (value.contains("%") ? 0.01 : 1)
            // Without a positive sum, the line is solid.
            if sum > 0 { dashPeriod = min(dashPeriod ?? .infinity, sum) }
        }

        /// Returns the largest number of a value. A relative unit counts as user units.
        private static func length(_ value: String) -> Double { SVGNumbers.all(value, limit: 16).map(abs).max() ?? 0 }

        /// Returns the identifiers in the `url()` functions of a value (CSS Syntax 3, sections 4.3.4 and 4.3.6).
        private static func identifiers(in value: String) -> Set<SVGIdentifier> {
            var identifiers: Set<SVGIdentifier> = []
            var rest = Array(value.utf8)[...]
            while let paren = rest.firstIndex(of: 0x28) {
                let isAddress = rest[..<paren].suffix(3).map { $0 | 0x20 }.elementsEqual("url".utf8)
                rest = rest[(paren + 1)...]
                guard isAddress else { continue }
                var address = rest.drop(while: SVGNesting.isSpace)
                let quote = address.first.flatMap { $0 == 0x22 || $0 == 0x27 ? $0 : nil }
                if quote != nil { address.removeFirst() }
                address = address.prefix { $0 != quote ?? 0x29 }
                rest = rest[address.endIndex...]
                // Spaces are a part of a quoted URL.
                while quote == nil, let last = address.last, SVGNesting.isSpace(last) { address.removeLast() }
                if address.first == 0x23 { identifiers.insert(SVGIdentifier(address.dropFirst())) }
            }
            return identifiers
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
