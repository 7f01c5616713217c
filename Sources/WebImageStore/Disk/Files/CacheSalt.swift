// SPDX-License-Identifier: MIT

import Glibc

/// The random bytes of a cache directory. They aren't part of exports.
enum CacheSalt {
    static let count = 32

    /// A missing file is created. Throws a ``SystemCallError`` if it can neither be read nor written.
    static func load(_ path: String, _ files: any FileSystem) throws(SystemCallError) -> [UInt8] {
        let file: Int32
        do throws(SystemCallError) {
            file = try files.openFile(path, O_RDWR | O_CREAT | O_NONBLOCK, mode: 0o600)
        } catch  where [EROFS, EACCES, EPERM].contains(error.code) {
            file = try files.openFile(path, O_RDONLY | O_NONBLOCK)
        }
        defer { files.close(file) }
        // Another process may be creating the file.
        try lock(file, files)
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

    private static func lock(_ file: Int32, _ files: any FileSystem) throws(SystemCallError) {
        while true {
            do throws(SystemCallError) { return try files.lock(file, LOCK_EX) } catch  where error.code == EINTR {
                continue
            }
        }
    }

    /// Waits until the random bytes are on disk. The file is overwritten in place, so this also works on a full disk.
    static func replace(_ path: String, _ files: any FileSystem) throws(SystemCallError) {
        let file = try files.openFile(path, O_WRONLY | O_CREAT | O_NONBLOCK, mode: 0o600)
        defer { files.close(file) }
        try lock(file, files)
        guard try files.status(of: file).kind == .file else { throw SystemCallError("write", path, EINVAL) }
        guard let memory = FileBytes(count: count) else { throw SystemCallError("write", path, ENOMEM) }
        memory.mutableBytes.copyBytes(from: KeyedHash.random(count: count))
        try files.writeAll(file, memory.bytes)
        try files.synchronize(file)
    }
}
