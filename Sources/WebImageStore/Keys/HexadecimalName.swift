// SPDX-License-Identifier: MIT

/// The hexadecimal form of the bytes of a hash.
enum HexadecimalName {
    static func bytes(_ name: String) -> [UInt8] {
        func value(_ digit: UInt8) -> UInt8 { digit < 58 ? digit &- 48 : digit &- 87 }
        var name = name
        return name.withUTF8 { digits in
            [UInt8](unsafeUninitializedCapacity: digits.count / 2) { bytes, count in
                count = digits.count / 2
                for index in 0..<count { bytes[index] = value(digits[index * 2]) << 4 | value(digits[index * 2 + 1]) }
            }
        }
    }

    static func name(_ bytes: UnsafeRawBufferPointer) -> String {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }
        return String(unsafeUninitializedCapacity: bytes.count * 2) { digits in
            for (index, byte) in bytes.enumerated() {
                digits[index * 2] = digit(byte >> 4)
                digits[index * 2 + 1] = digit(byte & 15)
            }
            return bytes.count * 2
        }
    }
}
