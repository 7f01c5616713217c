// SPDX-License-Identifier: MIT

/// A name of four ASCII characters, as in PNG chunks, RIFF chunks, and ISO boxes.
struct FourCC: Hashable, ExpressibleByStringLiteral {
    private let code: UInt32

    init(stringLiteral value: StaticString) {
        code = value.withUTF8Buffer { $0.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
    }

    init(_ bytes: HeaderBytes, at offset: Int) throws(HeaderParsingError) {
        code = UInt32(truncatingIfNeeded: try bytes.big32(at: offset))
    }
}
