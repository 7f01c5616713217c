// SPDX-License-Identifier: MIT

import CPNG
import Foundation

/// A writer of deflate streams (RFC 1951) with fixed codes and stored blocks.
struct DeflateWriter {
    private(set) var bytes: [UInt8] = []
    /// The number of bits in the last byte.
    private var used = 8

    /// Writes the lowest bits of a number, beginning with the least significant one.
    mutating func bits(_ value: Int, _ count: Int) {
        var (rest, left) = (value & (1 &<< count &- 1), count)
        while left > 0 {
            if used == 8 {
                bytes.append(0)
                used = 0
            }
            let written = min(left, 8 - used)
            bytes[bytes.count - 1] |= UInt8(truncatingIfNeeded: rest &<< used)
            rest &>>= written
            left -= written
            used += written
        }
    }

    /// Returns a code with its most significant bit first, as the stream contains it.
    private static func reversed(_ value: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 &<< 1 | (value &>> $1 & 1) }
    }

    /// The codes of all literals, and their numbers of bits.
    private static let literalCodes: [(Int, Int)] = (0..<256).map { value in
        value < 144
            ? (DeflateWriter.reversed(0x30 + value, 8), 8) : (DeflateWriter.reversed(0x190 + value - 144, 9), 9)
    }

    /// Writes a code, which begins with its most significant bit.
    private mutating func code(_ value: Int, _ count: Int) { bits(Self.reversed(value, count), count) }

    mutating func beginBlock(isLast: Bool = false) { bits(isLast ? 3 : 2, 3) }

    mutating func literals(_ values: some Sequence<UInt8>) {
        for value in values {
            let (code, count) = Self.literalCodes[Int(value)]
            bits(code, count)
        }
    }

    /// Repeats the previous byte three times.
    mutating func copy() {
        code(1, 7)
        code(0, 5)
    }

    mutating func endBlock() { code(0, 7) }

    mutating func align() { used = 8 }

    /// Writes a stored block whose header announces `count` bytes, which is the size of `body` by default.
    mutating func stored(_ body: [UInt8] = [], count: Int? = nil, isLast: Bool = false) {
        bits(isLast ? 1 : 0, 3)
        align()
        bits(count ?? body.count, 16)
        bits(~(count ?? body.count) & 0xFFFF, 16)
        bytes += body
    }
}

/// A writer of files with Apple's chunk iDOT, which describes two strips.
struct StripPNG {
    var picture: HandmadePNG
    /// The rows of the first strip.
    var rows: Int
    /// The zlib stream up to the second strip, and the remainder without the checksum.
    var first: [UInt8]
    var second: [UInt8]
    /// The seven numbers of the chunk. If it's `nil`, they describe the strips.
    var numbers: [UInt32]?

    /// Creates a file with a valid chunk.
    init(_ picture: HandmadePNG, rows: Int) {
        self.picture = picture
        self.rows = rows
        var upper = DeflateWriter()
        upper.beginBlock()
        upper.literals((0..<rows).flatMap(picture.filtered))
        upper.endBlock()
        upper.stored()
        var lower = DeflateWriter()
        lower.beginBlock(isLast: true)
        lower.literals((rows..<picture.height).flatMap(picture.filtered))
        lower.endBlock()
        first = [0x78, 0x01] + upper.bytes
        second = lower.bytes
    }

    /// The decompressed size of a row in bytes.
    var rowBytes: Int { picture.samples.count / picture.height + 1 }

    /// The decompressed rows.
    var raw: [UInt8] { (0..<picture.height).flatMap(picture.filtered) }

    /// Returns the file. Without `check`, the stream contains the correct checksum of the rows.
    func bytes(check: UInt32? = nil) -> Data {
        let stream = [first, second + picture.big(check ?? HandmadePNG.checksum(raw))]
        let parts = stream.map { stream in
            Array(
                stride(from: 0, to: stream.count, by: picture.chunkSize).map { start in
                    picture.chunk("IDAT", Array(stream[start..<min(start + picture.chunkSize, stream.count)]))
                }.joined())
        }
        let height = UInt32(picture.height)
        let described = [2, 0, UInt32(rows), 40, UInt32(rows), height - UInt32(rows), 40 + UInt32(parts[0].count)]
        let type = [0, 4, 2, 6][picture.channels - 1] as UInt8
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let header = picture.big(UInt32(picture.width)) + picture.big(height) + [UInt8(picture.bits), type, 0, 0, 0]
        file += picture.chunk("IHDR", header)
        file += picture.chunk("iDOT", (numbers ?? described).flatMap(picture.big))
        return Data(file + parts[0] + parts[1] + picture.chunk("IEND", []))
    }
}
