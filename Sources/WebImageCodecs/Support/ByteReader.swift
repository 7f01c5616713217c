// SPDX-License-Identifier: MIT

/// Reads forward through bytes; what lies beyond the end is nil or false, never touched. Little-endian.
struct ByteReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    /// The next byte's place.
    private(set) var offset: Int

    init(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int = 0) {
        self.bytes = bytes
        self.offset = min(max(0, offset), bytes.count)
    }

    /// Bytes that are left.
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

    mutating func take(_ count: Int) -> Slice<UnsafeBufferPointer<UInt8>>? {
        guard count >= 0, count <= remaining else { return nil }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    /// Steps over `count` bytes; false, and at the end, where there are not so many.
    mutating func skip(_ count: Int) -> Bool {
        guard count >= 0, count <= remaining else {
            offset = bytes.count
            return false
        }
        offset += count
        return true
    }

    /// Steps over a chain of length-prefixed blocks and its terminator, as GIF has them.
    mutating func skipSubBlocks() -> Bool {
        while let size = byte() {
            if size == 0 { return true }
            guard skip(Int(size)) else { return false }
        }
        return false
    }
}
