// SPDX-License-Identifier: MIT

/// A reader that moves forward through little-endian bytes. Reads past the end return `nil` or `false`.
struct ByteReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private(set) var offset: Int

    init(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int = 0) {
        self.bytes = bytes
        self.offset = min(max(0, offset), bytes.count)
    }

    var remaining: Int { bytes.count - offset }
    var isAtEnd: Bool { remaining == 0 }

    mutating func byte() -> UInt8? {
        guard offset < bytes.count else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func uint16() -> Int? {
        guard remaining >= 2 else { return nil }
        defer { offset += 2 }
        return Int(bytes[offset]) | Int(bytes[offset + 1]) << 8
    }

    mutating func uint32() -> UInt32? {
        guard let low = uint16(), let high = uint16() else { return nil }
        return UInt32(low) | UInt32(high) << 16
    }

    mutating func read(_ count: Int) -> Slice<UnsafeBufferPointer<UInt8>>? {
        guard count >= 0, count <= remaining else { return nil }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    /// Skips `count` bytes. If fewer bytes remain, this method moves to the end and returns `false`.
    mutating func skip(_ count: Int) -> Bool {
        guard count >= 0, count <= remaining else {
            offset = bytes.count
            return false
        }
        offset += count
        return true
    }

    /// Skips a chain of length-prefixed blocks and its terminator, which GIF uses.
    mutating func skipSubBlocks() -> Bool {
        while let size = byte() {
            if size == 0 { return true }
            guard skip(Int(size)) else { return false }
        }
        return false
    }
}
