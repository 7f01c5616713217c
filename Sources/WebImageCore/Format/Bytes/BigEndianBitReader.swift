// SPDX-License-Identifier: MIT

/// A reader for numbers with any number of bits, with the most significant bit of each byte first, as in HEVC and AV1.
struct BigEndianBitReader {
    /// An error that's thrown if the data ends within a number or if a number has too many bits.
    struct End: Error {}

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the next `count` bits, up to 32.
    mutating func bits(_ count: Int) throws(End) -> Int {
        guard (0...32).contains(count), count <= bytes.count * 8 - position else { throw End() }
        var value = 0
        for _ in 0..<count {
            value = value << 1 | Int(bytes[position >> 3] >> (7 - position & 7) & 1)
            position += 1
        }
        return value
    }

    mutating func flag() throws(End) -> Bool { try bits(1) == 1 }

    mutating func skip(_ count: Int) throws(End) {
        guard count >= 0, count <= bytes.count * 8 - position else { throw End() }
        position += count
    }

    /// Returns the next number in an exponential-Golomb code (`ue(v)` in HEVC, `uvlc()` in AV1).
    mutating func exponential() throws(End) -> Int {
        var zeros = 0
        while try !flag() {
            zeros += 1
            guard zeros <= 32 else { throw End() }
        }
        return try bits(zeros) + (1 << zeros) - 1
    }
}
