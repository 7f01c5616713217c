// SPDX-License-Identifier: MIT

#if PDF
    import WebImageCore

    /// A reader of the tokens and values of PDF syntax.
    struct PDFLexer {
        enum Token: Equatable {
            case value(PDFValue)
            case keyword(String)
            case arrayStart, arrayEnd, dictionaryStart, dictionaryEnd
        }

        let bytes: ArraySlice<UInt8>
        var index: Int
        private(set) var remainingValues: Int
        private let hasReferences: Bool

        /// If `hasReferences` is `true`, `1 0 R` is a reference. Content streams have no references.
        init(_ bytes: ArraySlice<UInt8>, at index: Int? = nil, values: Int, hasReferences: Bool = true) {
            self.bytes = bytes
            self.index = max(bytes.startIndex, min(index ?? bytes.startIndex, bytes.endIndex))
            self.hasReferences = hasReferences
            remainingValues = values
        }

        var isAtEnd: Bool { index >= bytes.endIndex }

        static func isSpace(_ byte: UInt8) -> Bool {
            byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 || byte == 0x0C || byte == 0
        }
        static func isDelimiter(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x28, 0x29, 0x3C, 0x3E, 0x5B, 0x5D, 0x7B, 0x7D, 0x2F, 0x25: true
            default: false
            }
        }

        mutating func skipSpaces() {
            while index < bytes.endIndex {
                if bytes[index] == 0x25 {
                    while index < bytes.endIndex, bytes[index] != 0x0A, bytes[index] != 0x0D { index += 1 }
                } else if Self.isSpace(bytes[index]) {
                    index += 1
                } else {
                    return
                }
            }
        }

        /// Returns the next token, or `nil` at the end.
        mutating func token() throws(ImageError) -> Token? {
            skipSpaces()
            guard index < bytes.endIndex else { return nil }
            remainingValues -= 1
            guard remainingValues >= 0 else {
                throw .limitExceeded(
                    ImageError.LimitFailure(
                        .metadataSize, limit: PDFBounds.values, actual: PDFBounds.values + 1,
                        detail: "values of a PDF page"))
            }
            let byte = bytes[index]
            let next = index + 1 < bytes.endIndex ? bytes[index + 1] : 0
            switch byte {
            case 0x5B: return single(.arrayStart)
            case 0x5D: return single(.arrayEnd)
            case 0x3C where next == 0x3C: return single(.dictionaryStart, 2)
            case 0x3E where next == 0x3E: return single(.dictionaryEnd, 2)
            case 0x3C: return .value(.string(hexString()))
            case 0x28: return .value(.string(string()))
            case 0x2F: return .value(.name(name()))
            case 0x2B, 0x2D, 0x2E, 0x30...0x39: return .value(.number(number()))
            case 0x29, 0x3E, 0x7B, 0x7D: return single(.keyword(""))
            default: return word()
            }
        }

        private mutating func single(_ token: Token, _ count: Int = 1) -> Token {
            index += count
            return token
        }

        private mutating func word() -> Token {
            var text = String.UnicodeScalarView()
            while index < bytes.endIndex, !Self.isSpace(bytes[index]), !Self.isDelimiter(bytes[index]) {
                // No keyword is longer, so the rest of a longer one isn't stored.
                if text.count < 16 { text.append(Unicode.Scalar(bytes[index])) }
                index += 1
            }
            switch String(text) {
            case "true": return .value(.bool(true))
            case "false": return .value(.bool(false))
            case "null": return .value(.null)
            case let word: return .keyword(word)
            }
        }

        private mutating func number() -> Double {
            var isNegative = false
            while index < bytes.endIndex, bytes[index] == 0x2B || bytes[index] == 0x2D {
                isNegative = bytes[index] == 0x2D
                index += 1
            }
            var mantissa = 0.0
            var divisor = 1.0
            var isFraction = false
            while index < bytes.endIndex {
                switch bytes[index] {
                case 0x30...0x39:
                    if divisor < 1e15, mantissa < 1e20 {
                        mantissa = mantissa * 10 + Double(bytes[index] - 0x30)
                        if isFraction { divisor *= 10 }
                    }
                case 0x2E where !isFraction: isFraction = true
                // Some producers write signs within numbers, which poppler ignores.
                case 0x2D: break
                default: return isNegative ? -mantissa / divisor : mantissa / divisor
                }
                index += 1
            }
            return isNegative ? -mantissa / divisor : mantissa / divisor
        }

        private static func hexDigit(_ byte: UInt8) -> UInt8? {
            switch byte {
            case 0x30...0x39: byte - 0x30
            case 0x41...0x46: byte - 0x37
            case 0x61...0x66: byte - 0x57
            default: nil
            }
        }

        private mutating func name() -> String {
            index += 1
            var text = String.UnicodeScalarView()
            while index < bytes.endIndex, !Self.isSpace(bytes[index]), !Self.isDelimiter(bytes[index]) {
                var byte = bytes[index]
                if byte == 0x23, index + 2 < bytes.endIndex, let high = Self.hexDigit(bytes[index + 1]),
                    let low = Self.hexDigit(bytes[index + 2])
                {
                    byte = high << 4 | low
                    index += 2
                }
                text.append(Unicode.Scalar(byte))
                index += 1
            }
            return String(text)
        }

        private mutating func hexString() -> [UInt8] {
            index += 1
            var digits: [UInt8] = []
            while index < bytes.endIndex, bytes[index] != 0x3E {
                if let digit = Self.hexDigit(bytes[index]) { digits.append(digit) }
                index += 1
            }
            index = min(index + 1, bytes.endIndex)
            if digits.count % 2 == 1 { digits.append(0) }
            return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        }

        private mutating func string() -> [UInt8] {
            index += 1
            var text: [UInt8] = []
            var depth = 1
            while index < bytes.endIndex {
                let byte = bytes[index]
                index += 1
                switch byte {
                case 0x28: depth += 1
                case 0x29:
                    depth -= 1
                    if depth == 0 { return text }
                case 0x5C:
                    if let escaped = escape() { text.append(escaped) }
                    continue
                default: break
                }
                text.append(byte)
            }
            return text
        }

        /// Returns the byte of an escape sequence, or `nil` for an escaped line break.
        private mutating func escape() -> UInt8? {
            guard index < bytes.endIndex else { return nil }
            let byte = bytes[index]
            index += 1
            switch byte {
            case 0x6E: return 0x0A
            case 0x72: return 0x0D
            case 0x74: return 0x09
            case 0x62: return 0x08
            case 0x66: return 0x0C
            case 0x0A: return nil
            case 0x0D:
                if index < bytes.endIndex, bytes[index] == 0x0A { index += 1 }
                return nil
            case 0x30...0x37:
                var value = Int(byte - 0x30)
                for _ in 0..<2 {
                    guard index < bytes.endIndex, (0x30...0x37).contains(bytes[index]) else { break }
                    value = value * 8 + Int(bytes[index] - 0x30)
                    index += 1
                }
                return UInt8(truncatingIfNeeded: value)
            default: return byte
            }
        }

        // MARK: Values

        /// Returns the next value, or `nil` at the end or at a keyword.
        mutating func value(depth: Int = 0) throws(ImageError) -> PDFValue? {
            guard let token = try token() else { return nil }
            return try value(token, depth: depth)
        }

        /// Returns the value that begins with a token, or `nil` if the token begins none.
        mutating func value(_ token: Token, depth: Int = 0) throws(ImageError) -> PDFValue? {
            try DrawingBounds.check(depth, PDFBounds.nesting, "nested PDF values")
            switch token {
            case .value(let value):
                guard hasReferences, let number = value.integer, number >= 0 else { return value }
                return reference(number) ?? value
            case .arrayStart:
                var values: [PDFValue] = []
                while let token = try self.token(), token != .arrayEnd {
                    if let value = try value(token, depth: depth + 1) { values.append(value) }
                }
                return .array(values)
            case .dictionaryStart: return .dictionary(try dictionary(depth: depth))
            case .keyword, .arrayEnd, .dictionaryEnd: return nil
            }
        }

        /// Returns the entries of a dictionary after `<<`.
        mutating func dictionary(depth: Int) throws(ImageError) -> [String: PDFValue] {
            var entries: [String: PDFValue] = [:]
            while let token = try token(), token != .dictionaryEnd {
                // The end of a stream or an object also ends a dictionary that isn't closed.
                if case .keyword(let word) = token, word == "endobj" || word == "stream" { break }
                guard case .value(.name(let key)) = token else { continue }
                guard let next = try self.token(), next != .dictionaryEnd else { break }
                // The first entry with a key counts, as in poppler.
                if let value = try value(next, depth: depth + 1), entries[key] == nil { entries[key] = value }
            }
            return entries
        }

        /// Returns a reference if a generation and the letter R follow the number.
        private mutating func reference(_ number: Int) -> PDFValue? {
            var place = index
            func isSpace() -> Bool { place < bytes.endIndex && Self.isSpace(bytes[place]) }
            guard isSpace() else { return nil }
            while isSpace() { place += 1 }
            let digits = place
            while place < bytes.endIndex, (0x30...0x39).contains(bytes[place]), place - digits < 6 { place += 1 }
            guard place > digits, isSpace() else { return nil }
            while isSpace() { place += 1 }
            guard place < bytes.endIndex, bytes[place] == 0x52 else { return nil }
            let end = place + 1
            guard end >= bytes.endIndex || Self.isSpace(bytes[end]) || Self.isDelimiter(bytes[end]) else { return nil }
            index = end
            return .reference(number)
        }
    }
#endif
