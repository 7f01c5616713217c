// SPDX-License-Identifier: MIT

import CHash

/// HMAC-SHA-256 (RFC 2104), for values that can't be computed without the key.
enum KeyedHash {
    /// Returns the 32 bytes of the hash, or `nil` if memory can't be allocated.
    static func bytes(key: [UInt8], _ message: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: 32)
        return wi_hmac_sha256(key, key.count, message, message.count, &digest) ? digest : nil
    }

    static func hexadecimal(key: [UInt8], _ message: [UInt8]) -> String {
        let digest = bytes(key: key, message) ?? random(count: 32)
        return digest.withUnsafeBytes { HexadecimalName.name($0) }
    }

    static func random(count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        // Every number is a call of the system, so use all of its bytes.
        while bytes.count < count { withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) } }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
