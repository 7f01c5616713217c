// SPDX-License-Identifier: MIT

import Glibc

/// A failed system call.
package struct SystemCallError: Error, Hashable {
    package var operation: String
    package var path: String
    package var code: Int32

    package init(_ operation: String, _ path: String, _ code: Int32) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// Whether a lock that wasn't available may be available later. All other errors of `flock` mean that the file
    /// system has no locks.
    var isTemporaryLockFailure: Bool { [EWOULDBLOCK, EINTR].contains(code) }
}

/// The values from `stat` that the cache needs.
package struct FileStatus: Sendable {
    package enum Kind: Sendable { case file, directory, link, other }
    package var kind: Kind
    package var permissions: mode_t
    package var owner: uid_t
    package var size: Int
    /// The number of bytes in allocated blocks. File systems with delayed allocation may report 0 for a while.
    package var allocated: Int
    package var inode: UInt64
    package var modified: Double
}

/// The free and total bytes of a file system.
package struct FreeSpace: Sendable, Equatable {
    package var free: Int
    package var total: Int
}

/// A directory that remains open while this object exists.
final class OpenFolder: Sendable {
    let descriptor: Int32
    private let files: any FileSystem

    init(_ path: String, _ files: any FileSystem) throws(SystemCallError) {
        descriptor = try files.openFolder(path)
        self.files = files
    }

    deinit { files.close(descriptor) }
}

/// The system calls of the disk cache.
///
/// This is a protocol so that tests can make each call fail. Calls to `read` and `write` may transfer fewer bytes than
/// requested, and signals may interrupt every call.
package protocol FileSystem: Sendable {
    func open(_ path: String, flags: Int32, mode: mode_t) throws(SystemCallError) -> Int32
    func close(_ file: Int32)
    func status(of file: Int32) throws(SystemCallError) -> FileStatus
    func status(at path: String) throws(SystemCallError) -> FileStatus
    func read(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) -> Int
    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemCallError) -> Int
    func synchronize(_ file: Int32) throws(SystemCallError)
    func rename(_ path: String, to target: String) throws(SystemCallError)
    func remove(_ path: String) throws(SystemCallError)
    /// Removes the file of an entry relative to the directory of all entries, which is open as `folder`.
    func remove(_ place: EntryPath, in folder: Int32) throws(SystemCallError)
    func removeDirectory(_ path: String) throws(SystemCallError)
    func makeDirectory(_ path: String) throws(SystemCallError)
    /// Returns the names in a directory. A symbolic link isn't a directory.
    func names(in path: String) throws(SystemCallError) -> [String]
    func freeSpace(at path: String) throws(SystemCallError) -> FreeSpace
    func lock(_ file: Int32, _ operation: Int32) throws(SystemCallError)
    /// Opens a directory for ``openCached(_:in:)``.
    func openFolder(_ path: String) throws(SystemCallError) -> Int32
    /// Opens a path relative to `folder` for reading without accessing the disk or following symbolic links.
    ///
    /// - Throws: `EAGAIN` if the call would access the disk, or `ENOSYS` if the system doesn't support this mode.
    func openCached(_ path: String, in folder: Int32) throws(SystemCallError) -> Int32
    /// Fills a buffer from the beginning of a file without waiting for the disk.
    ///
    /// - Throws: `EAGAIN` if the call would wait, or `EOPNOTSUPP` if the file system doesn't support this mode.
    func readCached(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError)
    /// Opens a path relative to `root` for reading without following symbolic links below `root`.
    func open(_ path: String, beneath root: String) throws(SystemCallError) -> Int32
    func isRemote(_ path: String) throws(SystemCallError) -> Bool
    /// Writes several buffers in order with one call and returns the number of written bytes.
    func write(_ file: Int32, parts: [UnsafeRawBufferPointer]) throws(SystemCallError) -> Int
}

extension FileSystem {
    /// Throws `ENOSYS` because the default implementation doesn't support cached reads.
    package func openFolder(_ path: String) throws(SystemCallError) -> Int32 {
        throw SystemCallError("open", path, ENOSYS)
    }

    /// Throws `ENOSYS` because the default implementation doesn't support cached reads.
    package func openCached(_ path: String, in folder: Int32) throws(SystemCallError) -> Int32 {
        throw SystemCallError("openat2", path, ENOSYS)
    }

    /// Throws `EOPNOTSUPP` because the default implementation doesn't support cached reads.
    package func readCached(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) {
        throw SystemCallError("preadv2", "", EOPNOTSUPP)
    }

    /// Checks each directory of the path before opening the file.
    package func open(_ path: String, beneath root: String) throws(SystemCallError) -> Int32 {
        var place = root
        for part in path.split(separator: "/").dropLast() {
            place += "/\(part)"
            guard try status(at: place).kind == .directory else { throw SystemCallError("open", place, ELOOP) }
        }
        return try openFile("\(root)/\(path)", O_RDONLY | O_NONBLOCK)
    }

    /// Returns `false` because every file system counts as local by default.
    package func isRemote(_ path: String) throws(SystemCallError) -> Bool { false }

    /// Writes the first buffer that isn't empty.
    package func write(_ file: Int32, parts: [UnsafeRawBufferPointer]) throws(SystemCallError) -> Int {
        guard let first = parts.first(where: { !$0.isEmpty }) else { return 0 }
        return try write(file, first)
    }
}

extension FileSystem {
    /// Writes all bytes with as many calls as necessary.
    package func writeAll(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemCallError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            do throws(SystemCallError) {
                let count = try write(file, UnsafeRawBufferPointer(rebasing: rest))
                guard count > 0 else { throw SystemCallError("write", "", EIO) }
                rest = rest.dropFirst(count)
            } catch  where error.code == EINTR {
                continue
            }
        }
    }

    /// Writes all buffers in order with as many calls as necessary.
    package func writeAll(_ file: Int32, parts: [UnsafeRawBufferPointer]) throws(SystemCallError) {
        var rest = parts.filter { !$0.isEmpty }
        while !rest.isEmpty {
            do throws(SystemCallError) {
                var count = try write(file, parts: rest)
                guard count > 0 else { throw SystemCallError("write", "", EIO) }
                while let first = rest.first, count >= first.count {
                    count -= first.count
                    rest.removeFirst()
                }
                if let first = rest.first { rest[0] = UnsafeRawBufferPointer(rebasing: first[count...]) }
            } catch  where error.code == EINTR {
                continue
            }
        }
    }

    /// Fills a buffer until it's full or the file ends, and returns the number of bytes read.
    package func readAll(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) -> Int {
        var filled = 0
        while filled < buffer.count {
            do throws(SystemCallError) {
                let count = try read(file, into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
                guard count > 0 else { return filled }
                filled += count
            } catch  where error.code == EINTR {
                continue
            }
        }
        return filled
    }

    /// Creates a directory and its missing parents. An existing directory isn't an error.
    package func makeDirectories(_ path: String) throws(SystemCallError) {
        do throws(SystemCallError) {
            try makeDirectory(path)
        } catch  where error.code == EEXIST {
            return
        } catch  where error.code == ENOENT {
            guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { throw error }
            try makeDirectories(String(path[..<slash]))
            try makeDirectory(path)
        }
    }

    /// Opens a file and retries when a signal interrupts the call.
    package func openFile(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(SystemCallError) -> Int32 {
        while true {
            do throws(SystemCallError) {
                return try open(path, flags: flags | O_CLOEXEC | O_NOFOLLOW, mode: mode)
            } catch  where error.code == EINTR {
                continue
            }
        }
    }
}
