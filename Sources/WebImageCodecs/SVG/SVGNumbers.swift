// SPDX-License-Identifier: MIT

#if SVG
    /// A reader of the numbers in an SVG attribute.
    struct SVGNumbers {
        private let text: [UInt8]
        private var index = 0

        init(_ text: String) { self.text = Array(text.utf8) }

        /// Returns all numbers of a text, up to `limit`. Units and other characters separate numbers.
        static func all(_ text: String, limit: Int = 4_096) -> [Double] {
            var reader = SVGNumbers(text)
            var numbers: [Double] = []
            while numbers.count < limit, let number = reader.nextNumber() { numbers.append(number) }
            return numbers
        }

        private mutating func nextNumber() -> Double? {
            while index < text.count {
                if let number = number() { return number }
                index += 1
            }
            return nil
        }

        /// Returns the next letter of a path, and stops at a number.
        mutating func command() -> UInt8? {
            while index < text.count {
                let byte = text[index]
                switch byte {
                case 0x41...0x5A, 0x61...0x7A:
                    index += 1
                    return byte
                case 0x2B, 0x2D, 0x2E, 0x30...0x39: return nil
                default: index += 1
                }
            }
            return nil
        }

        var isAtEnd: Bool { index >= text.count }

        /// Returns a flag of an elliptical arc, which needs no separator.
        mutating func flag() -> Double? {
            skipSeparators()
            guard index < text.count, text[index] == 0x30 || text[index] == 0x31 else { return nil }
            index += 1
            return Double(text[index - 1] - 0x30)
        }

        private mutating func skipSeparators() {
            while index < text.count, text[index] <= 0x20 || text[index] == 0x2C { index += 1 }
        }

        /// Returns the number at the index, after separators.
        mutating func number() -> Double? {
            skipSeparators()
            var end = index
            func isDigit(_ place: Int) -> Bool { place < text.count && (0x30...0x39).contains(text[place]) }
            if end < text.count, text[end] == 0x2B || text[end] == 0x2D { end += 1 }
            let digits = end
            while isDigit(end) { end += 1 }
            var hasDigits = end > digits
            if end < text.count, text[end] == 0x2E {
                let start = end + 1
                var fraction = start
                while isDigit(fraction) { fraction += 1 }
                hasDigits = hasDigits || fraction > start
                if hasDigits { end = fraction }
            }
            guard hasDigits else { return nil }
            if end < text.count, text[end] | 0x20 == 0x65 {
                var exponent = end + 1
                if exponent < text.count, text[exponent] == 0x2B || text[exponent] == 0x2D { exponent += 1 }
                if isDigit(exponent) {
                    while isDigit(exponent) { exponent += 1 }
                    end = exponent
                }
            }
            let value = Double(String(decoding: text[index..<end], as: UTF8.self)) ?? 0
            index = end
            // Infinite numbers would become invalid in sums.
            return max(-1e300, min(1e300, value))
        }
    }
#endif
