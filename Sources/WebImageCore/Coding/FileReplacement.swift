// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// A namespace for writing files that appear, or replace an earlier file, only after they're complete.
package enum FileReplacement {
    /// The mode of a file that is written.
    package enum Mode: Sendable, Hashable {
        /// The mode of the file that is replaced, or the default mode of a new file (`umask`).
        case kept
        /// Only the owner can read and write the file (0600).
        case ownerOnly
    }

    /// The functions that record temporary files, so that a process that ends early can delete them.
    package struct Records: Sendable {
        let insert: @Sendable ([CChar]) -> Void
        let remove: @Sendable ([CChar]) -> Void

        /// Creates records.
        ///
        /// - Parameters:
        ///   - insert: A function that receives the path of a temporary file before it's created.
        ///   - remove: A function that receives the path after the file was renamed or deleted.
        package init(
            insert: @escaping @Sendable ([CChar]) -> Void, remove: @escaping @Sendable ([CChar]) -> Void
        ) {
            self.insert = insert
            self.remove = remove
        }
    }

    /// Writes a file. This function blocks.
    ///
    /// A regular file is replaced atomically and keeps its mode, its owner, and its group as far as the process may set
    /// them. If the path is that of a symbolic link, the target of the link is written, and the link remains. The data is
    /// written directly to devices and pipes.
    ///
    /// - Parameters:
    ///   - parts: The data, in parts that needn't be in memory at the same time.
    ///   - path: The path of the file, which ends with a zero byte.
    ///   - name: The path for errors.
    ///   - overwrites: Whether an existing regular file is replaced. The default is `true`.
    ///   - mode: The mode of the file. The default is ``Mode/kept``.
    ///   - records: The records of temporary files. The default is `nil`.
    /// - Throws: ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)`` if the file can't be written, with
    ///   `EEXIST` if it exists and `overwrites` is `false`.
    package static func write(
        _ parts: some Sequence<Data>, to path: [CChar], named name: String, overwrites: Bool = true,
        mode: Mode = .kept, records: Records? = nil
    ) throws(ImageError) {
        var status = stat()
        let code = stat(path, &status) == 0 ? 0 : errno
        // Another error than a missing file would also concern the temporary file, or is a link that may not be followed.
        guard code == 0 || code == ENOENT else { throw failure(name, code) }
        let exists = code == 0
        if exists, status.st_mode & S_IFMT != S_IFREG { return try writeDirectly(parts, to: path, named: name) }
        if exists, !overwrites { throw failure(name, EEXIST) }
        let target = try target(of: path, named: name, existing: exists ? status : nil)
        let temporary = temporaryPath(for: target)
        records?.insert(temporary)
        defer {
            unlink(temporary)
            records?.remove(temporary)
        }
        try writeTemporaryFile(parts, at: temporary, named: name, mode: mode, replacing: exists ? status : nil)
        if !exists, !overwrites {
            // A link fails if another process created the file in the meantime. Some file systems have no links.
            if link(temporary, target) == 0 { return }
            guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { throw failure(name, errno) }
            if access(target, F_OK) == 0 { throw failure(name, EEXIST) }
        }
        if rename(temporary, target) != 0 { throw failure(name, errno) }
    }

    private static func writeDirectly(
        _ parts: some Sequence<Data>, to path: [CChar], named name: String
    ) throws(ImageError) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(name, errno) }
        defer { close(descriptor) }
        for part in parts {
            let code = DescriptorWriting.write(part, to: descriptor)
            if code != 0 { throw failure(name, code) }
        }
    }

    private static func writeTemporaryFile(
        _ parts: some Sequence<Data>, at path: [CChar], named name: String, mode: Mode, replacing old: stat?
    ) throws(ImageError) {
        // Until the file has its owner and its mode, no other user can read the data of a file that was private.
        let isPrivate = mode == .ownerOnly || old != nil
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isPrivate ? 0o600 : 0o666)
        guard descriptor >= 0 else { throw failure(name, errno) }
        var code: Int32 = 0
        for part in parts {
            code = DescriptorWriting.write(part, to: descriptor)
            if code != 0 { break }
        }
        if let old, mode == .kept, code == 0 { keepAccess(of: old, for: descriptor) }
        // Some file systems report a full disk only here.
        if close(descriptor) != 0, code == 0 { code = errno }
        if code != 0 { throw failure(name, code) }
    }

    /// Gives a new file the owner, the group, and the mode of the file that it replaces. The umask doesn't apply to it.
    private static func keepAccess(of old: stat, for descriptor: Int32) {
        var new = stat()
        guard fstat(descriptor, &new) == 0 else { return }
        var mode = old.st_mode & 0o777
        // Only privileged processes can change the owner. Without this privilege, the file belongs to this user.
        if new.st_uid != old.st_uid { _ = fchown(descriptor, old.st_uid, gid_t.max) }
        if new.st_gid != old.st_gid, fchown(descriptor, uid_t.max, old.st_gid) != 0 {
            // Another group must not receive the access of the group of the old file, so it has that of other users.
            let others = mode & 0o007
            mode = (mode & 0o707) | (others << 3)
        }
        fchmod(descriptor, mode)
    }

    /// Returns the path of the file to which the symbolic links at the end of a path lead. The file needn't exist, in
    /// which case its status is `nil`. The name is the path for errors.
    private static func target(
        of path: [CChar], named name: String, existing: stat?
    ) throws(ImageError) -> [CChar] {
        var path = path
        // The kernel follows at most 40 links (path_resolution(7)).
        for followed in 0...40 {
            var link = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(path, &link, link.count)
            guard count >= 0 else {
                // If the links changed since the kernel followed them, they can lead to a file that it protects.
                guard followed == 0 || isSame(path, existing) else { throw failure(name, ESTALE) }
                return path
            }
            guard count < link.count else { throw failure(name, ENAMETOOLONG) }
            let isAbsolute = link.first == CChar(bitPattern: UInt8(ascii: "/"))
            var next: [CChar] = isAbsolute ? [] : Array(directory(of: path))
            next += link[..<count]
            next.append(0)
            path = next
        }
        throw failure(name, ELOOP)
    }

    private static func isSame(_ path: [CChar], _ existing: stat?) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return existing == nil && errno == ENOENT }
        return existing?.st_dev == status.st_dev && existing?.st_ino == status.st_ino
    }

    /// Returns the beginning of a path up to its last slash. It's empty if there's none.
    private static func directory(of path: [CChar]) -> ArraySlice<CChar> {
        path[..<(path.lastIndex(of: CChar(bitPattern: UInt8(ascii: "/"))).map { $0 + 1 } ?? 0)]
    }

    /// Returns a new path in the directory of a file, because only files of the same file system can be renamed.
    private static func temporaryPath(for path: [CChar]) -> [CChar] {
        var temporary = Array(directory(of: path))
        temporary += ".webimage-\(getpid())-\(UInt64.random(in: 0 ... .max)).tmp".utf8CString
        return temporary
    }

    private static func failure(_ name: String, _ code: Int32) -> ImageError {
        .cache(.systemCallFailed(operation: "Writing", path: name, errno: code))
    }
}

/// A namespace for writing data to open files.
package enum DescriptorWriting {
    /// Writes all data to a descriptor, also if it's a pipe or a terminal in non-blocking mode. This function blocks.
    ///
    /// - Returns: 0, or the error number of the operation that failed.
    package static func write(_ data: some ContiguousBytes, to descriptor: Int32) -> Int32 {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = Glibc.write(descriptor, part.baseAddress, part.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if count == 0 {
                    return EIO
                } else if errno == EAGAIN {
                    // Another process may have set the pipe or terminal to non-blocking mode.
                    var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&ready, 1, -1)
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }
}
