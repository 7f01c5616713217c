// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// The contents of a file in allocated memory, which is freed with this value or transferred to a `Data` value.
package struct FileBytes: ~Copyable {
    private let address: UnsafeMutableRawPointer
    package let count: Int

    /// Allocates memory. Returns `nil` if the allocation fails.
    init?(count: Int) {
        guard count >= 0, let address = malloc(max(count, 1)) else { return nil }
        self.address = address
        self.count = count
    }

    deinit { free(address) }

    /// The bytes, which are valid during the lifetime of this value.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: address, count: count) }

    var mutableBytes: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: address, count: count) }

    /// Transfers the memory to a `Data` value of the bytes in a range, without copying.
    package consuming func data(in range: Range<Int>) -> Data {
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
    /// Returns the contents and the status of an open regular file.
    ///
    /// - Parameters:
    ///   - file: The descriptor of the file.
    ///   - path: The path for errors.
    ///   - limit: The maximum size of the file in bytes.
    ///   - isTrusted: A closure that returns whether a file with the given status may be read.
    /// - Throws: A ``SystemCallError`` with the code `EFBIG` if the file is larger than `limit` bytes or isn't a regular
    ///   file, `EACCES` if it isn't trusted, or `ESTALE` if it's shortened in the meantime.
    package func contents(
        of file: Int32, path: String, limit: Int, isTrusted: (FileStatus) -> Bool = { _ in true }
    ) throws(SystemCallError) -> FileContents {
        let facts = try status(of: file)
        guard isTrusted(facts) else { throw SystemCallError("read", path, EACCES) }
        guard facts.kind == .file, facts.size <= limit else { throw SystemCallError("read", path, EFBIG) }
        guard let memory = FileBytes(count: facts.size) else { throw SystemCallError("read", path, ENOMEM) }
        guard try readAll(file, into: memory.mutableBytes) == facts.size else {
            throw SystemCallError("read", path, ESTALE)
        }
        return FileContents(bytes: memory, status: facts)
    }
}

/// The contents and the status of a file.
package struct FileContents: ~Copyable {
    let bytes: FileBytes
    package let status: FileStatus

    package consuming func consumeBytes() -> FileBytes { bytes }
}
