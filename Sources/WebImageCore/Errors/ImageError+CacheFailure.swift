// SPDX-License-Identifier: MIT

extension ImageError {
    /// A failure of the memory or disk cache.
    ///
    /// The error codes begin at 3001. Image requests fail only with ``notInCache``. The other errors concern code that
    /// administers a cache.
    public enum CacheFailure: Sendable, Hashable {
        /// 3001: A cache miss of a request that allows only cached images.
        case notInCache
        /// 3002: A directory that can't be used as a cache, because it's a symbolic link, belongs to another user, or
        /// is writable by other users.
        case unsafeDirectory(path: String, reason: String)
        /// 3003: A failed operation of the operating system.
        case systemCallFailed(operation: String, path: String, errno: Int32)
        /// 3004: A corrupt entry, whose content differs from the data that was written.
        case corruptEntry(reason: String)
        /// 3005: A failed operation of the index.
        case indexFailed(code: Int32, message: String)
        /// 3006: A pause in writing because the disk is full or read-only.
        case writesSuspended(reason: String)
        /// 3007: An encryption key that doesn't have 32 bytes or can't be derived from its passphrase.
        case invalidEncryptionKey(reason: String)
        /// 3008: An export of an encrypted cache without the option that writes the images unencrypted.
        case exportNotDecrypted

        /// The stable error code.
        package var code: Int {
            switch self {
            case .notInCache: 3001
            case .unsafeDirectory: 3002
            case .systemCallFailed: 3003
            case .corruptEntry: 3004
            case .indexFailed: 3005
            case .writesSuspended: 3006
            case .invalidEncryptionKey: 3007
            case .exportNotDecrypted: 3008
            }
        }

        /// A message that describes the error and its remedy.
        package var message: String {
            switch self {
            case .notInCache:
                "The image isn't in the cache, and the request allows only cached images. "
                    + "To download it, use another cache policy."
            case .unsafeDirectory(let path, let reason): "The directory \(path) can't be used as a cache: \(reason)."
            case .systemCallFailed(let operation, let path, let errno):
                "\(SystemErrorMessage.activity(operation)) failed for \(path): \(SystemErrorMessage.text(errno))."
            case .corruptEntry(let reason): "A cache entry is corrupt: \(reason)."
            case .indexFailed(let code, let message): "The cache index failed: \(message) (SQLite \(code))."
            case .writesSuspended(let reason): "The disk cache is suspended: \(reason)."
            case .invalidEncryptionKey(let reason): "The encryption key can't be used: \(reason)."
            case .exportNotDecrypted:
                "The cache is encrypted, and an export isn't. To write the entries unencrypted, request decryption."
            }
        }
    }
}
