// SPDX-License-Identifier: MIT

import Foundation

/// A builder for test files.
struct ByteBuilder {
    private(set) var bytes: [UInt8] = []

    /// The bytes that have been added so far.
    var data: Data { Data(bytes) }

    /// Appends individual bytes.
    func raw(_ values: UInt8...) -> ByteBuilder { joined(values) }

    /// Appends the UTF-8 bytes of `text`.
    func text(_ text: String) -> ByteBuilder { joined(Array(text.utf8)) }

    /// Appends `count` zero bytes.
    func zeros(_ count: Int) -> ByteBuilder { joined([UInt8](repeating: 0, count: count)) }

    /// Appends the lowest `count` bytes of `value` in big-endian order.
    func big(_ value: Int, _ count: Int) -> ByteBuilder {
        joined((0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
    }

    /// Appends the lowest `count` bytes of `value` in little-endian order.
    func little(_ value: Int, _ count: Int) -> ByteBuilder {
        joined((0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
    }

    /// Appends the bytes of another builder.
    func joined(_ other: ByteBuilder) -> ByteBuilder { joined(other.bytes) }

    /// Appends a sequence of bytes.
    func joined(_ other: some Sequence<UInt8>) -> ByteBuilder {
        var copy = self
        copy.bytes += other
        return copy
    }

    /// Appends a PNG chunk.
    func chunk(_ name: String, _ content: ByteBuilder = ByteBuilder()) -> ByteBuilder {
        let body = ByteBuilder().text(name).joined(content)
        return big(content.bytes.count, 4).joined(body).big(Int(Self.crc(body.bytes)), 4)
    }

    /// Appends a RIFF chunk.
    func riff(_ name: String, _ content: ByteBuilder) -> ByteBuilder {
        text(name).little(content.bytes.count, 4).joined(content).zeros(content.bytes.count & 1)
    }

    /// Appends a JPEG segment.
    func segment(_ marker: UInt8, _ content: ByteBuilder) -> ByteBuilder {
        raw(0xFF, marker).big(content.bytes.count + 2, 2).joined(content)
    }

    /// Appends an ISO BMFF box.
    func box(_ name: String, _ content: ByteBuilder = ByteBuilder()) -> ByteBuilder {
        big(content.bytes.count + 8, 4).text(name).joined(content)
    }

    /// Appends an entry of an Apple icon, whose name precedes its length.
    func entry(_ name: String, _ content: ByteBuilder) -> ByteBuilder {
        text(name).big(content.bytes.count + 8, 4).joined(content)
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var register: UInt32 = .max
        for byte in bytes {
            register ^= UInt32(byte)
            for _ in 0..<8 { register = register & 1 == 1 ? register >> 1 ^ 0xEDB8_8320 : register >> 1 }
        }
        return ~register
    }
}

/// A pseudorandom number generator (SplitMix64) that produces the same numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
