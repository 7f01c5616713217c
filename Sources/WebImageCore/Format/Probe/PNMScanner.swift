// SPDX-License-Identifier: MIT

/// A reader of the tokens in the header of a Netpbm file.
struct PNMScanner {
    private let bytes: HeaderBytes
    private(set) var offset: Int

    private static let lineFeed: UInt8 = 0x0A

    init(_ bytes: HeaderBytes, at offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    /// Reads the width, the height, and, if `count` is 3, the maximum. One byte of whitespace follows the last number.
    mutating func readNumbers(count: Int, format: ImageFormat) throws(HeaderParsingError) -> PNMNumbers {
        var numbers = PNMNumbers()
        let first = try peek()
        guard Self.isSpace(first) || first == 0x23 else {
            throw .corrupt(format, "no whitespace follows the signature")
        }
        numbers.width = try number(format)
        numbers.height = try number(format)
        if count > 2 { numbers.maximum = try number(format) }
        return numbers
    }

    /// Reads a decimal number and the byte of whitespace after it. Whitespace and comments may precede the number.
    private mutating func number(_ format: ImageFormat) throws(HeaderParsingError) -> Int {
        var byte = try nextSkippingComment()
        while Self.isSpace(byte) { byte = try nextSkippingComment() }
        var value = 0
        var isEmpty = true
        while let digit = Self.digit(byte) {
            value = Self.appending(digit, to: value)
            isEmpty = false
            byte = try nextSkippingComment()
        }
        guard !isEmpty, Self.isSpace(byte) else { throw .corrupt(format, "the header contains an invalid number") }
        return value
    }

    /// Reads the lines of a PAM header, up to and including the line `ENDHDR`.
    mutating func readLines() throws(HeaderParsingError) -> PNMNumbers {
        guard try next() == Self.lineFeed else { throw .corrupt(.pam, "no line break follows the signature") }
        var numbers = PNMNumbers(maximum: 0)
        var depth = 0
        var tupleType: [UInt8] = []
        while true {
            let line = try self.line()
            let name = line.prefix { !Self.isSpace($0) }
            let value = line.dropFirst(name.count).drop { Self.isSpace($0) }
            switch String(decoding: name, as: UTF8.self) {
            case "": continue
            case "WIDTH": numbers.width = try Self.number(value)
            case "HEIGHT": numbers.height = try Self.number(value)
            case "DEPTH": depth = try Self.number(value)
            case "MAXVAL": numbers.maximum = try Self.number(value)
            case "TUPLTYPE": tupleType = (tupleType.isEmpty ? [] : tupleType + [0x20]) + Array(value)
            case "ENDHDR":
                numbers.channels = try Self.channels(
                    depth: depth, tupleType: String(decoding: tupleType, as: UTF8.self))
                return numbers
            default: throw .corrupt(.pam, "the header contains an unknown line")
            }
        }
    }

    /// Returns whether the signature is followed by a line of a PAM header. The thumbnails of the program XV begin with
    /// `P7 332`.
    mutating func hasLine() throws(HeaderParsingError) -> Bool {
        guard try next() == Self.lineFeed else { return false }
        while true {
            let byte = try peek()
            if byte == 0x23 {
                _ = try line()
            } else if Self.isSpace(byte) {
                _ = try next()
            } else {
                let names: [StaticString] = ["WIDTH ", "HEIGHT ", "DEPTH ", "MAXVAL ", "TUPLTYPE ", "ENDHDR"]
                for name in names {
                    if try bytes.has(name, at: offset) { return true }
                }
                return false
            }
        }
    }

    /// Reads a line without its line break and without whitespace at both ends. The result is empty for comments.
    private mutating func line() throws(HeaderParsingError) -> [UInt8] {
        var line: [UInt8] = []
        while true {
            let byte = try next()
            if byte == Self.lineFeed { break }
            line.append(byte)
        }
        while let last = line.last, Self.isSpace(last) { line.removeLast() }
        let text = Array(line.drop { Self.isSpace($0) })
        return text.first == 0x23 ? [] : text
    }

    private static func number(_ text: ArraySlice<UInt8>) throws(HeaderParsingError) -> Int {
        var value = 0
        for byte in text {
            guard let digit = digit(byte) else { throw .corrupt(.pam, "the header contains an invalid number") }
            value = appending(digit, to: value)
        }
        return value
    }

    /// Returns the number of samples per pixel. A file without a tuple type has the usual one for its depth.
    private static func channels(depth: Int, tupleType: String) throws(HeaderParsingError) -> Int {
        let channels: Int
        switch tupleType {
        case "" where (1...4).contains(depth): channels = depth
        case "BLACKANDWHITE", "GRAYSCALE": channels = 1
        case "BLACKANDWHITE_ALPHA", "GRAYSCALE_ALPHA": channels = 2
        case "RGB": channels = 3
        case "RGB_ALPHA": channels = 4
        default:
            let name = tupleType.isEmpty ? "no tuple type" : "the tuple type \(tupleType.prefix(32))"
            throw .unsupported(.pam, "\(depth) samples per pixel with \(name)")
        }
        guard depth == channels else {
            throw .corrupt(.pam, "a depth of \(depth) contradicts the tuple type \(tupleType)")
        }
        return channels
    }

    /// Returns the next byte. A comment counts as the line break at its end.
    private mutating func nextSkippingComment() throws(HeaderParsingError) -> UInt8 {
        var byte = try next()
        if byte == 0x23 {
            while byte != Self.lineFeed, byte != 0x0D { byte = try next() }
        }
        return byte
    }

    private mutating func next() throws(HeaderParsingError) -> UInt8 {
        let byte = try peek()
        offset += 1
        return byte
    }

    private func peek() throws(HeaderParsingError) -> UInt8 {
        try HeaderParsingError.check(
            offset + 1, limit: HeaderBounds.pnmHeaderBytes, "bytes in the header of a PNM file")
        return try bytes.byte(at: offset)
    }

    /// Appends a digit to a number. Larger numbers than any valid one keep their magnitude, so they're rejected.
    private static func appending(_ digit: Int, to value: Int) -> Int {
        value > 1 << 40 ? value : value * 10 + digit
    }

    private static func digit(_ byte: UInt8) -> Int? { (0x30...0x39).contains(byte) ? Int(byte) - 0x30 : nil }

    /// Returns whether a byte is whitespace: a space, a tab, a line feed, a vertical tab, a form feed, or a carriage
    /// return.
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
