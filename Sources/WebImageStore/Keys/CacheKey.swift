// SPDX-License-Identifier: MIT

import CHash
import Foundation

/// A structured key, hashed once. Its text form is a list of length-prefixed fields, so that no two different
/// lists give the same text.
public struct CacheKey: Sendable, Hashable {
    /// 128 bits of XXH3 over the canonical bytes; finds entries in memory.
    public struct Digest: Sendable, Hashable {
        /// The upper half.
        public let high: UInt64
        /// The lower half.
        public let low: UInt64

        /// Hashing a digest again would only cost time: the lower half is as good as any hash.
        public func hash(into hasher: inout Hasher) { hasher.combine(low) }
    }

    /// `length:field` for each field, one after the other, as UTF-8.
    public let canonical: String
    /// Digest of `canonical`.
    public let digest: Digest

    /// A key of `fields` in this order.
    public init(_ fields: [String]) {
        self.init(canonical: fields.reduce(into: "") { $0 += "\($1.utf8.count):\($1)" })
    }

    /// A key from its stored text form.
    public init(canonical: String) {
        var text = canonical
        self.canonical = canonical
        self.digest = text.withUTF8 { bytes in
            let hash = XXH3_128bits(bytes.baseAddress, bytes.count)
            return Digest(high: hash.high64, low: hash.low64)
        }
    }

    /// This key with more fields behind.
    public func appending(_ fields: [String]) -> CacheKey {
        CacheKey(canonical: fields.reduce(into: canonical) { $0 += "\($1.utf8.count):\($1)" })
    }

    /// SHA-256 of the canonical bytes as 64 hexadecimal digits: the name of the entry's file.
    public var fileName: String {
        var text = canonical
        var hash = [UInt8](repeating: 0, count: 32)
        text.withUTF8 { bytes in _ = SHA256(bytes.baseAddress, bytes.count, &hash) }
        let digits = Array("0123456789abcdef".utf8)
        return String(unsafeUninitializedCapacity: 64) { target in
            for (index, byte) in hash.enumerated() {
                target[index * 2] = digits[Int(byte >> 4)]
                target[index * 2 + 1] = digits[Int(byte & 15)]
            }
            return 64
        }
    }

    /// Equal when digest and canonical text are.
    public static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.digest == right.digest && left.canonical == right.canonical
    }

    /// Hashes the digest only.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest.low) }
}
