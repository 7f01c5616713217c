// SPDX-License-Identifier: MIT

/// The checksum of PNG chunks (ISO 3309; PNG, third edition, section 5.5). The calculation is bitwise, because it
/// covers only a few dozen bytes of each file.
enum CRC32 {
    static func value(_ bytes: HeaderBytes, at offset: Int, count: Int) throws(HeaderParsingError) -> UInt32 {
        try bytes.withBytes(count, at: offset) { buffer in
            var register: UInt32 = .max
            for byte in buffer {
                register ^= UInt32(byte)
                for _ in 0..<8 {
                    register = register & 1 == 1 ? register >> 1 ^ 0xEDB8_8320 : register >> 1
                }
            }
            return ~register
        }
    }
}
