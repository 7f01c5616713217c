// SPDX-License-Identifier: MIT

#if SVG
    import Foundation
    import WebImageCore

    /// The rules of a `style` element or the declarations of a `style` attribute, without everything that could load or
    /// hide something: at-rules, comments, and escapes.
    struct SVGStyleSheet {
        /// The part of an element that a selector requires. An element that doesn't have it can't match.
        enum Key: Hashable { case id(String), name(String), type(String), any }

        struct Rule {
            fileprivate(set) var selectors: [String] = []
            /// The part of an element that each selector requires.
            fileprivate(set) var keys: [Key] = []
            var declarations: [SVGDeclaration]
            /// The only scope of custom properties whose elements match the rule, or `nil` for all scopes.
            var scope: Int?
            /// The number of simple selectors, including those of ancestors.
            fileprivate(set) var comparisons = 0
            /// The number of selectors that depend on siblings, which librsvg compares one by one.
            fileprivate(set) var siblingSelectors = 0

            fileprivate init(_ declarations: [SVGDeclaration]) { self.declarations = declarations }

            /// Whether the rule defines custom properties or refers to them.
            var hasCustomProperties: Bool {
                declarations.contains { $0.isCustom || SVGReferences.occur(in: $0.value) }
            }
        }

        private(set) var rules: [Rule] = []
        var comparisons: Int { rules.reduce(0) { $0 + $1.comparisons } }
        var siblingSelectors: Int { rules.reduce(0) { $0 + $1.siblingSelectors } }

        var hasCustomProperties: Bool { rules.contains(where: \.hasCustomProperties) }

        private let source: [UInt8]
        private var index = 0

        /// Parses the content of a `style` element.
        init(_ text: [UInt8]) throws(ImageError) {
            source = SVGNesting.completed(Self.withoutComments(text))
            while index < source.count { try readRule() }
        }

        /// Parses the declarations of a `style` attribute. Comments, malformed declarations, and declarations with
        /// escapes are omitted.
        static func declarations(_ text: String) -> [SVGDeclaration] {
            var result: [SVGDeclaration] = []
            for part in SVGNesting.split(SVGNesting.completed(withoutComments(Array(text.utf8))), at: 0x3B) {
                let declaration = String(decoding: part, as: UTF8.self)
                guard SVGNesting.isComplete(part), let colon = declaration.firstIndex(of: ":") else { continue }
                let name = declaration[..<colon].trimmed
                guard !name.isEmpty, name.utf8.allSatisfy(SVGReferences.isWord) else { continue }
                let value = declaration[declaration.index(after: colon)...].trimmed
                result.append(SVGDeclaration(name: name.hasPrefix("--") ? name : name.lowercased(), value: value))
            }
            return result
        }

        func replacing(rules: [Rule]) -> SVGStyleSheet {
            var copy = self
            copy.rules = rules
            return copy
        }

        /// Returns the text of the accepted rules. If some rules apply only to elements with certain custom properties,
        /// all selectors have an attribute selector, so their order of precedence remains the same.
        func text(isScoped: Bool) -> String {
            var text = ""
            for rule in rules {
                let selectors = rule.selectors.map { selector in
                    // An empty selector makes a rule invalid.
                    guard isScoped, !selector.isEmpty else { return selector }
                    let value = rule.scope.map { "='\($0)'" } ?? ""
                    return "\(selector)[\(SVGCustomProperties.scopeAttribute)\(value)]"
                }
                text += selectors.joined(separator: ",") + "{" + rule.declarations.map(\.text).joined() + "}\n"
            }
            return text
        }

        private mutating func readRule() throws(ImageError) {
            let start = index
            guard let end = end(at: [0x7B, 0x3B]) else { return index = source.count }
            let prelude = source[start..<end]
            index = end + 1
            let isAtRule = prelude.first { $0 > 0x20 } == 0x40
            if source[end] == 0x3B {
                guard !isAtRule else { return }
                // Without a block, the text up to the next block is an invalid rule.
                guard let block = self.end(at: [0x7B]) else { return index = source.count }
                index = block + 1
                return skipBlock()
            }
            let body = index
            skipBlock()
            guard !isAtRule, SVGNesting.isComplete(prelude), !source[body..<index].contains(0x5C) else { return }
            let block = String(decoding: source[body..<max(body, index - 1)], as: UTF8.self)
            var rule = Rule(Self.declarations(block))
            for selector in SVGNesting.split(prelude, at: 0x2C) {
                let selector = String(decoding: selector, as: UTF8.self)
                try DrawingBounds.check(selector.utf8.count, SVGBounds.selectorBytes, "bytes in one selector")
                try Self.read(selector, into: &rule)
                try Self.checkLanguages(selector)
            }
            rules.append(rule)
        }

        /// Skips a block whose opening brace precedes the index.
        private mutating func skipBlock() {
            var nesting = SVGNesting()
            nesting.read(0x7B)
            while index < source.count, !nesting.isOutside {
                nesting.read(source[index])
                index += 1
            }
        }

        /// Returns the index of the next of some characters outside of blocks, functions, strings, and URLs.
        private func end(at characters: [UInt8]) -> Int? {
            var nesting = SVGNesting()
            for place in index..<max(index, source.count) {
                if nesting.isOutside, characters.contains(source[place]) { return place }
                nesting.read(source[place])
            }
            return nil
        }

        /// Adds a selector with the key of its last compound, and counts the comparisons.
        private static func read(_ selector: String, into rule: inout Rule) throws(ImageError) {
            var depth = 0
            var compound: [UInt8] = []
            var isSeparated = false
            rule.comparisons += 1
            for byte in selector.utf8 {
                switch byte {
                case 0x28, 0x5B:
                    depth += 1
                    try DrawingBounds.check(depth, SVGBounds.parentheses, "nested parentheses in a selector")
                case 0x29, 0x5D: depth -= 1
                case 0x20, 0x09, 0x0A, 0x0D, 0x0C, 0x3E, 0x2B, 0x7E:
                    if depth <= 0 { isSeparated = true }
                    continue
                default: break
                }
                if depth > 0 || byte == 0x29 || byte == 0x5D { continue }
                if isSeparated, !compound.isEmpty {
                    rule.comparisons += 1
                    compound = []
                }
                isSeparated = false
                compound.append(byte)
            }
            let dependsOnSiblings =
                selector.utf8.contains(0x2B) || selector.utf8.contains(0x7E) || selector.contains("-child")
                || selector.contains("-of-type")
            if dependsOnSiblings { rule.siblingSelectors += 1 }
            rule.keys.append(key(compound))
            rule.selectors.append(selector[...].trimmed)
        }

        /// Returns what a compound without its functions and attributes requires, from its bytes. In Swift, a character
        /// can contain a delimiter and the combining marks after it.
        private static func key(_ compound: [UInt8]) -> Key {
            let plain = compound.prefix { $0 != 0x3A }
            if let hash = plain.firstIndex(of: 0x23) { return .id(name(plain[(hash + 1)...])) }
            if let dot = plain.firstIndex(of: 0x2E) { return .name(name(plain[(dot + 1)...])) }
            let type = String(decoding: plain.split(separator: 0x7C).last ?? [], as: UTF8.self)
            return type.isEmpty || type == "*" ? .any : .type(type)
        }

        private static func name(_ text: ArraySlice<UInt8>) -> String {
            String(decoding: text.prefix { $0 != 0x2E && $0 != 0x23 }, as: UTF8.self)
        }

        /// Rejects languages with extensions or private parts, at which librsvg aborts the process.
        private static func checkLanguages(_ selector: String) throws(ImageError) {
            var rest = Substring(selector.lowercased())
            while let found = rest.range(of: ":lang") {
                rest = rest[found.upperBound...].drop { $0 == "(" || $0.isWhitespace }
                let tags = rest.prefix { $0 != ")" }.split(separator: ",")
                try DrawingBounds.check(tags.count, SVGBounds.languages, "languages in a selector")
                for tag in tags {
                    let subtags = tag.trimmed.filter { $0 != "\"" && $0 != "'" }.split(separator: "-")
                    let isPlain = subtags.allSatisfy { part in
                        part == "*" || (2...8).contains(part.utf8.count) && part.allSatisfy { $0.isASCII }
                    }
                    guard isPlain else { throw SVGBounds.unsupported("the language \(tag.trimmed.prefix(32))") }
                }
            }
        }

        private static func withoutComments(_ text: [UInt8]) -> [UInt8] {
            var result: [UInt8] = []
            var index = 0
            while index < text.count {
                guard text[index] == 0x2F, index + 1 < text.count, text[index + 1] == 0x2A else {
                    result.append(text[index])
                    index += 1
                    continue
                }
                var end = index + 2
                while end < text.count, !(text[end] == 0x2F && text[end - 1] == 0x2A && end > index + 2) { end += 1 }
                result.append(0x20)
                index = min(end + 1, text.count)
            }
            return result
        }
    }
#endif
