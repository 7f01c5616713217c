// SPDX-License-Identifier: MIT

#if SVG
    import WebImageCore

    /// The custom properties of an SVG document, and the substitution of `var()` (CSS Custom Properties for Cascading
    /// Variables 1). librsvg doesn't know them, so it receives a document without them.
    ///
    /// Definitions can be in `style` attributes and in rules whose selectors ``SVGSelector`` supports. The content of a
    /// `use` element has the custom properties of the place where it's defined.
    struct SVGCustomProperties {
        /// The custom properties of elements that differ from those of their parents.
        private struct Scope {
            var parent: Int?
            /// The values, or `nil` for properties that are invalid.
            var values: [String: String?] = [:]
        }

        /// The definitions of an element, before references are substituted.
        private struct Definitions: Hashable {
            var scope: Int
            var values: [String: String]
        }

        /// A rule that defines custom properties.
        private struct Rule {
            var selector: SVGSelector
            var declarations: [SVGDeclaration]
        }

        private var scopes = [Scope()]
        private var known: [Definitions: Int] = [:]
        private(set) var scopeOfElement: [Int] = []
        /// Whether elements must have the attribute ``scopeAttribute``, because a rule has different values for them.
        private(set) var dividesRules = false
        static let scopeAttribute = "webimage-scope"

        /// The total size of all substituted texts, in bytes.
        private var bytes = 0
        /// The steps for comparing elements with selectors.
        private var steps = 0
        /// The definitions that are being substituted, the results so far, and the properties that are in progress.
        private var definitions: [String: String] = [:]
        private var results: [String: String?] = [:]
        private var path: [String] = []
        private var cyclic: Set<String> = []

        /// Finds the scopes of all elements. Throws an ``ImageError/LimitFailure`` if the substituted texts are too
        /// large.
        init(_ elements: [SVGDocument.Element], _ sheets: [SVGStyleSheet]) throws(ImageError) {
            var rules: [Rule] = []
            var places: [SVGStyleSheet.Key: [Int]] = [:]
            for rule in sheets.flatMap(\.rules) {
                let custom = rule.declarations.filter(\.isCustom)
                guard !custom.isEmpty else { continue }
                for (selector, key) in zip(rule.selectors, rule.keys) {
                    guard let selector = SVGSelector(selector) else { continue }
                    places[key, default: []].append(rules.count)
                    rules.append(Rule(selector: selector, declarations: custom))
                }
            }
            scopeOfElement.reserveCapacity(elements.count)
            for (index, element) in elements.enumerated() {
                let parent = element.parent.map { scopeOfElement[$0] } ?? 0
                var found: [Int] = []
                for key in rules.isEmpty ? [] : element.keys { found += places[key] ?? [] }
                let matching = try matches(of: found, rules, element: index, elements)
                let own = Self.cascade(matching.map(\.declarations) + [element.pendingDeclarations])
                let scope = own.isEmpty ? parent : try scope(in: parent, defining: own)
                scopeOfElement.append(scope)
            }
        }

        /// Returns the rules that match an element, from the weakest to the strongest one.
        private mutating func matches(
            of candidates: [Int], _ rules: [Rule], element: Int, _ elements: [SVGDocument.Element]
        ) throws(ImageError) -> [Rule] {
            guard !candidates.isEmpty else { return [] }
            let depth = elements[element].depth + 1
            var matching: [Int] = []
            for place in Set(candidates).sorted() {
                steps += rules[place].selector.steps(depth: depth)
                try DrawingBounds.check(steps, SVGBounds.selectorSteps, "steps for matching selectors")
                if rules[place].selector.matches(element, elements) { matching.append(place) }
            }
            let order = matching.sorted {
                (rules[$0].selector.specificity, $0) < (rules[$1].selector.specificity, $1)
            }
            return order.map { rules[$0] }
        }

        /// Returns the definitions that apply if each list is stronger than those before it.
        private static func cascade(_ lists: [[SVGDeclaration]]) -> [String: String] {
            var values: [String: String] = [:]
            for important in [false, true] {
                for declaration in lists.joined() where declaration.isCustom {
                    let (value, isImportant) = declaration.priority
                    if isImportant == important { values[declaration.name] = value }
                }
            }
            return values
        }

        // MARK: Values

        private mutating func scope(in parent: Int, defining values: [String: String]) throws(ImageError) -> Int {
            let own = Definitions(scope: parent, values: values)
            if let scope = known[own] { return scope }
            definitions = values
            results = [:]
            cyclic = []
            for name in values.keys.sorted() { _ = try resolve(name, parent, 0) }
            scopes.append(Scope(parent: parent, values: results))
            definitions = [:]
            results = [:]
            known[own] = scopes.count - 1
            return scopes.count - 1
        }

        /// Returns the value of one of the current definitions, or `nil` if it's invalid.
        private mutating func resolve(_ name: String, _ scope: Int, _ depth: Int) throws(ImageError) -> String? {
            if let result = results[name] { return result }
            if let start = path.firstIndex(of: name) {
                // All properties of a cycle are invalid.
                cyclic.formUnion(path[start...])
                return nil
            }
            path.append(name)
            let text = definitions[name] ?? ""
            var result: String?
            switch text.lowercased() {
            case "initial": result = nil
            case "inherit", "unset", "revert", "revert-layer": result = inheritedValue(of: name, scope)
            default: result = try expand(Array(text.utf8), scope, depth + 1)
            }
            path.removeLast()
            if cyclic.contains(name) { result = nil }
            results.updateValue(result, forKey: name)
            return result
        }

        private func inheritedValue(of name: String, _ scope: Int) -> String? {
            var place: Int? = scope
            while let current = place {
                if let value = scopes[current].values[name] { return value }
                place = scopes[current].parent
            }
            return nil
        }

        /// Returns a value without references, or `nil` if a reference is invalid.
        mutating func substitute(_ value: String, scope: Int) throws(ImageError) -> String? {
            try expand(Array(value.utf8), scope, 0)
        }

        private mutating func expand(_ text: [UInt8], _ scope: Int, _ depth: Int) throws(ImageError) -> String? {
            try DrawingBounds.check(depth, SVGBounds.variableDepth, "nested references to custom properties")
            var output: [UInt8] = []
            var reader = SVGReferences(text)
            while let part = reader.next() {
                switch part {
                case .text(let plain): Self.append(plain[...], to: &output)
                case .invalid: return nil
                case .reference(let name, let fallback):
                    var value =
                        definitions[name] == nil
                        ? inheritedValue(of: name, scope) : try resolve(name, scope, depth)
                    if value == nil, let fallback { value = try expand(fallback, scope, depth + 1) }
                    guard let value else { return nil }
                    Self.append(Array(value.utf8)[...], to: &output)
                }
                try DrawingBounds.check(bytes + output.count, SVGBounds.variableBytes, "bytes of custom properties")
            }
            bytes += output.count
            return String(decoding: output, as: UTF8.self)[...].trimmed
        }

        /// Appends a text. A space prevents that two words become one, because a substitution never joins them.
        private static func append(_ text: ArraySlice<UInt8>, to output: inout [UInt8]) {
            if let last = output.last, let first = text.first, SVGReferences.isWord(last), SVGReferences.isWord(first) {
                output.append(0x20)
            }
            output += text
        }

        // MARK: Documents

        /// Returns declarations without custom properties and references. If a reference is invalid, the property has
        /// the value that it has without a declaration (“invalid at computed-value time”).
        mutating func resolved(_ declarations: [SVGDeclaration], scope: Int) throws(ImageError) -> [SVGDeclaration] {
            var result: [SVGDeclaration] = []
            for declaration in declarations where !declaration.isCustom {
                guard SVGReferences.occur(in: declaration.value) else {
                    result.append(declaration)
                    continue
                }
                // The text of a reference can make the value end early, or join with the text before it.
                if let value = try substitute(declaration.value, scope: scope), SVGNesting.isComplete(value.utf8) {
                    result.append(SVGDeclaration(name: declaration.name, value: value))
                } else if let unset = SVGDeclaration(unsetting: declaration.name) {
                    result.append(unset)
                }
            }
            return result
        }

        /// Returns the stylesheets without custom properties and references.
        ///
        /// If a rule has different values for different elements, the result contains a copy of the rule for each
        /// scope. The copies have an additional attribute selector. So that they don’t become stronger than other
        /// rules, the other rules also get an attribute selector, see ``SVGStyleSheet/text(isScoped:)``.
        mutating func resolved(
            _ sheets: [SVGStyleSheet], _ elements: [SVGDocument.Element]
        ) throws(ImageError) -> [SVGStyleSheet] {
            var scopesOfKeys: [SVGStyleSheet.Key: Set<Int>] = [:]
            for (index, element) in elements.enumerated() {
                for key in element.keys { scopesOfKeys[key, default: []].insert(scopeOfElement[index]) }
            }
            var copies = 0
            var result: [SVGStyleSheet] = []
            for sheet in sheets {
                var rules: [SVGStyleSheet.Rule] = []
                for rule in sheet.rules {
                    guard rule.hasCustomProperties else {
                        rules.append(rule)
                        continue
                    }
                    let scopes = rule.keys.reduce(into: Set<Int>()) { $0.formUnion(scopesOfKeys[$1] ?? []) }
                    copies += scopes.count
                    try DrawingBounds.check(copies, SVGBounds.ruleMatches, "matches of elements and rules")
                    let variants = try self.copies(of: rule, for: scopes.sorted())
                    rules += variants
                }
                result.append(sheet.replacing(rules: rules))
            }
            return result
        }

        private mutating func copies(
            of rule: SVGStyleSheet.Rule, for scopes: [Int]
        ) throws(ImageError) -> [SVGStyleSheet.Rule] {
            var lists: [[SVGDeclaration]] = []
            for scope in scopes {
                let list = try resolved(rule.declarations, scope: scope)
                bytes += list.reduce(0) { $0 + $1.text.utf8.count }
                try DrawingBounds.check(bytes, SVGBounds.variableBytes, "bytes of custom properties")
                lists.append(list)
            }
            var copy = rule
            copy.declarations = lists.first ?? []
            guard Set(lists).count > 1 else { return [copy] }
            dividesRules = true
            var copies: [SVGStyleSheet.Rule] = []
            for (scope, list) in zip(scopes, lists) {
                copy.declarations = list
                copy.scope = scope
                copies.append(copy)
            }
            return copies
        }
    }
#endif
