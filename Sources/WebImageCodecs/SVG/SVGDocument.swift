// SPDX-License-Identifier: MIT

#if SVG
    import Foundation
    import WebImageCore

    /// The elements of an SVG document, without the parts that librsvg must not receive.
    struct SVGDocument: SVGScanner.Receiver {
        enum Content {
            case element(Int)
            case text([UInt8])
        }

        struct Element {
            /// The name without its prefix.
            let name: String
            let tag: String
            let parent: Int?
            /// The number of ancestors.
            let depth: Int
            var attributes: [SVGScanner.Attribute]
            /// The attributes that define custom properties or refer to them, until these are substituted.
            var pending: [SVGScanner.Attribute] = []
            var style: SVGStyle
            /// The scope of the custom properties.
            var scope = 0
            var content: [Content] = []
            var children = 0
            var textBytes = 0
            var imagePixels = 0

            func value(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
            /// The classes, which librsvg splits at all white space of Unicode.
            private(set) var classes: Set<String> = []
            /// The attribute with an address. If there are several ones, it's that without a prefix.
            var address: SVGScanner.Attribute? {
                let addresses = attributes.filter { SVGDocument.local($0.name) == "href" }
                return addresses.first { $0.name == "href" } ?? addresses.first
            }
            /// The declarations in a `style` attribute with custom properties.
            var pendingDeclarations: [SVGDeclaration] {
                let styles = pending.filter { $0.name == "style" }
                return styles.flatMap { SVGStyleSheet.declarations($0.value) }
            }
            /// The keys of the rules that can match the element.
            var keys: [SVGStyleSheet.Key] {
                var keys: [SVGStyleSheet.Key] = [.any, .type(name)]
                if let id = value("id") { keys.append(.id(id)) }
                for name in classes { keys.append(.name(name)) }
                return keys
            }
            /// The identifier in the `href` attribute.
            var target: SVGIdentifier? {
                guard let href = address?.value.utf8, href.first == 0x23 else { return nil }
                return SVGIdentifier(href.dropFirst())
            }

            fileprivate mutating func append(_ attribute: SVGScanner.Attribute) {
                attributes.append(attribute)
                // Selectors compare the classes many times.
                guard attribute.name == "class" else { return }
                let names = attribute.value.unicodeScalars.split { $0.properties.isWhitespace }
                classes = Set(names.map { String($0) })
            }

            /// Sets an attribute that is within the bounds.
            fileprivate mutating func replace(_ attribute: SVGScanner.Attribute) throws(ImageError) {
                attributes.removeAll { $0.name == attribute.name }
                try DrawingBounds.check(attributes.count, SVGBounds.attributes - 1, "attributes in one element")
                try DrawingBounds.check(attribute.value.utf8.count, SVGBounds.attributeBytes, "bytes in one attribute")
                attributes.append(attribute)
            }
        }

        /// The elements that librsvg 2.54.7 doesn't receive: `feTile` with an empty input aborts the process, `feImage`
        /// and `include` load other documents, and `script` and `foreignObject` have no effect.
        private static let omitted: Set<String> = ["feTile", "feImage", "include", "script", "foreignObject"]

        private(set) var elements: [Element] = []
        private(set) var identifiers: [SVGIdentifier: Int] = [:]
        private(set) var sheets: [SVGStyleSheet] = []
        private var open: [Int] = []
        private var omittedDepth = 0
        private var images = SVGImages()

        /// Throws an ``ImageError/DecodingFailure`` or an ``ImageError/LimitFailure``.
        init(_ data: Data, limits: ImageLimits) throws(ImageError) {
            images = SVGImages(limits: limits)
            try SVGScanner.scan(data, into: &self)
            // The root can be an element that librsvg doesn't receive.
            guard !elements.isEmpty else { throw SVGBounds.corrupt("it has no element") }
            try readSheets()
            try settleFontSize()
        }

        static func local(_ name: String) -> String {
            guard let colon = name.lastIndex(of: ":") else { return name }
            return String(name[name.index(after: colon)...])
        }

        // MARK: Receiving

        mutating func start(_ tag: String, _ attributes: [SVGScanner.Attribute]) throws(ImageError) {
            let name = Self.local(tag)
            // The written content of a stylesheet is only its text.
            let isInStyle = open.last.map { elements[$0].name == "style" } ?? false
            guard omittedDepth == 0, !isInStyle, !Self.omitted.contains(name) else {
                omittedDepth += 1
                return
            }
            var element = Element(
                name: name, tag: tag, parent: open.last, depth: open.count, attributes: [], style: SVGStyle())
            for attribute in attributes { try add(attribute, to: &element) }
            try checkFilter(element)
            let index = elements.count
            if let parent = open.last {
                elements[parent].content.append(.element(index))
                elements[parent].children += 1
            }
            // librsvg uses the first element with an identifier.
            if let id = element.value("id").map({ SVGIdentifier($0.utf8) }), identifiers[id] == nil {
                identifiers[id] = index
            }
            elements.append(element)
            open.append(index)
            try DrawingBounds.check(elements.count, SVGBounds.elements, "SVG elements")
            try DrawingBounds.check(open.count, SVGBounds.depth, "nested SVG elements")
        }

        mutating func text(_ bytes: ArraySlice<UInt8>) throws(ImageError) {
            guard omittedDepth == 0, let last = open.last, !bytes.isEmpty else { return }
            // Join adjacent parts, because a reference can be within a word. Take the array out, so that it isn't copied.
            if case .text(var joined)? = elements[last].content.last {
                elements[last].content.removeLast()
                joined.append(contentsOf: bytes)
                elements[last].content.append(.text(joined))
            } else {
                elements[last].content.append(.text(Array(bytes)))
            }
            elements[last].textBytes += bytes.count
        }

        mutating func end() throws(ImageError) {
            guard omittedDepth == 0 else {
                omittedDepth -= 1
                return
            }
            guard let index = open.popLast() else { return }
            let element = elements[index]
            if element.name == "text" {
                try DrawingBounds.check(element.textBytes, SVGBounds.textCharacters, "characters of a text")
            }
            // The text of the parts of a text element is laid out together.
            if let parent = open.last, ["tspan", "a", "tref"].contains(element.name) {
                elements[parent].textBytes += element.textBytes
            }
        }

        private mutating func add(_ attribute: SVGScanner.Attribute, to element: inout Element) throws(ImageError) {
            guard Self.isReceived(attribute.name) else { return }
            let name = attribute.name
            let isPending =
                name == "style"
                ? attribute.value.contains("--")
                : SVGDeclaration.isProperty(name) && SVGReferences.occur(in: attribute.value)
            guard !isPending else { return element.pending.append(attribute) }
            try accept(attribute, into: &element)
        }

        /// Returns whether librsvg receives an attribute. It ignores those in other namespaces, but a document with a
        /// prefix without a namespace is invalid for it.
        private static func isReceived(_ name: String) -> Bool {
            !name.utf8.contains(0x3A) || name == "xml:space" || name == "xml:lang" || name.hasPrefix("xmlns:")
                || local(name) == "href"
        }

        /// Adds an attribute without references to custom properties.
        private mutating func accept(
            _ attribute: SVGScanner.Attribute, into element: inout Element
        ) throws(ImageError) {
            let name = attribute.name
            var value = attribute.value
            switch name {
            case _ where Self.local(name) == "href":
                guard let address = try acceptedAddress(value, &element) else { return }
                value = address
            // The document must not contain the attribute twice.
            case SVGCustomProperties.scopeAttribute: return
            case "style":
                let declarations = SVGStyleSheet.declarations(value)
                for declaration in declarations { try element.style.apply(declaration) }
                value = declarations.map(\.text).joined()
            // Browsers ignore this attribute, and librsvg enlarges its surfaces by it.
            case "kernelUnitLength": return
            case "systemLanguage":
                let tags = value.utf8.count { $0 == 0x2C } + 1
                try DrawingBounds.check(tags, SVGBounds.languages, "languages in an attribute")
            case "d", "points": break
            default:
                // Escapes and comments could hide a reference.
                let bytes = value.utf8
                let hasComment = zip(bytes, bytes.dropFirst()).contains { $0 == 0x2F && $1 == 0x2A }
                guard !bytes.contains(0x5C), !hasComment else { return }
                try element.style.apply(name, value)
            }
            if name != "d", name != "points", Self.local(name) != "href" {
                try DrawingBounds.check(value.utf8.count, SVGBounds.attributeBytes, "bytes in one attribute")
            }
            element.append(SVGScanner.Attribute(name: attribute.name, value: value))
        }

        private mutating func acceptedAddress(_ value: String, _ element: inout Element)
            throws(ImageError) -> String?
        {
            let address = value.dropFirst(0).trimmed
            if address.utf8.first == 0x23 { return address }
            guard element.name == "image", let image = try images.accept(address) else { return nil }
            element.imagePixels = image.pixels
            return image.address
        }

        private func checkFilter(_ element: Element) throws(ImageError) {
            switch element.name {
            case "feConvolveMatrix":
                let order = SVGNumbers.all(element.value("order") ?? "3", limit: 2).map(abs)
                let (width, height) = (order.first ?? 3, order.last ?? 3)
                try DrawingBounds.check(width * height, Double(SVGBounds.kernelNumbers), "numbers in a filter kernel")
                let numbers = SVGNumbers.all(element.value("kernelMatrix") ?? "")
                try DrawingBounds.check(numbers.count, SVGBounds.kernelNumbers, "numbers in a filter kernel")
            case "feTurbulence":
                let octaves = SVGNumbers.all(element.value("numOctaves") ?? "1", limit: 1).first ?? 1
                try DrawingBounds.check(octaves, Double(SVGBounds.octaves), "octaves of turbulence")
            default: break
            }
        }

        // MARK: Stylesheets

        private mutating func readSheets() throws(ImageError) {
            var bytes = 0
            for index in elements.indices where elements[index].name == "style" {
                let text = elements[index].content.flatMap { content -> [UInt8] in
                    if case .text(let text) = content { text } else { [] }
                }
                bytes += text.count
                try DrawingBounds.check(bytes, SVGBounds.styleSheetBytes, "bytes of stylesheets")
                sheets.append(try SVGStyleSheet(text))
            }
            let isScoped = try substituteCustomProperties()
            try DrawingBounds.check(sheets.reduce(0) { $0 + $1.comparisons }, SVGBounds.selectors, "selectors")
            var rest = sheets[...]
            var scopedBytes = 0
            for index in elements.indices where elements[index].name == "style" {
                guard let sheet = rest.popFirst() else { break }
                let text = Array(sheet.text(isScoped: isScoped).utf8)
                if isScoped { scopedBytes += text.count }
                try DrawingBounds.check(scopedBytes, SVGBounds.styleSheetBytes, "bytes of stylesheets")
                elements[index].content = [.text(text)]
            }
            try applySheets()
        }

        /// Substitutes the references to custom properties in stylesheets and attributes. Returns whether elements have
        /// an attribute that selectors require.
        private mutating func substituteCustomProperties() throws(ImageError) -> Bool {
            let isInAttributes = elements.contains { !$0.pending.isEmpty }
            guard isInAttributes || sheets.contains(where: \.hasCustomProperties) else { return false }
            var properties = try SVGCustomProperties(elements, sheets)
            sheets = try properties.resolved(sheets, elements)
            for index in elements.indices {
                let scope = properties.scopeOfElement[index]
                var element = elements[index]
                for attribute in element.pending {
                    let value = try Self.substituted(attribute, scope, &properties)
                    guard let value else { continue }
                    try accept(SVGScanner.Attribute(name: attribute.name, value: value), into: &element)
                }
                element.pending = []
                element.scope = scope
                if properties.dividesRules {
                    element.attributes.append(
                        SVGScanner.Attribute(name: SVGCustomProperties.scopeAttribute, value: String(scope)))
                }
                elements[index] = element
            }
            return properties.dividesRules
        }

        /// Returns the value of an attribute without references, or `nil` if the attribute has no effect.
        private static func substituted(
            _ attribute: SVGScanner.Attribute, _ scope: Int, _ properties: inout SVGCustomProperties
        ) throws(ImageError) -> String? {
            let name = attribute.name
            guard name != "style" else {
                let declarations = SVGStyleSheet.declarations(attribute.value)
                return try properties.resolved(declarations, scope: scope).map(\.text).joined()
            }
            let value = try properties.substitute(attribute.value, scope: scope)
            return value ?? SVGDeclaration(unsetting: name)?.value
        }

        /// Adds the properties of all rules that can apply to the elements.
        private mutating func applySheets() throws(ImageError) {
            var matches = 0
            var steps = 0
            // The rules for each key and scope. The rules without a scope have the key `nil`.
            var rules: [SVGStyleSheet.Key: [Int?: [(style: SVGStyle, selector: SVGSelector?)]]] = [:]
            for rule in sheets.flatMap(\.rules) {
                let style = try SVGStyle(rule.declarations)
                for (key, selector) in zip(rule.keys, rule.selectors) {
                    rules[key, default: [:]][rule.scope, default: []].append((style, SVGSelector(selector)))
                }
            }
            for index in elements.indices {
                let element = elements[index]
                for key in rules.isEmpty ? [] : element.keys {
                    guard let scopes = rules[key] else { continue }
                    let candidates = (scopes[nil] ?? []) + (scopes[element.scope] ?? [])
                    matches += candidates.count
                    try DrawingBounds.check(matches, SVGBounds.ruleMatches, "matches of elements and rules")
                    for rule in candidates {
                        // Without the time for an exact comparison, the rule counts.
                        if let selector = rule.selector, steps < SVGBounds.selectorSteps {
                            steps += selector.steps(depth: element.depth)
                            guard selector.matches(index, elements) else { continue }
                        }
                        try elements[index].style.formUnion(rule.style)
                    }
                }
                let parent = element.parent.map { elements[$0].style } ?? SVGStyle()
                try elements[index].style.inherit(parent)
            }
        }

        // MARK: Root

        /// Sets the font size of the root element, and the sizes that refer to it, to those in the header.
        ///
        /// Without this attribute, the font size is 12 pixels in librsvg, and 16 pixels in browsers. librsvg 2.54
        /// doesn't know the units `rem` and `ch`.
        private mutating func settleFontSize() throws(ImageError) {
            guard elements[0].name == "svg" else { return }
            let style = elements[0].value("style") ?? ""
            let font = SVGFontSize(attribute: elements[0].value("font-size"), style: style)
            try DrawingBounds.check(font.pixels, SVGBounds.fontSize, "units of font size")
            for (index, attribute) in elements[0].attributes.enumerated() {
                guard ["width", "height"].contains(attribute.name), let side = font.relativeLength(attribute.value)
                else { continue }
                elements[0].attributes[index] = SVGScanner.Attribute(name: attribute.name, value: "\(side)px")
            }
            var attribute = SVGScanner.Attribute(name: "font-size", value: "\(font.pixels)px")
            if SVGFontSize.isDeclared(in: style) {
                let others = SVGStyleSheet.declarations(style).filter { $0.name != "font-size" }
                let all = others + [SVGDeclaration(name: "font-size", value: attribute.value)]
                attribute = SVGScanner.Attribute(name: "style", value: all.map(\.text).joined())
            }
            try elements[0].replace(attribute)
        }

        // MARK: Writing

        func isAncestor(_ ancestor: Int, of index: Int) -> Bool {
            var place: Int? = index
            while let current = place {
                if current == ancestor { return true }
                place = elements[current].parent
            }
            return false
        }

        /// Removes a reference that leads back to an element that contains it. An important declaration of the element
        /// has precedence over all stylesheets and over the value of the parent.
        mutating func removeReference(of index: Int, to target: SVGIdentifier) throws(ImageError) {
            if elements[index].target == target {
                elements[index].attributes.removeAll { Self.local($0.name) == "href" }
            }
            let properties = elements[index].style.exclude(target).map(\.name)
            guard !properties.isEmpty else { return }
            elements[index].attributes.removeAll { properties.contains($0.name) }
            let others = SVGStyleSheet.declarations(elements[index].value("style") ?? "")
            let all =
                others.filter { !properties.contains($0.name) }
                + properties.map { SVGDeclaration(name: $0, value: "none !important") }
            try elements[index].replace(SVGScanner.Attribute(name: "style", value: all.map(\.text).joined()))
        }

        /// Returns the text of the accepted document in UTF-8.
        func text() -> Data {
            var output = Data()
            if !elements.isEmpty { write(0, to: &output) }
            return output
        }

        private func write(_ index: Int, to output: inout Data) {
            let element = elements[index]
            output.append(contentsOf: "<\(element.tag)".utf8)
            for attribute in element.attributes {
                output.append(contentsOf: " \(attribute.name)=\"".utf8)
                Self.escape(Array(attribute.value.utf8), isAttribute: true, to: &output)
                output.append(0x22)
            }
            output.append(0x3E)
            for content in element.content {
                switch content {
                case .element(let child): write(child, to: &output)
                case .text(let text): Self.escape(text, isAttribute: false, to: &output)
                }
            }
            output.append(contentsOf: "</\(element.tag)>".utf8)
        }

        private static func escape(_ text: [UInt8], isAttribute: Bool, to output: inout Data) {
            for byte in text {
                switch byte {
                case 0x26: output.append(contentsOf: "&amp;".utf8)
                case 0x3C: output.append(contentsOf: "&lt;".utf8)
                case 0x3E: output.append(contentsOf: "&gt;".utf8)
                case 0x22: output.append(contentsOf: "&quot;".utf8)
                case 0x09 where isAttribute, 0x0A where isAttribute, 0x0D: output.append(contentsOf: "&#\(byte);".utf8)
                default: output.append(byte)
                }
            }
        }
    }
#endif
