// SPDX-License-Identifier: MIT

import CPNG
import WebImageCore

/// The names of chunks as big-endian numbers.
enum PNGChunks {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    static let header = name("IHDR")
    static let palette = name("PLTE")
    static let transparency = name("tRNS")
    static let data = name("IDAT")
    static let end = name("IEND")
    static let animation = name("acTL")
    static let control = name("fcTL")
    static let frameData = name("fdAT")

    private static func name(_ text: StaticString) -> UInt32 {
        text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }
}

/// A chunk of a PNG file. `body` and the four bytes after it are within the bounds of `bytes`.
struct PNGChunk {
    let bytes: UnsafeBufferPointer<UInt8>
    let name: UInt32
    let body: Range<Int>
    /// The offset of `bytes` in the file.
    var base = 0

    var bodyInFile: Range<Int> { base + body.lowerBound..<base + body.upperBound }
    /// The range of the chunk in the file, including its length and its checksum.
    var whole: Range<Int> { base + body.lowerBound - 8..<base + body.upperBound + 4 }

    /// Whether the checksum, which covers the name and the body, is correct.
    var isIntact: Bool {
        let start = bytes.baseAddress.map { $0 + body.lowerBound - 4 }
        return wi_png_check(start, body.count + 4) == UInt32(truncatingIfNeeded: number(at: body.count))
    }

    /// Returns four bytes of the body as a number. If `offset` is the length of the body, this method returns the
    /// checksum.
    func number(at offset: Int) -> Int { short(at: offset) << 16 | short(at: offset + 2) }

    /// Returns two bytes of the body as a number.
    func short(at offset: Int) -> Int {
        Int(bytes[body.lowerBound + offset]) << 8 | Int(bytes[body.lowerBound + offset + 1])
    }
}

/// A writer for the chunks of a PNG file.
struct PNGChunkWriter {
    private(set) var bytes: [UInt8]

    /// `capacity` is the expected size of the file in bytes.
    init(capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
        bytes += PNGChunks.signature
    }

    /// Appends a chunk. The closure `body` appends the contents, up to 2 GiB.
    mutating func chunk(_ name: UInt32, _ body: (inout [UInt8]) -> Void = { _ in }) {
        let start = bytes.count
        bytes.appendBig(0 as UInt32)
        bytes.appendBig(name)
        body(&bytes)
        let count = bytes.count - start - 8
        for place in 0..<4 { bytes[start + place] = UInt8(truncatingIfNeeded: count >> (24 - place * 8)) }
        let check = bytes.withUnsafeBufferPointer { buffer in
            wi_png_check(buffer.baseAddress.map { $0 + start + 4 }, count + 4)
        }
        bytes.appendBig(check)
    }

    mutating func append(_ chunks: some Collection<UInt8>) { bytes += chunks }
}

extension [UInt8] {
    mutating func appendBig(_ value: UInt32) {
        for shift in [24, 16, 8, 0] as [UInt32] { append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    mutating func appendBig(_ value: UInt16) {
        append(UInt8(truncatingIfNeeded: value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }
}

extension ByteReader {
    mutating func bigUInt32() -> UInt32? { uint32()?.byteSwapped }
}
