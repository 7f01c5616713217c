// SPDX-License-Identifier: MIT

/// A reader for numbers with any number of bits, with the least significant bit of each byte first, as in JPEG XL and
/// deflate.
struct BitReader {
    /// An error that's thrown if the data ends within a number.
    struct End: Error {}

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the next `count` bits, up to 32.
    mutating func bits(_ count: Int) throws(End) -> Int {
        guard position + count <= bytes.count * 8 else { throw End() }
        var value = 0
        for index in 0..<count {
            let bit = Int(bytes[position >> 3] >> (position & 7) & 1)
            value |= bit << index
            position += 1
        }
        return value
    }

    mutating func flag() throws(End) -> Bool { try bits(1) == 1 }

    mutating func skip(_ count: Int) throws(End) {
        guard count <= bytes.count * 8 - position else { throw End() }
        position += count
    }

    mutating func alignToByte() { position = min(bytes.count * 8, (position + 7) / 8 * 8) }
}
