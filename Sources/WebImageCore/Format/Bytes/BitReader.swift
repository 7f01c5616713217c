// SPDX-License-Identifier: MIT

/// Reads numbers of some bits, the lowest bit of each byte first, as JPEG XL and deflate store them.
struct BitReader {
    /// The bytes end before the number does.
    struct End: Error {}

    private let bytes: [UInt8]
    private var position = 0

    /// Reads from the first bit of `bytes`.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next `count` bits, at most 32.
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

    /// The next bit.
    mutating func flag() throws(End) -> Bool { try bits(1) == 1 }

    /// Passes over `count` bits.
    mutating func skip(_ count: Int) throws(End) {
        guard count <= bytes.count * 8 - position else { throw End() }
        position += count
    }

    /// Passes over what is left of a byte that was begun.
    mutating func alignToByte() { position = min(bytes.count * 8, (position + 7) / 8 * 8) }
}
