// SPDX-License-Identifier: MIT

import CHash

/// An encryption with AES-256-GCM (NIST SP 800-38D) that receives its input in parts.
struct AuthenticatedEncryption: ~Copyable {
    static let nonceBytes = 12
    static let tagBytes = 16

    private let context: OpaquePointer

    /// The key has 32 bytes. The nonce has 12 bytes that are used only once with the key. Returns `nil` if memory can't
    /// be allocated.
    init?(key: [UInt8], nonce: [UInt8], associated: [UInt8]) {
        guard key.count == 32, nonce.count == Self.nonceBytes,
            let context = wi_gcm_begin(key, nonce, associated, associated.count)
        else { return nil }
        self.context = context
    }

    deinit { wi_gcm_free(context) }

    /// The target is at least as large as the source. Returns `false` on an error of OpenSSL.
    borrowing func encrypt(_ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Bool {
        guard !source.isEmpty else { return true }
        guard target.count >= source.count else { return false }
        return wi_gcm_update(context, source.baseAddress, target.baseAddress, source.count)
    }

    /// Returns the tag of all bytes, or `nil` on an error of OpenSSL. Call this method once, at the end.
    borrowing func tag() -> [UInt8]? {
        var tag = [UInt8](repeating: 0, count: Self.tagBytes)
        return wi_gcm_finish(context, &tag) ? tag : nil
    }

    /// Returns the encrypted bytes and their tag, or `nil` if memory can't be allocated.
    static func seal(
        _ bytes: UnsafeRawBufferPointer, key: [UInt8], nonce: [UInt8], associated: [UInt8]
    ) -> [UInt8]? {
        guard let encryption = AuthenticatedEncryption(key: key, nonce: nonce, associated: associated) else {
            return nil
        }
        var sealed = [UInt8](repeating: 0, count: bytes.count)
        let succeeds = sealed.withUnsafeMutableBytes { encryption.encrypt(bytes, into: $0) }
        guard succeeds, let tag = encryption.tag() else { return nil }
        return sealed + tag
    }

    /// Decrypts bytes in place. Returns `false`, and overwrites the bytes with zeros, if they, their tag, or the
    /// associated data were modified.
    static func open(
        _ bytes: UnsafeMutableRawBufferPointer, tag: UnsafeRawBufferPointer, key: [UInt8], nonce: [UInt8],
        associated: [UInt8]
    ) -> Bool {
        guard key.count == 32, nonce.count == nonceBytes, tag.count == tagBytes else { return false }
        let tag = [UInt8](tag)
        return wi_gcm_open(
            key, nonce, associated, associated.count, bytes.baseAddress, bytes.baseAddress, bytes.count, tag)
    }

    /// Returns the decrypted form of bytes that end with their tag, or `nil` if they or the associated data were
    /// modified.
    static func open(
        _ sealed: UnsafeRawBufferPointer, key: [UInt8], nonce: [UInt8], associated: [UInt8]
    ) -> [UInt8]? {
        guard sealed.count >= tagBytes else { return nil }
        let end = sealed.count - tagBytes
        var bytes = [UInt8](sealed[..<end])
        let isAuthentic = bytes.withUnsafeMutableBytes {
            open(
                $0, tag: UnsafeRawBufferPointer(rebasing: sealed[end...]), key: key, nonce: nonce,
                associated: associated)
        }
        return isAuthentic ? bytes : nil
    }
}
