// SPDX-License-Identifier: MIT

import CHash
import Foundation

/// A structured key, hashed once. Its text form is a list of length-prefixed fields, so that no two different
/// lists give the same text.
public struct CacheKey: Sendable, Hashable {
    /// 128 bits of XXH3 over the canonical bytes; finds entries in memory.
    ///
    /// A secret that is drawn once per process enters the hash, so URLs that collide can't be prepared in advance. The value
    /// means nothing outside the process.
    public struct Digest: Sendable, Hashable {
        /// The upper half.
        public let high: UInt64
        /// The lower half.
        public let low: UInt64

        /// Hashing a digest again would only cost time: the lower half is as good as any hash.
        public func hash(into hasher: inout Hasher) { hasher.combine(low) }
    }

    /// 128 bits of XXH3 over the canonical bytes, the same in every process: finds lines in the index on disk, where the whole
    /// key is compared before an entry is used.
    struct StoredDigest: Sendable, Hashable {
        let high: UInt64
        let low: UInt64

        func hash(into hasher: inout Hasher) { hasher.combine(low) }
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
        self.digest = text.withUTF8 { Digest(ofCanonical: UnsafeRawBufferPointer($0)) }
    }

    /// The digest that the index on disk knows the key by.
    var storedDigest: StoredDigest {
        var text = canonical
        let hash = text.withUTF8 { XXH3_128bits($0.baseAddress, $0.count) }
        return StoredDigest(high: hash.high64, low: hash.low64)
    }

    /// This key with more fields behind.
    public func appending(_ fields: [String]) -> CacheKey {
        CacheKey(canonical: fields.reduce(into: canonical) { $0 += "\($1.utf8.count):\($1)" })
    }

    /// SHA-256 of the canonical bytes as 64 hexadecimal digits: the name of the entry's file.
    public var fileName: String {
        var text = canonical
        return String(unsafeUninitializedCapacity: 64) { target in
            // The hash goes to the front half and is spread from its end, each byte after its digits were written.
            text.withUTF8 { bytes in _ = wi_sha256(bytes.baseAddress, bytes.count, target.baseAddress) }
            for index in (0..<32).reversed() {
                let byte = target[index]
                target[index * 2] = Self.digit(byte >> 4)
                target[index * 2 + 1] = Self.digit(byte & 15)
            }
            return 64
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }

    /// Equal when digest and canonical text are.
    public static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.digest == right.digest && left.canonical == right.canonical
    }

    /// Hashes the digest only.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest.low) }
}

extension CacheKey.Digest {
    /// The digest of a key's canonical bytes, for callers that do not need the key itself.
    package init(ofCanonical bytes: UnsafeRawBufferPointer) {
        let hash = XXH3_128bits_withSecret(bytes.baseAddress, bytes.count, Self.secret, Self.secretSize)
        self.init(high: hash.high64, low: hash.low64)
    }

    /// The size of XXH3's own secret, with which every length of input takes its fastest path.
    private static let secretSize = 192

    /// Random bytes, other ones in every process.
    ///
    /// Safe: the bytes are written before the pointer is published, and never written or freed afterward.
    nonisolated(unsafe) private static let secret: UnsafeRawPointer = {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: secretSize, alignment: 64)
        var random = SystemRandomNumberGenerator()
        for offset in stride(from: 0, to: secretSize, by: 8) {
            bytes.storeBytes(of: random.next(), toByteOffset: offset, as: UInt64.self)
        }
        return UnsafeRawPointer(bytes)
    }()
}
