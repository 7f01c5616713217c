// SPDX-License-Identifier: MIT

#if SVG
    /// The blocks, functions, strings, and URLs that are open at a place in a stylesheet (CSS Syntax 3, sections 4.3 and
    /// 5.4).
    ///
    /// The reader of stylesheets must find the same ends of rules and declarations as librsvg. Otherwise, rules would
    /// apply to elements for which their work wasn't counted.
    struct SVGNesting {
        private enum Address {
            case none
            /// The place after `url(`, where a quote makes it a function.
            case start
            /// A URL without quotes, which ends at the first closing parenthesis.
            case unquoted
        }

        private static let address: [UInt8] = Array("url".utf8)
        /// The bytes that close the open blocks and functions, from the outermost to the innermost one.
        private var closers: [UInt8] = []
        private var quote: UInt8?
        private var url = Address.none
        /// The number of bytes of `url` that the current word consists of, or `nil` if it's another word.
        private var matched: Int? = 0
        private var isEscaped = false
        private var previous: UInt8 = 0
        /// Whether no bracket lacks its opening one, and no string or URL is malformed.
        private(set) var isValid = true

        /// Whether no block, function, string, or URL is open.
        var isOutside: Bool { closers.isEmpty && quote == nil }

        /// The text that closes what is open, which the end of a stylesheet closes (CSS Syntax 3, section 5.4.8).
        var missing: [UInt8] { (quote.map { [$0] } ?? []) + closers.reversed() }

        mutating func read(_ byte: UInt8) {
            defer { previous = byte }
            if isEscaped {
                isEscaped = false
            } else if byte == 0x5C {
                isEscaped = true
            } else if let open = quote {
                readString(byte, open)
            } else if url == .none || !readAddress(byte) {
                readToken(byte)
            }
        }

        private mutating func readString(_ byte: UInt8, _ open: UInt8) {
            let isLineBreak = byte == 0x0A || byte == 0x0C || byte == 0x0D
            // A line break ends a string that isn't closed.
            if isLineBreak { isValid = false }
            if isLineBreak || byte == open { quote = nil }
        }

        /// Returns `false` if the byte shows that `url(` begins a function.
        private mutating func readAddress(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x29:
                closers.removeLast()
                url = .none
            case _ where Self.isSpace(byte): break
            case 0x22 where url == .start, 0x27 where url == .start:
                url = .none
                return false
            case 0x22, 0x27, 0x28:
                isValid = false
                url = .unquoted
            default: url = .unquoted
            }
            return true
        }

        private mutating func readToken(_ byte: UInt8) {
            let isAddress = matched == Self.address.count
            readWord(byte)
            switch byte {
            case 0x22, 0x27: quote = byte
            case 0x28:
                closers.append(0x29)
                if isAddress { url = .start }
            case 0x5B: closers.append(0x5D)
            case 0x7B: closers.append(0x7D)
            case 0x29, 0x5D, 0x7D:
                // Another bracket than the one that is expected closes nothing.
                if closers.last == byte { closers.removeLast() } else { isValid = false }
            case 0x2A where previous == 0x2F: isValid = false
            default: break
            }
        }

        private mutating func readWord(_ byte: UInt8) {
            // A name after `#` or `@` is a part of that token, and other characters end a word.
            guard Self.isName(byte) else { return matched = byte == 0x23 || byte == 0x40 ? nil : 0 }
            guard let count = matched, count < Self.address.count, byte | 0x20 == Self.address[count] else {
                return matched = nil
            }
            matched = count + 1
        }

        /// Returns whether a byte is white space in CSS.
        static func isSpace(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x09, 0x0A, 0x0C, 0x0D, 0x20: true
            default: false
            }
        }

        /// Returns whether a byte can be a part of a name.
        static func isName(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F, 0x80...0xFF: true
            default: false
            }
        }

        /// Returns a text with what the end of a stylesheet closes.
        static func completed(_ text: [UInt8]) -> [UInt8] {
            var nesting = SVGNesting()
            for byte in text { nesting.read(byte) }
            return text + nesting.missing
        }

        /// Returns whether a text can be a selector or the value of a declaration: in a stylesheet, it ends where
        /// the text ends, and it contains no separator, comment, or escape.
        static func isComplete(_ text: some Sequence<UInt8>) -> Bool {
            var nesting = SVGNesting()
            for byte in text {
                if byte == 0x5C || byte == 0x3B && nesting.isOutside { return false }
                nesting.read(byte)
            }
            return nesting.isValid && nesting.isOutside
        }

        /// Splits a text at a separator outside of blocks, functions, strings, and URLs.
        static func split(_ text: some Collection<UInt8>, at separator: UInt8) -> [[UInt8]] {
            var parts: [[UInt8]] = [[]]
            var nesting = SVGNesting()
            for byte in text {
                if byte == separator, nesting.isOutside {
                    parts.append([])
                } else {
                    parts[parts.count - 1].append(byte)
                }
                nesting.read(byte)
            }
            return parts
        }
    }
#endif
