// SPDX-License-Identifier: MIT

import CHash
import Foundation

/// A key that identifies an image, or its data, in the caches.
///
/// A key is a list of components. Different lists never result in equal keys.
public struct CacheKey: Sendable, Hashable, CustomStringConvertible {
    /// A 128-bit XXH3 hash of the canonical bytes that finds entries in memory.
    ///
    /// The hash includes a random secret for each process, so an attacker can't prepare URLs that collide. A digest has
    /// no meaning outside the process.
    package struct Digest: Sendable, Hashable {
        /// The upper 64 bits.
        package let high: UInt64
        /// The lower 64 bits.
        package let low: UInt64

        /// Hashes the lower half only, which is already uniformly distributed.
        package func hash(into hasher: inout Hasher) { hasher.combine(low) }
    }

    /// A 128-bit XXH3 hash of the canonical bytes that is the same in every process.
    ///
    /// This digest finds rows in the index on disk. Before an entry is used, its complete key is compared.
    struct StoredDigest: Sendable, Hashable {
        let high: UInt64
        let low: UInt64

        func hash(into hasher: inout Hasher) { hasher.combine(low) }
    }

    /// The text form of the key, which is `length:field` for each field, in order, where `length` is the number of
    /// UTF-8 bytes.
    package let canonical: String
    /// The digest of ``canonical``.
    package let digest: Digest

    /// Creates a key from components in the given order.
    public init(_ components: some Sequence<String>) {
        self.init(canonical: components.reduce(into: "") { $0 += "\($1.utf8.count):\($1)" })
    }

    /// Creates a key from its stored text form.
    package init(canonical: String) {
        var text = canonical
        self.canonical = canonical
        self.digest = text.withUTF8 { Digest(ofCanonical: UnsafeRawBufferPointer($0)) }
    }

    /// The components in order.
    ///
    /// The value is computed on each access.
    public var components: [String] { Self.components(ofKey: canonical) }

    /// The components, each with its length in UTF-8 bytes.
    public var description: String { canonical }

    /// The digest that identifies the key in the index on disk.
    var storedDigest: StoredDigest {
        var text = canonical
        let hash = text.withUTF8 { XXH3_128bits($0.baseAddress, $0.count) }
        return StoredDigest(high: hash.high64, low: hash.low64)
    }

    /// Returns this key followed by additional fields.
    package func appending(_ fields: [String]) -> CacheKey {
        CacheKey(canonical: fields.reduce(into: canonical) { $0 += "\($1.utf8.count):\($1)" })
    }

    /// The SHA-256 hash of the canonical bytes as 64 hexadecimal digits, which is the file name of the entry.
    package var fileName: String {
        String(unsafeUninitializedCapacity: Self.fileNameBytes) { target in
            writeFileName(to: target)
            return Self.fileNameBytes
        }
    }

    static let fileNameBytes = 64

    /// Writes ``fileName`` to a buffer of ``fileNameBytes`` bytes.
    func writeFileName(to target: UnsafeMutableBufferPointer<UInt8>) {
        var text = canonical
        // The hash fills the front half of the buffer. Expand it from its end so that each byte is read before it's
        // overwritten.
        text.withUTF8 { bytes in _ = wi_sha256(bytes.baseAddress, bytes.count, target.baseAddress) }
        for index in (0..<32).reversed() {
            let byte = target[index]
            target[index * 2] = Self.digit(byte >> 4)
            target[index * 2 + 1] = Self.digit(byte & 15)
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }

    /// Returns a Boolean value that indicates whether the digests and the canonical texts of two keys are equal.
    public static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.digest == right.digest && left.canonical == right.canonical
    }

    /// Hashes the lower half of the digest only.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest.low) }
}

extension CacheKey.Digest {
    /// Creates the digest of a key's canonical bytes, for callers that don't need the key itself.
    package init(ofCanonical bytes: UnsafeRawBufferPointer) {
        let hash = XXH3_128bits_withSecret(bytes.baseAddress, bytes.count, Self.secret, Self.secretSize)
        self.init(high: hash.high64, low: hash.low64)
    }

    /// The size of XXH3's default secret in bytes. With this size, inputs of every length take the fastest path.
    private static let secretSize = 192

    /// Safe: the bytes, which differ in every process, are written before the pointer is published, and never written
    /// or freed afterward.
    nonisolated(unsafe) private static let secret: UnsafeRawPointer = {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: secretSize, alignment: 64)
        var random = SystemRandomNumberGenerator()
        for offset in stride(from: 0, to: secretSize, by: 8) {
            bytes.storeBytes(of: random.next(), toByteOffset: offset, as: UInt64.self)
        }
        return UnsafeRawPointer(bytes)
    }()
}
