// SPDX-License-Identifier: MIT

import Glibc
import WebImageHTTPTesting
import WebImageStore
import WebImageTestBasics

/// A file system in which selected files wait at a gate when they're opened.
///
/// It records which entry files are opened for reading, and counts the bytes that are read. It doesn't query the kernel's
/// page cache, so reader threads read every file. It is thread-safe.
package final class BlockingFileSystem: FileSystem {
    private struct State {
        var gates: [String: TestGate] = [:]
        var opened: [String] = []
        var readByteCount = 0
    }

    private let state = Shared(State())
    private let system = SystemFileSystem()

    /// Creates a file system that delays no file.
    package init() {}

    /// The names of the entry files that were opened for reading, in the order of the calls, including files that still
    /// wait at a gate.
    package var opened: [String] { state.value.opened }

    /// The number of bytes that were read from all files.
    package var readByteCount: Int { state.value.readByteCount }

    /// Blocks every thread that opens an entry file with this name for reading until the returned gate opens.
    package func block(_ name: String) -> TestGate {
        let gate = TestGate()
        state.update { $0.gates[name] = gate }
        return gate
    }

    package func open(_ path: String, flags: Int32, mode: mode_t) throws(SystemCallError) -> Int32 {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        let isRead = flags & O_ACCMODE == O_RDONLY && name.utf8.count == 64
        let gate = state.update { state in
            if isRead { state.opened.append(name) }
            return state.gates[name]
        }
        if isRead { gate?.blockingWait() }
        return try system.open(path, flags: flags, mode: mode)
    }

    package func close(_ file: Int32) { system.close(file) }
    package func status(of file: Int32) throws(SystemCallError) -> FileStatus { try system.status(of: file) }
    package func status(at path: String) throws(SystemCallError) -> FileStatus { try system.status(at: path) }
    package func read(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) -> Int {
        let count = try system.read(file, into: buffer)
        state.update { $0.readByteCount += count }
        return count
    }
    package func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemCallError) -> Int {
        try system.write(file, bytes)
    }
    package func synchronize(_ file: Int32) throws(SystemCallError) { try system.synchronize(file) }
    package func rename(_ path: String, to target: String) throws(SystemCallError) {
        try system.rename(path, to: target)
    }
    package func remove(_ path: String) throws(SystemCallError) { try system.remove(path) }
    package func remove(_ place: EntryPath, in folder: Int32) throws(SystemCallError) {
        try system.remove(place, in: folder)
    }
    package func removeDirectory(_ path: String) throws(SystemCallError) { try system.removeDirectory(path) }
    package func makeDirectory(_ path: String) throws(SystemCallError) { try system.makeDirectory(path) }
    package func names(in path: String) throws(SystemCallError) -> [String] { try system.names(in: path) }
    package func freeSpace(at path: String) throws(SystemCallError) -> FreeSpace { try system.freeSpace(at: path) }
    package func lock(_ file: Int32, _ operation: Int32) throws(SystemCallError) { try system.lock(file, operation) }
}
