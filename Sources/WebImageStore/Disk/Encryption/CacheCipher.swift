// SPDX-License-Identifier: MIT

import CHash
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// The encryption of one cache directory.
///
/// The file names and the digests of the index depend only on the key of the app. All content also depends on the
/// contents of ``CacheLayout/contentSalt``, which ``DiskCache/removeAll()`` replaces. After that, no process can decrypt
/// copies of older files with the key alone.
///
/// Another process can replace the salt at any time. Writes read it again, and reads do so if they can't authenticate
/// an entry. This class is thread-safe.
final class CacheCipher: Sendable {
    /// The keys that depend on the salt.
    private struct ContentKeys {
        let salt: [UInt8]
        let entries: [UInt8]
        let index: [UInt8]
    }

    /// The columns of the index that are encrypted. The raw value distinguishes them in the associated data.
    enum Column: UInt8 {
        case description = 1
        case head = 2
        case attachment = 3
    }

    private let key: [UInt8]
    private let nameKey: [UInt8]
    private let digestKey: [UInt8]
    private let saltPath: String
    private let files: any FileSystem
    private let content: Lock<ContentKeys>
    /// The lock is held while the salt is read or written, so that an older salt never replaces a newer one.
    private let saltAccess = Lock(())

    /// Loads or creates the salt of a directory. This initializer blocks.
    init(_ key: DiskCache.EncryptionKey, _ layout: CacheLayout, _ files: any FileSystem) throws(SystemCallError) {
        let salt = try CacheSalt.load(layout.contentSalt, files)
        guard let nameKey = Self.derived(key.bytes, "webimage names"),
            let digestKey = Self.derived(key.bytes, "webimage digests"),
            let content = Self.contentKeys(key.bytes, salt)
        else { throw SystemCallError("encryption", layout.root, ENOMEM) }
        self.key = key.bytes
        self.nameKey = nameKey
        self.digestKey = digestKey
        saltPath = layout.contentSalt
        self.files = files
        self.content = Lock(content)
    }

    private static func derived(_ key: [UInt8], _ purpose: String, _ salt: [UInt8] = []) -> [UInt8]? {
        KeyedHash.bytes(key: key, Array(purpose.utf8) + salt)
    }

    private static func contentKeys(_ key: [UInt8], _ salt: [UInt8]) -> ContentKeys? {
        guard let entries = derived(key, "webimage entries", salt), let index = derived(key, "webimage index", salt)
        else { return nil }
        return ContentKeys(salt: salt, entries: entries, index: index)
    }

    // MARK: Salt

    var contentSalt: [UInt8] { content.withLock { $0.salt } }

    /// Reads the salt again. This method blocks.
    func refresh() { saltAccess.withLock { _ in reload() } }

    private func reload() {
        guard let salt = try? CacheSalt.load(saltPath, files), salt != contentSalt,
            let keys = Self.contentKeys(key, salt)
        else { return }
        content.withLock { $0 = keys }
    }

    /// Replaces the salt, so that no process can decrypt older files anymore. This method blocks.
    func wipe() throws(SystemCallError) {
        let result = saltAccess.withLock { _ -> Result<Void, SystemCallError> in
            // Even an incomplete write makes the previous salt unusable, so read the result in any case.
            defer { reload() }
            do throws(SystemCallError) { return .success(try CacheSalt.replace(saltPath, files)) } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    // MARK: Names and digests

    /// Returns the file name of a key, which can't be computed without the encryption key.
    func name(of key: CacheKey) -> String { KeyedHash.hexadecimal(key: nameKey, Array(key.canonical.utf8)) }

    func sealed(_ digest: CacheKey.StoredDigest) -> CacheKey.StoredDigest? {
        var blocks = [digest.high, digest.low]
        guard transform(&blocks, encrypts: true) else { return nil }
        return CacheKey.StoredDigest(high: blocks[0], low: blocks[1])
    }

    /// Returns the original form of digests from the index.
    func opened(_ digests: [CacheKey.StoredDigest]) -> [CacheKey.StoredDigest] {
        var blocks = digests.flatMap { [$0.high, $0.low] }
        guard transform(&blocks, encrypts: false) else { return [] }
        return digests.indices.map { CacheKey.StoredDigest(high: blocks[$0 * 2], low: blocks[$0 * 2 + 1]) }
    }

    /// Encrypts or decrypts single blocks. Equal digests belong to equal keys, so equal blocks reveal nothing.
    private func transform(_ blocks: inout [UInt64], encrypts: Bool) -> Bool {
        guard !blocks.isEmpty else { return true }
        return blocks.withUnsafeMutableBytes {
            wi_aes256_blocks(digestKey, $0.baseAddress, $0.count / 16, encrypts)
        }
    }

    // MARK: Index

    func seal(_ bytes: [UInt8], _ column: Column, name: String) -> [UInt8]? {
        let nonce = KeyedHash.random(count: AuthenticatedEncryption.nonceBytes)
        let key = content.withLock { $0.index }
        let sealed = bytes.withUnsafeBytes {
            AuthenticatedEncryption.seal($0, key: key, nonce: nonce, associated: Self.associated(column, name))
        }
        return sealed.map { nonce + $0 }
    }

    /// Returns the decrypted value of a column, or `nil` if it was modified or belongs to another row or column.
    func open(_ sealed: UnsafeRawBufferPointer, _ column: Column, name: String) -> [UInt8]? {
        guard sealed.count >= AuthenticatedEncryption.nonceBytes else { return nil }
        let nonce = [UInt8](sealed.prefix(AuthenticatedEncryption.nonceBytes))
        let rest = UnsafeRawBufferPointer(rebasing: sealed.dropFirst(AuthenticatedEncryption.nonceBytes))
        let key = content.withLock { $0.index }
        return AuthenticatedEncryption.open(rest, key: key, nonce: nonce, associated: Self.associated(column, name))
    }

    private static func associated(_ column: Column, _ name: String) -> [UInt8] {
        [column.rawValue] + HexadecimalName.bytes(name)
    }

    // MARK: Entries

    /// Returns the key of one entry file, or `nil` if memory can't be allocated.
    func entryKey(salt: [UInt8]) -> [UInt8]? {
        KeyedHash.bytes(key: content.withLock { $0.entries }, salt)
    }
}
