// SPDX-License-Identifier: MIT

/// A decompressor for the beginning of gzip data (RFC 1952).
enum Gzip {
    /// Decompresses at most ``HeaderBounds/markupUnits`` bytes.
    ///
    /// - Returns: The output, and whether more input would extend it. The result is `nil` if the data isn't in gzip
    ///   format.
    static func unpack(_ bytes: HeaderBytes) throws(HeaderParsingError) -> (text: [UInt8], isShort: Bool)? {
        guard try bytes.has([0x1F, 0x8B, 0x08]) else { return nil }
        let flags = try bytes.byte(at: 3)
        var offset = 10
        if flags & 0x04 != 0 { offset += 2 + (try bytes.little16(at: offset)) }
        if flags & 0x08 != 0 { try skipName(bytes, &offset) }
        if flags & 0x10 != 0 { try skipName(bytes, &offset) }
        if flags & 0x02 != 0 { offset += 2 }
        try bytes.require(1, at: offset)
        // Stored blocks have the lowest compression ratio, so more input than this is never necessary.
        let count = min(bytes.available - offset, HeaderBounds.markupUnits + 1_024)
        let packed = try bytes.withBytes(count, at: offset) { [UInt8]($0) }
        let (text, end) = Inflate.unpack(packed, limit: HeaderBounds.markupUnits)
        return (text, end == .short && !bytes.isComplete)
    }

    private static func skipName(_ bytes: HeaderBytes, _ offset: inout Int) throws(HeaderParsingError) {
        while try bytes.byte(at: offset) != 0 { offset += 1 }
        offset += 1
    }
}
