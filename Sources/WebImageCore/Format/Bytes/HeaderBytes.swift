// SPDX-License-Identifier: MIT

/// A bounds-checked view of the beginning of a file or of a part of it.
///
/// This type is the only place where header parsers access memory. Every read specifies its position and size and
/// throws if the bytes aren't available.
struct HeaderBytes {
    /// The byte order of stored numbers.
    enum Order { case big, little }

    private let bytes: UnsafeRawBufferPointer
    private let origin: Int
    private let length: Int?
    /// Whether the available bytes are the whole file.
    let isComplete: Bool

    /// Creates a view of the first bytes of a file. The buffer must outlive the view.
    init(_ bytes: UnsafeRawBufferPointer, isComplete: Bool) {
        self.init(bytes, origin: 0, length: nil, isComplete: isComplete)
    }

    private init(_ bytes: UnsafeRawBufferPointer, origin: Int, length: Int?, isComplete: Bool) {
        self.bytes = bytes
        self.origin = origin
        self.length = length
        self.isComplete = isComplete
    }

    var available: Int { max(0, min(length ?? .max, bytes.count - origin)) }

    /// The offset of this part from the start of the file.
    var position: Int { origin }

    /// The total size of this part in bytes, or `nil` if it extends to the end of the file.
    var declaredLength: Int? { length }

    /// Returns the part of `length` bytes at `offset`, whose bytes may not be available yet.
    func part(at offset: Int, length partLength: Int) throws(HeaderParsingError) -> HeaderBytes {
        let end = try sum(offset, partLength)
        guard end <= length ?? .max else { throw .outside }
        return HeaderBytes(bytes, origin: try sum(origin, offset), length: partLength, isComplete: isComplete)
    }

    func rest(from offset: Int) throws(HeaderParsingError) -> HeaderBytes {
        if let length {
            guard offset <= length else { throw .outside }
            return try part(at: offset, length: length - offset)
        }
        guard offset >= 0 else { throw .outside }
        return HeaderBytes(bytes, origin: try sum(origin, offset), length: nil, isComplete: isComplete)
    }

    /// Throws unless the `count` bytes at `offset` are available.
    func require(_ count: Int, at offset: Int) throws(HeaderParsingError) {
        _ = try self.offset(of: count, at: offset)
    }

    func byte(at offset: Int) throws(HeaderParsingError) -> UInt8 {
        bytes[try self.offset(of: 1, at: offset)]
    }

    /// Returns an unsigned number of `count` bytes, up to 8. Values that don't fit into `Int` are clamped to its
    /// maximum.
    func number(at offset: Int, _ count: Int, _ order: Order) throws(HeaderParsingError) -> Int {
        let start = try self.offset(of: count, at: offset)
        var value: UInt64 = 0
        for index in 0..<count {
            let next = UInt64(bytes[order == .big ? start + index : start + count - 1 - index])
            value = value << 8 | next
        }
        return Int(clamping: value)
    }

    func big16(at offset: Int) throws(HeaderParsingError) -> Int { try number(at: offset, 2, .big) }
    func big32(at offset: Int) throws(HeaderParsingError) -> Int { try number(at: offset, 4, .big) }
    func little16(at offset: Int) throws(HeaderParsingError) -> Int { try number(at: offset, 2, .little) }
    func little32(at offset: Int) throws(HeaderParsingError) -> Int { try number(at: offset, 4, .little) }
    func littleSigned32(at offset: Int) throws(HeaderParsingError) -> Int {
        Int(Int32(truncatingIfNeeded: try little32(at: offset)))
    }

    /// Returns whether `magic` is located at `offset`. If the available bytes end within a match and the file isn't
    /// complete, this function requests more data.
    func has(_ magic: [UInt8], at offset: Int = 0) throws(HeaderParsingError) -> Bool {
        try matches(magic.count, at: offset) { magic[$0] }
    }

    func has(_ text: StaticString, at offset: Int = 0) throws(HeaderParsingError) -> Bool {
        try matches(text.utf8CodeUnitCount, at: offset) { index in text.withUTF8Buffer { $0[index] } }
    }

    func has(anyOf texts: [StaticString], at offset: Int = 0) throws(HeaderParsingError) -> Bool {
        for text in texts {
            if try has(text, at: offset) { return true }
        }
        return false
    }

    private func matches(_ count: Int, at offset: Int, _ wanted: (Int) -> UInt8) throws(HeaderParsingError) -> Bool {
        for index in 0..<count {
            let here = try sum(offset, index)
            guard here < available else {
                if isComplete || here >= length ?? .max { return false }
                // Request only one more byte, because it may already differ.
                throw .needsMore(try sum(origin, try sum(here, 1)))
            }
            guard try byte(at: here) == wanted(index) else { return false }
        }
        return true
    }

    func withBytes<Result>(
        _ count: Int, at offset: Int, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(HeaderParsingError) -> Result {
        let start = try self.offset(of: count, at: offset)
        return body(UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
    }

    private func offset(of count: Int, at offset: Int) throws(HeaderParsingError) -> Int {
        guard offset >= 0, count >= 0 else { throw .outside }
        let end = try sum(offset, count)
        guard end <= length ?? .max else { throw .outside }
        let absolute = try sum(origin, end)
        guard absolute <= bytes.count else { throw .needsMore(absolute) }
        return origin + offset
    }

    private func sum(_ left: Int, _ right: Int) throws(HeaderParsingError) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        guard !overflow, sum >= 0 else { throw .outside }
        return sum
    }
}
