// SPDX-License-Identifier: MIT

#if SVG
    import Foundation
    import WebImageCore

    /// A scanner for the XML of an SVG document.
    ///
    /// It expands entities, but an entity can't contain another one. The document type, comments, and processing
    /// instructions don't reach the receiver.
    struct SVGScanner {
        struct Attribute {
            let name: String
            let value: String
        }

        /// A receiver of the elements and texts of a document, in their order.
        protocol Receiver {
            mutating func start(_ name: String, _ attributes: [Attribute]) throws(ImageError)
            mutating func text(_ bytes: ArraySlice<UInt8>) throws(ImageError)
            mutating func end() throws(ImageError)
        }

        private static let predefined: [String: [UInt8]] = [
            "lt": [0x3C], "gt": [0x3E], "amp": [0x26], "quot": [0x22], "apos": [0x27],
        ]

        private var bytes: [UInt8]
        private var index = 0
        private var entities: [String: [UInt8]] = [:]
        private var entityBytes = 0
        private var open: [String] = []
        private var isInEntity = false

        /// Throws an ``ImageError/DecodingFailure`` or an ``ImageError/LimitFailure``.
        static func scan(_ data: Data, into receiver: inout some Receiver) throws(ImageError) {
            var scanner = SVGScanner(bytes: try SVGEncoding.utf8(data))
            try scanner.prolog()
            guard scanner.index < scanner.bytes.count else { throw SVGBounds.corrupt("it has no element") }
            try scanner.content(&receiver)
            guard scanner.open.isEmpty else {
                throw .decoding(.truncated(format: .svg, receivedBytes: data.count, expectedBytes: nil))
            }
        }

        private init(bytes: [UInt8]) { self.bytes = bytes }

        // MARK: Prolog

        private mutating func prolog() throws(ImageError) {
            while true {
                skipSpace()
                if has("<?") {
                    try skip(past: "?>")
                } else if has("<!--") {
                    index += 4
                    try skip(past: "-->")
                } else if has("<!DOCTYPE") {
                    try documentType()
                } else {
                    return
                }
            }
        }

        private mutating func documentType() throws(ImageError) {
            index += 9
            var isSubset = false
            while index < bytes.count {
                let byte = bytes[index]
                if byte == 0x22 || byte == 0x27 {
                    _ = try quoted()
                } else if has("<!--") {
                    index += 4
                    try skip(past: "-->")
                } else if has("<?") {
                    try skip(past: "?>")
                } else if has("<!ENTITY") {
                    try entity()
                } else {
                    index += 1
                    if byte == 0x5B { isSubset = true }
                    if byte == 0x5D { isSubset = false }
                    if byte == 0x3E, !isSubset { return }
                }
            }
            throw SVGBounds.corrupt("the document type doesn't end")
        }

        /// Parses the declaration of an entity. References to parameter entities and external entities are errors, so
        /// their declarations have no effect.
        private mutating func entity() throws(ImageError) {
            index += 8
            skipSpace()
            let name = name()
            skipSpace()
            guard !name.isEmpty, index < bytes.count, bytes[index] == 0x22 || bytes[index] == 0x27 else { return }
            let value = try quoted()
            guard !value.contains(0x26), !value.contains(0x25) else {
                throw SVGBounds.unsupported("entities that contain references")
            }
            if entities[name] == nil { entities[name] = Array(value) }
            try DrawingBounds.check(entities.count, 256, "entities")
        }

        // MARK: Content

        private mutating func content(_ receiver: inout some Receiver) throws(ImageError) {
            let depth = open.count
            repeat {
                if isInEntity, index == bytes.count { break }
                guard index < bytes.count else { return }
                if bytes[index] != 0x3C {
                    try text(&receiver)
                } else if has("<!--") {
                    index += 4
                    try skip(past: "-->")
                } else if has("<![CDATA[") {
                    let start = index + 9
                    try skip(past: "]]>")
                    // The marker can overlap with the beginning only in `<![CDATA[]]>`, which is empty.
                    try receiver.text(bytes[start..<max(start, index - 3)])
                } else if has("<?") {
                    try skip(past: "?>")
                } else if has("</") {
                    try endTag(&receiver, depth)
                } else {
                    try startTag(&receiver)
                }
            } while isInEntity || !open.isEmpty
            guard !isInEntity || open.count == depth else { throw SVGBounds.corrupt("an entity isn't balanced") }
        }

        private mutating func startTag(_ receiver: inout some Receiver) throws(ImageError) {
            index += 1
            let name = name()
            guard !name.isEmpty else { throw SVGBounds.corrupt("an element has no name") }
            var attributes: [Attribute] = []
            var names: Set<String> = []
            while true {
                skipSpace()
                guard index < bytes.count else { throw SVGBounds.corrupt("an element doesn't end") }
                let isEmpty = has("/>")
                if isEmpty || bytes[index] == 0x3E {
                    index += isEmpty ? 2 : 1
                    try receiver.start(name, attributes)
                    if isEmpty { try receiver.end() } else { open.append(name) }
                    return
                }
                let attribute = self.name()
                skipSpace()
                guard !attribute.isEmpty, names.insert(attribute).inserted, index < bytes.count, bytes[index] == 0x3D
                else { throw SVGBounds.corrupt("an attribute is invalid") }
                index += 1
                skipSpace()
                attributes.append(Attribute(name: attribute, value: try attributeValue()))
                try DrawingBounds.check(attributes.count, SVGBounds.attributes, "attributes in one element")
            }
        }

        private mutating func endTag(_ receiver: inout some Receiver, _ depth: Int) throws(ImageError) {
            index += 2
            let name = name()
            skipSpace()
            guard open.count > (isInEntity ? depth : 0), open.popLast() == name, index < bytes.count,
                bytes[index] == 0x3E
            else { throw SVGBounds.corrupt("the end of an element doesn't match its beginning") }
            index += 1
            try receiver.end()
        }

        private mutating func text(_ receiver: inout some Receiver) throws(ImageError) {
            let start = index
            while index < bytes.count, bytes[index] != 0x3C, bytes[index] != 0x26 { index += 1 }
            if index > start { try receiver.text(bytes[start..<index]) }
            guard index < bytes.count, bytes[index] == 0x26 else { return }
            let value = try reference()
            guard value.contains(0x3C), value.count > 1 else { return try receiver.text(value[...]) }
            try insert(value, into: &receiver)
        }

        private mutating func insert(_ entity: [UInt8], into receiver: inout some Receiver) throws(ImageError) {
            let (outer, position) = (bytes, index)
            (bytes, index, isInEntity) = (entity, 0, true)
            try content(&receiver)
            (bytes, index, isInEntity) = (outer, position, false)
        }

        private mutating func attributeValue() throws(ImageError) -> String {
            guard index < bytes.count, bytes[index] == 0x22 || bytes[index] == 0x27 else {
                throw SVGBounds.corrupt("an attribute has no quotes")
            }
            let quote = bytes[index]
            var value: [UInt8] = []
            index += 1
            while index < bytes.count, bytes[index] != quote {
                switch bytes[index] {
                case 0x26:
                    let text = try reference()
                    guard text.count == 1 || !text.contains(0x3C) else {
                        throw SVGBounds.corrupt("an attribute contains an element")
                    }
                    value += text
                    continue
                case 0x3C: throw SVGBounds.corrupt("an attribute contains `<`")
                case 0x09, 0x0A, 0x0D: value.append(0x20)
                default: value.append(bytes[index])
                }
                index += 1
            }
            guard index < bytes.count else { throw SVGBounds.corrupt("an attribute doesn't end") }
            index += 1
            return String(decoding: value, as: UTF8.self)
        }

        /// Returns the text of the reference at the index.
        private mutating func reference() throws(ImageError) -> [UInt8] {
            index += 1
            let start = index
            while index < bytes.count, bytes[index] != 0x3B, index - start < 256 { index += 1 }
            let name = String(decoding: bytes[start..<index], as: UTF8.self)
            guard index < bytes.count, bytes[index] == 0x3B else { throw SVGBounds.corrupt("a reference doesn't end") }
            index += 1
            if name.hasPrefix("#") {
                let digits = name.dropFirst()
                let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
                guard let number, let scalar = Unicode.Scalar(number), Self.isAllowed(number) else {
                    throw SVGBounds.corrupt("a character doesn't exist")
                }
                return Array(String(scalar).utf8)
            }
            if let character = Self.predefined[name] { return character }
            guard !isInEntity, let value = entities[name] else { throw SVGBounds.corrupt("an entity is unknown") }
            entityBytes += value.count
            try DrawingBounds.check(entityBytes, SVGBounds.entityBytes, "bytes of inserted entities")
            return value
        }

        /// Returns whether XML 1.0 allows a character (section 2.2).
        private static func isAllowed(_ character: UInt32) -> Bool {
            character >= 0x20 ? character != 0xFFFE && character != 0xFFFF : [9, 10, 13].contains(character)
        }

        // MARK: Bytes

        private mutating func name() -> String {
            let start = index
            while index < bytes.count {
                switch bytes[index] {
                case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x80...0xFF: index += 1
                default: return String(decoding: bytes[start..<index], as: UTF8.self)
                }
            }
            return String(decoding: bytes[start..<index], as: UTF8.self)
        }

        private mutating func quoted() throws(ImageError) -> ArraySlice<UInt8> {
            let quote = bytes[index]
            let start = index + 1
            guard let end = bytes[start...].firstIndex(of: quote) else { throw SVGBounds.corrupt("a quote is open") }
            index = end + 1
            return bytes[start..<end]
        }

        private mutating func skipSpace() {
            while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
        }

        private func has(_ text: StaticString) -> Bool {
            let count = text.utf8CodeUnitCount
            guard bytes.count - index >= count else { return false }
            return text.withUTF8Buffer { buffer in (0..<count).allSatisfy { bytes[index + $0] == buffer[$0] } }
        }

        private mutating func skip(past text: StaticString) throws(ImageError) {
            while index < bytes.count {
                if has(text) {
                    index += text.utf8CodeUnitCount
                    return
                }
                index += 1
            }
            throw SVGBounds.corrupt("a comment or an instruction doesn't end")
        }
    }
#endif
