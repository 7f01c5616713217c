// SPDX-License-Identifier: MIT

import CFiles
import Glibc

/// The file system of the operating system.
package struct SystemFileSystem: FileSystem {
    package init() {}

    package func open(_ path: String, flags: Int32, mode: mode_t) throws(SystemCallError) -> Int32 {
        let file = Glibc.open(path, flags, mode)
        guard file >= 0 else { throw SystemCallError("open", path, errno) }
        return file
    }

    package func close(_ file: Int32) { _ = Glibc.close(file) }

    package func status(of file: Int32) throws(SystemCallError) -> FileStatus {
        var facts = stat()
        guard fstat(file, &facts) == 0 else { throw SystemCallError("fstat", "", errno) }
        return FileStatus(facts)
    }

    package func status(at path: String) throws(SystemCallError) -> FileStatus {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { throw SystemCallError("lstat", path, errno) }
        return FileStatus(facts)
    }

    package func read(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) -> Int {
        let count = Glibc.read(file, buffer.baseAddress, buffer.count)
        guard count >= 0 else { throw SystemCallError("read", "", errno) }
        return count
    }

    package func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemCallError) -> Int {
        let count = Glibc.write(file, bytes.baseAddress, bytes.count)
        guard count >= 0 else { throw SystemCallError("write", "", errno) }
        return count
    }

    package func write(_ file: Int32, parts: [UnsafeRawBufferPointer]) throws(SystemCallError) -> Int {
        let vectors = parts.prefix(16).map {
            iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
        }
        let count = Glibc.writev(file, vectors, Int32(vectors.count))
        guard count >= 0 else { throw SystemCallError("write", "", errno) }
        return count
    }

    package func openFolder(_ path: String) throws(SystemCallError) -> Int32 {
        let folder = wi_open_folder(path)
        guard folder >= 0 else { throw SystemCallError("open", path, -folder) }
        return folder
    }

    package func openCached(_ path: String, in folder: Int32) throws(SystemCallError) -> Int32 {
        let file = wi_open_cached(folder, path)
        guard file >= 0 else { throw SystemCallError("openat2", path, -file) }
        return file
    }

    package func readCached(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) {
        guard let start = buffer.baseAddress, !buffer.isEmpty else { return }
        let count = wi_read_cached(file, start, buffer.count)
        guard count == buffer.count else { throw SystemCallError("preadv2", "", count < 0 ? Int32(-count) : EAGAIN) }
    }

    package func open(_ path: String, beneath root: String) throws(SystemCallError) -> Int32 {
        let file = wi_open_beneath(root, path)
        guard file >= 0 else { throw SystemCallError("openat2", path, -file) }
        return file
    }

    package func isRemote(_ path: String) throws(SystemCallError) -> Bool {
        let type = wi_file_system(path)
        guard type >= 0 else { throw SystemCallError("statfs", path, Int32(-type)) }
        // From statfs(2): NFS, SMB, CIFS, SMB2, AFS, Ceph, and 9P.
        return [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x5346_414F, 0xC3_6400, 0x0102_1997].contains(type)
    }

    package func synchronize(_ file: Int32) throws(SystemCallError) {
        guard fdatasync(file) == 0 else { throw SystemCallError("fdatasync", "", errno) }
    }

    package func rename(_ path: String, to target: String) throws(SystemCallError) {
        guard Glibc.rename(path, target) == 0 else { throw SystemCallError("rename", target, errno) }
    }

    package func remove(_ path: String) throws(SystemCallError) {
        guard unlink(path) == 0 else { throw SystemCallError("unlink", path, errno) }
    }

    package func remove(_ place: EntryPath, in folder: Int32) throws(SystemCallError) {
        let code = place.withText { unlinkat(folder, $0, 0) == 0 ? 0 : errno }
        guard code == 0 else { throw SystemCallError("unlinkat", place.text, code) }
    }

    package func removeDirectory(_ path: String) throws(SystemCallError) {
        guard rmdir(path) == 0 else { throw SystemCallError("rmdir", path, errno) }
    }

    package func makeDirectory(_ path: String) throws(SystemCallError) {
        guard mkdir(path, 0o700) == 0 else { throw SystemCallError("mkdir", path, errno) }
    }

    package func names(in path: String) throws(SystemCallError) -> [String] {
        let file = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw SystemCallError("opendir", path, errno) }
        guard let folder = fdopendir(file) else {
            let code = errno
            _ = Glibc.close(file)
            throw SystemCallError("opendir", path, code)
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let line = readdir(folder) {
            // The memory of the structure ends after the name, so not all of the 256 declared bytes exist.
            let start = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let name = String(cString: UnsafeRawPointer(line).advanced(by: start).assumingMemoryBound(to: CChar.self))
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    package func freeSpace(at path: String) throws(SystemCallError) -> FreeSpace {
        var facts = statvfs()
        guard statvfs(path, &facts) == 0 else { throw SystemCallError("statvfs", path, errno) }
        let unit = UInt64(facts.f_frsize)
        func bytes(_ blocks: UInt64) -> Int {
            let (product, overflow) = blocks.multipliedReportingOverflow(by: unit)
            return overflow ? .max : Int(clamping: product)
        }
        return FreeSpace(free: bytes(UInt64(facts.f_bavail)), total: bytes(UInt64(facts.f_blocks)))
    }

    package func lock(_ file: Int32, _ operation: Int32) throws(SystemCallError) {
        guard flock(file, operation) == 0 else { throw SystemCallError("flock", "", errno) }
    }
}

extension FileStatus {
    init(_ facts: stat) {
        kind =
            switch facts.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
        permissions = facts.st_mode & 0o7777
        owner = facts.st_uid
        size = Int(facts.st_size)
        allocated = Int(facts.st_blocks) * 512
        inode = UInt64(facts.st_ino)
        modified = Double(facts.st_mtim.tv_sec) + Double(facts.st_mtim.tv_nsec) / 1e9
    }
}
