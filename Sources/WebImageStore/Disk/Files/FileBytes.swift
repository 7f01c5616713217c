// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// The contents of a file in allocated memory, which is freed with this value or transferred to a `Data` value.
struct FileBytes: ~Copyable {
    private let address: UnsafeMutableRawPointer
    let count: Int

    /// Allocates memory. Returns `nil` if the allocation fails.
    init?(count: Int) {
        guard count >= 0, let address = malloc(max(count, 1)) else { return nil }
        self.address = address
        self.count = count
    }

    deinit { free(address) }

    /// The bytes, which are valid during the lifetime of this value.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: address, count: count) }

    /// The writable bytes, which are valid during the lifetime of this value.
    var mutableBytes: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: address, count: count) }

    /// Transfers the memory to a `Data` value of the bytes in a range, without copying.
    consuming func data(in range: Range<Int>) -> Data {
        // The `Data` value frees the whole block, so this value must not free it again.
        let start = Block(address: address)
        let from = address + range.lowerBound
        discard self
        return Data(bytesNoCopy: from, count: range.count, deallocator: .custom { _, _ in free(start.address) })
    }

    // Safe: only the deallocator uses the address, and it runs once.
    private struct Block: @unchecked Sendable {
        let address: UnsafeMutableRawPointer
    }
}

extension FileSystem {
    /// Returns the contents and the status of a regular file, or `nil` if the file doesn't exist.
    ///
    /// - Throws: A ``SystemCallError`` with the code `EFBIG` if the file is larger than `limit` bytes.
    func contents(_ path: String, limit: Int) throws(SystemCallError) -> FileContents? {
        let file: Int32
        do throws(SystemCallError) {
            file = try openFile(path, O_RDONLY | O_NONBLOCK)
        } catch  where error.code == ENOENT || error.code == ENOTDIR {
            return nil
        }
        defer { close(file) }
        return try contents(of: file, path: path, limit: limit)
    }

    /// Returns the contents and the status of an open regular file.
    ///
    /// - Throws: A ``SystemCallError`` with the code `EFBIG` if the file is larger than `limit` bytes.
    func contents(of file: Int32, path: String, limit: Int) throws(SystemCallError) -> FileContents {
        let facts = try status(of: file)
        guard facts.kind == .file, facts.size <= limit else { throw SystemCallError("read", path, EFBIG) }
        guard let memory = FileBytes(count: facts.size) else { throw SystemCallError("read", path, ENOMEM) }
        guard try readAll(file, into: memory.mutableBytes) == facts.size else {
            throw SystemCallError("read", path, ESTALE)
        }
        return FileContents(bytes: memory, status: facts)
    }

    /// Returns the contents of a regular file of up to `limit` bytes that is completely in the page cache of the
    /// kernel.
    ///
    /// This method throws for all other files and never waits for the disk.
    func cachedContents(_ path: String, limit: Int) throws(SystemCallError) -> FileContents {
        let file = try openCached(path)
        defer { close(file) }
        let facts = try status(of: file)
        guard facts.kind == .file, facts.size <= limit else { throw SystemCallError("preadv2", path, EFBIG) }
        guard let memory = FileBytes(count: facts.size) else { throw SystemCallError("preadv2", path, ENOMEM) }
        try readCached(file, into: memory.mutableBytes)
        return FileContents(bytes: memory, status: facts)
    }
}

/// The contents and the status of a file.
struct FileContents: ~Copyable {
    let bytes: FileBytes
    let status: FileStatus

    consuming func consumeBytes() -> FileBytes { bytes }
}
