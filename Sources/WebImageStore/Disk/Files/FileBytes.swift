// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// Bytes of a file in memory of their own, freed with the owner or handed on to a `Data`.
struct FileBytes: ~Copyable {
    private let address: UnsafeMutableRawPointer
    let count: Int

    /// nil when there is no memory.
    init?(count: Int) {
        guard count >= 0, let address = malloc(max(count, 1)) else { return nil }
        self.address = address
        self.count = count
    }

    deinit { free(address) }

    /// The bytes; valid while the owner lives.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: address, count: count) }

    /// The bytes to fill; valid while the owner lives.
    var mutableBytes: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: address, count: count) }

    /// Hands the memory to a `Data` of the bytes in `range`, without a copy.
    consuming func data(in range: Range<Int>) -> Data {
        // The data frees the whole block, so the pointer's two names must not both own it.
        let start = Block(address: address)
        let from = address + range.lowerBound
        discard self
        return Data(bytesNoCopy: from, count: range.count, deallocator: .custom { _, _ in free(start.address) })
    }

    // Sendable: only the deallocator holds it, and it runs once.
    private struct Block: @unchecked Sendable {
        let address: UnsafeMutableRawPointer
    }
}

extension FileSystem {
    /// A whole regular file with its status; nil when there is none. Larger files than `limit` bytes are refused.
    func contents(_ path: String, limit: Int) throws(FileFailure) -> FileContents? {
        let file: Int32
        do throws(FileFailure) {
            file = try openFile(path, O_RDONLY | O_NONBLOCK)
        } catch  where error.code == ENOENT || error.code == ENOTDIR {
            return nil
        }
        defer { close(file) }
        return try contents(of: file, path: path, limit: limit)
    }

    /// The whole regular file that is open as `file`. Larger ones than `limit` bytes are refused.
    func contents(of file: Int32, path: String, limit: Int) throws(FileFailure) -> FileContents {
        let facts = try status(of: file)
        guard facts.kind == .file, facts.size <= limit else { throw FileFailure("read", path, EFBIG) }
        guard let memory = FileBytes(count: facts.size) else { throw FileFailure("read", path, ENOMEM) }
        guard try readAll(file, into: memory.mutableBytes) == facts.size else {
            throw FileFailure("read", path, ESTALE)
        }
        return FileContents(bytes: memory, status: facts)
    }

    /// A whole regular file of up to `limit` bytes that the kernel has in memory; fails for every other. Never waits
    /// for the disk.
    func cachedContents(_ path: String, limit: Int) throws(FileFailure) -> FileContents {
        let file = try openCached(path)
        defer { close(file) }
        let facts = try status(of: file)
        guard facts.kind == .file, facts.size <= limit else { throw FileFailure("preadv2", path, EFBIG) }
        guard let memory = FileBytes(count: facts.size) else { throw FileFailure("preadv2", path, ENOMEM) }
        try readCached(file, into: memory.mutableBytes)
        return FileContents(bytes: memory, status: facts)
    }
}

/// A file's bytes and status.
struct FileContents: ~Copyable {
    let bytes: FileBytes
    let status: FileStatus

    consuming func takeBytes() -> FileBytes { bytes }
}
