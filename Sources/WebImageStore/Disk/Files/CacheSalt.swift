// SPDX-License-Identifier: MIT

import Glibc

/// The random bytes of a cache directory. They aren't part of exports.
enum CacheSalt {
    static let count = 32

    /// Returns the salt in a file, which is created if it doesn't exist.
    ///
    /// - Throws: A ``SystemCallError`` if the file can neither be read nor written.
    static func load(_ path: String, _ files: any FileSystem) throws(SystemCallError) -> [UInt8] {
        let file: Int32
        do throws(SystemCallError) {
            file = try files.openFile(path, O_RDWR | O_CREAT | O_NONBLOCK, mode: 0o600)
        } catch  where [EROFS, EACCES, EPERM].contains(error.code) {
            file = try files.openFile(path, O_RDONLY | O_NONBLOCK)
        }
        defer { files.close(file) }
        // Another process may be creating the file.
        try files.lock(file, LOCK_EX)
        guard try files.status(of: file).kind == .file else { throw SystemCallError("read", path, EINVAL) }
        guard let memory = FileBytes(count: count) else { throw SystemCallError("read", path, ENOMEM) }
        let found = try files.readAll(file, into: memory.mutableBytes)
        var salt = [UInt8](memory.bytes.prefix(found))
        guard found < count else { return salt }
        // A process that was killed may have left an incomplete file. Its bytes remain valid.
        salt += KeyedHash.random(count: count - found)
        memory.mutableBytes.copyBytes(from: salt)
        try files.writeAll(file, UnsafeRawBufferPointer(rebasing: memory.bytes[found...]))
        return salt
    }
}
