// SPDX-License-Identifier: MIT

#if SVG
    /// A reader of the `var()` functions in a value (CSS Custom Properties for Cascading Variables 1, section 3).
    struct SVGReferences {
        /// A part of a value.
        enum Part {
            case text([UInt8])
            /// A reference to a custom property, and the text after the comma.
            case reference(name: String, fallback: [UInt8]?)
            /// A function whose syntax isn't valid.
            case invalid
        }

        private let text: [UInt8]
        private var index = 0
        private static let function: [UInt8] = Array("var(".utf8)
        private static let address: [UInt8] = Array("url(".utf8)

        init(_ text: [UInt8]) { self.text = text }

        /// Returns whether a value contains a function with this name.
        static func occur(in value: String) -> Bool {
            guard value.utf8.contains(0x28), value.utf8.count >= function.count else { return false }
            let text = Array(value.utf8)
            return text.indices.dropLast(function.count - 1).contains { has(function, in: text, at: $0) }
        }

        /// Returns whether a byte can be a part of a name or a number.
        static func isWord(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x23, 0x25, 0x2B, 0x2D, 0x2E, 0x5F, 0x80...0xFF: true
            default: false
            }
        }

        private static func has(_ name: [UInt8], in text: [UInt8], at index: Int) -> Bool {
            guard text.count - index >= name.count else { return false }
            return name.indices.allSatisfy { offset in
                let byte = text[index + offset]
                return (0x41...0x5A).contains(byte) ? byte | 0x20 == name[offset] : byte == name[offset]
            }
        }

        /// Returns the next part, or `nil` at the end of the value.
        mutating func next() -> Part? {
            guard index < text.count else { return nil }
            let start = index
            while index < text.count {
                let byte = text[index]
                let isStart = index == 0 || !Self.isWord(text[index - 1])
                if byte == 0x22 || byte == 0x27 {
                    index = end(ofQuoteAt: index)
                } else if isStart, Self.has(Self.address, in: text, at: index) {
                    index = end(ofParenthesisAt: index + 3) ?? text.count
                } else if isStart, Self.has(Self.function, in: text, at: index) {
                    // Return the text before the function first.
                    return index > start ? .text(Array(text[start..<index])) : reference()
                } else {
                    index += 1
                }
            }
            return .text(Array(text[start...]))
        }

        private mutating func reference() -> Part {
            let paren = index + 3
            guard let end = end(ofParenthesisAt: paren) else {
                index = text.count
                return .invalid
            }
            index = end
            let content = Array(text[paren + 1..<end - 1])
            // Before the first comma, there's only the name.
            let comma = content.firstIndex(of: 0x2C)
            let name = String(decoding: content[..<(comma ?? content.count)], as: UTF8.self)[...].trimmed
            guard name.hasPrefix("--"), name.utf8.count > 2, name.utf8.allSatisfy(Self.isWord) else { return .invalid }
            return .reference(name: name, fallback: comma.map { Array(content[($0 + 1)...]) })
        }

        private func end(ofQuoteAt start: Int) -> Int {
            let quote = text[start]
            let end = text[(start + 1)...].firstIndex { $0 == quote || $0 == 0x0A }
            return end.map { $0 + 1 } ?? text.count
        }

        /// Returns the index after the parenthesis that closes the one at `start`, or `nil` if there's none.
        private func end(ofParenthesisAt start: Int) -> Int? {
            var place = start
            var depth = 0
            while place < text.count {
                switch text[place] {
                case 0x22, 0x27:
                    place = end(ofQuoteAt: place)
                    continue
                case 0x28: depth += 1
                case 0x29:
                    depth -= 1
                    if depth == 0 { return place + 1 }
                default: break
                }
                place += 1
            }
            return nil
        }
    }
#endif
