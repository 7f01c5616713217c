// SPDX-License-Identifier: MIT

/// A decompressor for the beginning of deflate data (RFC 1951), with an output of limited size.
///
/// It's sufficient for inspecting a compressed SVG. It reads canonical codes bit by bit, so it requires no tables
/// whose size the input could inflate.
struct Inflate {
    /// A reason for the end of decompression.
    enum End { case finished, full, short, corrupt }

    private struct Stop: Error { let end: End }

    /// A canonical Huffman code: the number of symbols for each length, and the symbols in order.
    private struct Code {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int]

        /// Creates a code, or returns `nil` if the lengths declare more codes than exist.
        init?(lengths: ArraySlice<Int>) {
            symbols = [Int](repeating: 0, count: lengths.count)
            for length in lengths { counts[length] += 1 }
            counts[0] = 0
            var left = 1
            for length in 1...15 {
                left = left * 2 - counts[length]
                if left < 0 { return nil }
            }
            var offsets = [Int](repeating: 0, count: 16)
            for length in 1..<15 { offsets[length + 1] = offsets[length] + counts[length] }
            for (symbol, length) in lengths.enumerated() where length > 0 {
                symbols[offsets[length]] = symbol
                offsets[length] += 1
            }
        }
    }

    private var bits: BitReader
    private let limit: Int
    private var output: [UInt8] = []

    /// Decompresses at most `limit` bytes.
    static func unpack(_ bytes: [UInt8], limit: Int) -> (output: [UInt8], end: End) {
        var inflate = Inflate(bits: BitReader(bytes), limit: limit)
        inflate.output.reserveCapacity(limit)
        do throws(Stop) {
            try inflate.run()
            return (inflate.output, .finished)
        } catch {
            return (inflate.output, error.end)
        }
    }

    private init(bits: BitReader, limit: Int) {
        self.bits = bits
        self.limit = limit
    }

    private mutating func run() throws(Stop) {
        var isLast = false
        while !isLast {
            isLast = try readBits(1) == 1
            switch try readBits(2) {
            case 0: try copyStored()
            case 1: try unpack(Self.fixedLengths[...], distances: Self.fixedDistances[...])
            case 2: try unpackDynamic()
            default: throw Stop(end: .corrupt)
            }
        }
    }

    private mutating func readBits(_ count: Int) throws(Stop) -> Int {
        do throws(BitReader.End) { return try bits.bits(count) } catch { throw Stop(end: .short) }
    }

    private mutating func put(_ byte: UInt8) throws(Stop) {
        guard output.count < limit else { throw Stop(end: .full) }
        output.append(byte)
    }

    private mutating func copyStored() throws(Stop) {
        bits.alignToByte()
        let count = try readBits(16)
        guard try readBits(16) == count ^ 0xFFFF else { throw Stop(end: .corrupt) }
        for _ in 0..<count { try put(UInt8(try readBits(8))) }
    }

    private mutating func unpackDynamic() throws(Stop) {
        let literals = try readBits(5) + 257
        let distances = try readBits(5) + 1
        let ordered = try readBits(4) + 4
        guard literals <= 286, distances <= 30 else { throw Stop(end: .corrupt) }
        var lengths = [Int](repeating: 0, count: 19)
        for index in 0..<ordered { lengths[Self.order[index]] = try readBits(3) }
        guard let code = Code(lengths: lengths[...]) else { throw Stop(end: .corrupt) }
        lengths = []
        while lengths.count < literals + distances {
            let symbol = try symbol(of: code)
            switch symbol {
            case 0..<16: lengths.append(symbol)
            case 16:
                guard let last = lengths.last else { throw Stop(end: .corrupt) }
                lengths += [Int](repeating: last, count: try readBits(2) + 3)
            case 17: lengths += [Int](repeating: 0, count: try readBits(3) + 3)
            default: lengths += [Int](repeating: 0, count: try readBits(7) + 11)
            }
        }
        guard lengths.count == literals + distances else { throw Stop(end: .corrupt) }
        try unpack(lengths[..<literals], distances: lengths[literals...])
    }

    private mutating func unpack(_ literals: ArraySlice<Int>, distances: ArraySlice<Int>) throws(Stop) {
        guard let literals = Code(lengths: literals), let distances = Code(lengths: distances) else {
            throw Stop(end: .corrupt)
        }
        while true {
            let symbol = try symbol(of: literals)
            if symbol == 256 { return }
            if symbol < 256 {
                try put(UInt8(symbol))
                continue
            }
            guard symbol < 286 else { throw Stop(end: .corrupt) }
            let length = try extended(symbol - 257, base: Self.lengthBase, extra: Self.lengthExtra)
            let code = try self.symbol(of: distances)
            guard code < 30 else { throw Stop(end: .corrupt) }
            let distance = try extended(code, base: Self.distanceBase, extra: Self.distanceExtra)
            guard distance <= output.count else { throw Stop(end: .corrupt) }
            for _ in 0..<length { try put(output[output.count - distance]) }
        }
    }

    private mutating func extended(_ index: Int, base: [Int], extra: [Int]) throws(Stop) -> Int {
        base[index] + (try readBits(extra[index]))
    }

    private mutating func symbol(of code: Code) throws(Stop) -> Int {
        var value = 0
        var first = 0
        var index = 0
        for length in 1...15 {
            value |= try readBits(1)
            let count = code.counts[length]
            if value - count < first { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        throw Stop(end: .corrupt)
    }

    // The tables of RFC 1951, sections 3.2.5 to 3.2.7.
    private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    private static let lengthBase = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthExtra = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBase = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1_025, 1_537, 2_049, 3_073,
        4_097, 6_145, 8_193, 12_289, 16_385, 24_577,
    ]
    private static let distanceExtra = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ]
    private static let fixedLengths =
        [Int](repeating: 8, count: 144) + [Int](repeating: 9, count: 112) + [Int](repeating: 7, count: 24)
        + [Int](repeating: 8, count: 8)
    private static let fixedDistances = [Int](repeating: 5, count: 30)
}
