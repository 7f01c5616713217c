// SPDX-License-Identifier: MIT

import CHash
import Foundation
import Glibc
import WebImageConcurrency
import WebImageCore

extension DiskCache {
    /// A secret key of 256 bits that encrypts the files of a disk cache.
    ///
    /// The app generates a key and stores it where other programs can't read it, for example in the keyring of the
    /// desktop or as a credential of systemd. Without the key, the entries can't be read. The description of a key
    /// contains none of its bytes.
    public struct EncryptionKey: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
        CustomReflectable
    {
        /// The size of a key in bytes, which is 32.
        public static let byteCount = 32

        let bytes: [UInt8]

        /// Creates a random key.
        public init() { bytes = KeyedHash.random(count: Self.byteCount) }

        /// Creates a key from stored bytes.
        ///
        /// The bytes must be random, such as those of ``data``. For a passphrase, use ``derived(from:for:)``.
        ///
        /// - Parameter data: The 32 bytes of the key.
        /// - Throws: ``ImageError/CacheFailure/invalidEncryptionKey(reason:)`` if the number of bytes isn't
        ///   ``byteCount``.
        public init(data: Data) throws(ImageError) {
            guard data.count == Self.byteCount else {
                throw .cache(
                    .invalidEncryptionKey(reason: "it has \(data.count) bytes, but \(Self.byteCount) are required"))
            }
            bytes = [UInt8](data)
        }

        private init(bytes: [UInt8]) { self.bytes = bytes }

        /// The bytes of the key, for storing it in a safe place.
        public var data: Data { Data(bytes) }

        /// The text `DiskCache.EncryptionKey(redacted)`.
        public var description: String { "DiskCache.EncryptionKey(redacted)" }

        /// The same text as ``description``.
        public var debugDescription: String { description }

        /// A mirror without children, so that dumps don't show the key.
        public var customMirror: Mirror { Mirror(self, children: [:]) }

        /// Returns a Boolean value that indicates whether two keys are equal. The time that this takes doesn't depend on
        /// the bytes.
        public static func == (left: EncryptionKey, right: EncryptionKey) -> Bool {
            zip(left.bytes, right.bytes).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
        }

        /// Hashes the key.
        public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
    }
}

extension DiskCache.EncryptionKey {
    /// Derives a key from a passphrase with scrypt (RFC 7914, N = 2¹⁷, r = 8, p = 1).
    ///
    /// The derivation runs on a dedicated thread, takes about a second, and needs 128 MiB of memory. Derivations run one
    /// after another. The result also depends on random bytes in the file `salt` of the cache directory, which this
    /// method creates if necessary. So the key can't be computed in advance, and after the directory is deleted, the
    /// same passphrase results in another key.
    ///
    /// - Parameters:
    ///   - passphrase: The passphrase. Different Unicode representations of the same text result in the same key.
    ///   - configuration: The configuration of the cache for which the key is used. It determines the directory.
    /// - Returns: The key, for ``DiskCache/Configuration/encryptionKey``.
    /// - Throws: ``ImageError/CacheFailure/invalidEncryptionKey(reason:)`` if the passphrase is empty or if the memory
    ///   can't be allocated, or the errors of ``DiskCache/init(configuration:)``.
    public static func derived(
        from passphrase: String, for configuration: DiskCache.Configuration
    ) async throws(ImageError) -> DiskCache.EncryptionKey {
        let result = await derivations.run(.normal) { _ in
            Result { () throws(ImageError) in try derivedBlocking(from: passphrase, for: configuration) }
        }
        // The pool is never closed.
        guard let result else { throw .request(.managerShutDown) }
        return try result.get()
    }

    /// The thread of the derivations. A single one limits the memory.
    private static let derivations = WorkerPool<Void, RequestPriority>(name: "webimage-scrypt", threads: 1) {}

    private static func derivedBlocking(
        from passphrase: String, for configuration: DiskCache.Configuration
    ) throws(ImageError) -> DiskCache.EncryptionKey {
        guard !passphrase.isEmpty else { throw .cache(.invalidEncryptionKey(reason: "the passphrase is empty")) }
        var plain = configuration
        plain.encryptionKey = nil
        let layout = CacheLayout(plain)
        try layout.prepareFolders(configuration.fileSystem)
        let salt: [UInt8]
        do throws(SystemCallError) {
            salt = try CacheSalt.load(layout.salt, configuration.fileSystem)
        } catch {
            throw .cache(.systemCallFailed(operation: error.operation, path: error.path, errno: error.code))
        }
        let text = Array(passphrase.precomposedStringWithCanonicalMapping.utf8)
        guard let bytes = Scrypt.bytes(passphrase: text, salt: salt, count: byteCount) else {
            let size = "\(Scrypt.memoryLimit >> 20) MiB"
            throw .cache(.invalidEncryptionKey(reason: "its derivation can't allocate \(size) of memory"))
        }
        return DiskCache.EncryptionKey(bytes: bytes)
    }

    /// The name of the subdirectory for this key, which reveals nothing about the key.
    var folderName: String {
        let hash = KeyedHash.hexadecimal(key: bytes, Array("webimage directory".utf8))
        return CacheLayout.encryptedPrefix + hash.prefix(32)
    }
}

/// The function scrypt (RFC 7914).
enum Scrypt {
    /// The maximum memory of a derivation in bytes. N = 2¹⁷ and r = 8 need 128 MiB plus a few KiB.
    static let memoryLimit = 144 << 20

    /// Returns a derived key, or `nil` if the parameters aren't valid or memory can't be allocated. This function
    /// blocks.
    static func bytes(
        passphrase: [UInt8], salt: [UInt8], cost: Int = 1 << 17, blockSize: Int = 8, parallelization: Int = 1,
        count: Int
    ) -> [UInt8]? {
        var key = [UInt8](repeating: 0, count: count)
        let succeeds = passphrase.withUnsafeBytes { text in
            wi_scrypt(
                text.bindMemory(to: CChar.self).baseAddress, text.count, salt, salt.count, UInt64(cost),
                UInt64(blockSize), UInt64(parallelization), UInt64(memoryLimit), &key, key.count)
        }
        return succeeds ? key : nil
    }
}
