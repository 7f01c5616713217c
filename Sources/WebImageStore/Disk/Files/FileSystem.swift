// SPDX-License-Identifier: MIT

import Glibc

/// A refusal of the operating system.
package struct FileFailure: Error, Hashable {
    package var operation: String
    package var path: String
    package var code: Int32

    package init(_ operation: String, _ path: String, _ code: Int32) {
        self.operation = operation
        self.path = path
        self.code = code
    }
}

/// What `stat` says, as far as the cache asks.
package struct FileStatus: Sendable {
    package enum Kind: Sendable { case file, directory, link, other }
    package var kind: Kind
    package var permissions: mode_t
    package var owner: uid_t
    package var size: Int
    /// Bytes of the blocks in use; file systems that allocate late may say 0 for a while.
    package var allocated: Int
    package var inode: UInt64
    package var modified: Double
}

/// Bytes of a file system.
package struct FreeSpace: Sendable, Equatable {
    package var free: Int
    package var total: Int
}

/// The system calls the disk cache makes. A protocol so that tests can make each of them fail.
/// `read` and `write` may do less than asked; every call may be interrupted.
package protocol FileSystem: Sendable {
    func open(_ path: String, flags: Int32, mode: mode_t) throws(FileFailure) -> Int32
    func close(_ file: Int32)
    func status(of file: Int32) throws(FileFailure) -> FileStatus
    func status(at path: String) throws(FileFailure) -> FileStatus
    func read(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int
    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileFailure) -> Int
    func synchronize(_ file: Int32) throws(FileFailure)
    func rename(_ path: String, to target: String) throws(FileFailure)
    func remove(_ path: String) throws(FileFailure)
    /// Removes the file at `place` of the folder of all entries, which is open as `folder`.
    func remove(_ place: EntryPlace, in folder: Int32) throws(FileFailure)
    func removeDirectory(_ path: String) throws(FileFailure)
    func makeDirectory(_ path: String) throws(FileFailure)
    func names(in path: String) throws(FileFailure) -> [String]
    func freeSpace(at path: String) throws(FileFailure) -> FreeSpace
    func lock(_ file: Int32, _ operation: Int32) throws(FileFailure)
    /// Opens for reading without ever asking the disk: `EAGAIN` where it would have to be asked, `ENOSYS` where the
    /// system cannot tell.
    func openCached(_ path: String) throws(FileFailure) -> Int32
    /// Fills `buffer` from the beginning of `file` without ever waiting for the disk: `EAGAIN` where it would have to,
    /// `EOPNOTSUPP` where the file system cannot tell.
    func readCached(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure)
    /// Opens `path`, which is relative to `root`, for reading, and follows no link behind `root`.
    func open(_ path: String, beneath root: String) throws(FileFailure) -> Int32
    /// Whether the file system of `path` is on another machine.
    func isRemote(_ path: String) throws(FileFailure) -> Bool
    /// Writes `parts` one after the other with one call; the bytes written.
    func write(_ file: Int32, parts: [UnsafeRawBufferPointer]) throws(FileFailure) -> Int
}

extension FileSystem {
    /// Knows of no cache.
    package func openCached(_ path: String) throws(FileFailure) -> Int32 { throw FileFailure("openat2", path, ENOSYS) }

    /// Knows of no cache.
    package func readCached(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) {
        throw FileFailure("preadv2", "", EOPNOTSUPP)
    }

    /// Looks at each folder on the way before it opens.
    package func open(_ path: String, beneath root: String) throws(FileFailure) -> Int32 {
        var place = root
        for part in path.split(separator: "/").dropLast() {
            place += "/\(part)"
            guard try status(at: place).kind == .directory else { throw FileFailure("open", place, ELOOP) }
        }
        return try openFile("\(root)/\(path)", O_RDONLY | O_NONBLOCK)
    }

    /// Takes every file system for a local one.
    package func isRemote(_ path: String) throws(FileFailure) -> Bool { false }

    /// Writes the first part that is not empty.
    package func write(_ file: Int32, parts: [UnsafeRawBufferPointer]) throws(FileFailure) -> Int {
        guard let first = parts.first(where: { !$0.isEmpty }) else { return 0 }
        return try write(file, first)
    }
}

extension FileSystem {
    /// Writes all of `bytes`, however many calls that takes.
    package func writeAll(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            do throws(FileFailure) {
                let count = try write(file, UnsafeRawBufferPointer(rebasing: rest))
                guard count > 0 else { throw FileFailure("write", "", EIO) }
                rest = rest.dropFirst(count)
            } catch  where error.code == EINTR {
                continue
            }
        }
    }

    /// Writes all of `parts`, one after the other, however many calls that takes.
    package func writeAll(_ file: Int32, parts: [UnsafeRawBufferPointer]) throws(FileFailure) {
        var rest = parts.filter { !$0.isEmpty }
        while !rest.isEmpty {
            do throws(FileFailure) {
                var count = try write(file, parts: rest)
                guard count > 0 else { throw FileFailure("write", "", EIO) }
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

    /// Fills `buffer` as far as the file goes; the number of bytes read.
    package func readAll(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileFailure) -> Int {
        var filled = 0
        while filled < buffer.count {
            do throws(FileFailure) {
                let count = try read(file, into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
                guard count > 0 else { return filled }
                filled += count
            } catch  where error.code == EINTR {
                continue
            }
        }
        return filled
    }

    /// Opens, again and again while signals interrupt.
    package func openFile(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(FileFailure) -> Int32 {
        while true {
            do throws(FileFailure) {
                return try open(path, flags: flags | O_CLOEXEC | O_NOFOLLOW, mode: mode)
            } catch  where error.code == EINTR {
                continue
            }
        }
    }
}
