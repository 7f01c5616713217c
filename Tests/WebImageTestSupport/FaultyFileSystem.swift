// SPDX-License-Identifier: MIT

import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// A file system that fails or shortens the calls in a range, and otherwise behaves like the system's file system.
package final class FaultyFileSystem: FileSystem {
    package enum Fault: Sendable, CustomStringConvertible {
        /// The calls throw an error.
        case code(Int32)
        /// Reads and writes process half of the requested bytes. A read of one byte returns no data.
        case short

        package var description: String {
            switch self {
            case .code(let code): String(cString: strerror(code))
            case .short: "short"
            }
        }
    }

    private struct State {
        var calls = 0
        var failing: Range<Int> = 0..<0
        var fault = Fault.short
        var space: FreeSpace?
        var owner: uid_t?
        var permissions: mode_t?
        var lockFault: (code: Int32, count: Int)?
        var open: Set<Int32> = []
        var strayUses: [String] = []
    }

    private let state = Lock(State())
    private let system = SystemFileSystem()
    private let pretendsRemote: Bool

    /// Creates a file system in which no call fails.
    package init(isRemote: Bool = false) { pretendsRemote = isRemote }

    /// The number of calls since the last ``fail(_:with:)``.
    package var calls: Int { state.withLock { $0.calls } }

    /// Resets the call counter and makes the calls with the numbers in `range` fail.
    package func fail(_ range: Range<Int>, with fault: Fault) {
        state.withLock {
            $0.calls = 0
            $0.failing = range
            $0.fault = fault
        }
    }

    /// Makes the cache see another amount of free space.
    package func set(space: FreeSpace?) { state.withLock { $0.space = space } }

    /// Makes the cache see another owner and other permissions of open files.
    package func set(owner: uid_t? = nil, permissions: mode_t? = nil) {
        state.withLock {
            $0.owner = owner
            $0.permissions = permissions
        }
    }

    /// Makes the next `count` calls that lock a file fail, in addition to the calls of ``fail(_:with:)``.
    package func failLocks(_ count: Int, with code: Int32) { state.withLock { $0.lockFault = (code, count) } }

    /// The number of calls that still fail because of ``failLocks(_:with:)``.
    package var remainingLockFaults: Int { state.withLock { $0.lockFault?.count ?? 0 } }

    /// The operations on descriptors that weren't open, which may have affected files of other threads.
    package var strayUses: [String] { state.withLock { $0.strayUses } }

    private func opened(_ file: Int32) -> Int32 {
        state.withLock { _ = $0.open.insert(file) }
        return file
    }

    private func checkOpen(_ file: Int32, _ operation: String) {
        state.withLock { if !$0.open.contains(file) { $0.strayUses.append(operation) } }
    }

    private func next() -> Fault? {
        state.withLock {
            $0.calls += 1
            return $0.failing.contains($0.calls) ? $0.fault : nil
        }
    }

    private func check(_ operation: String, _ path: String = "") throws(SystemCallError) {
        if case .code(let code) = next() { throw SystemCallError(operation, path, code) }
    }

    package func open(_ path: String, flags: Int32, mode: mode_t) throws(SystemCallError) -> Int32 {
        try check("open", path)
        return opened(try system.open(path, flags: flags, mode: mode))
    }

    package func open(_ path: String, beneath root: String) throws(SystemCallError) -> Int32 {
        try check("open", path)
        return opened(try system.open(path, beneath: root))
    }

    package func close(_ file: Int32) {
        // After the call, another thread can receive the same number.
        let wasOpen = state.withLock { state in
            if state.open.remove(file) != nil { return true }
            state.strayUses.append("close")
            return false
        }
        if wasOpen { system.close(file) }
    }

    package func status(of file: Int32) throws(SystemCallError) -> FileStatus {
        try check("fstat")
        var status = try system.status(of: file)
        let (owner, permissions) = state.withLock { ($0.owner, $0.permissions) }
        status.owner = owner ?? status.owner
        status.permissions = permissions ?? status.permissions
        return status
    }

    package func status(at path: String) throws(SystemCallError) -> FileStatus {
        try check("lstat", path)
        return try system.status(at: path)
    }

    package func read(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) -> Int {
        switch next() {
        case .code(let code): throw SystemCallError("read", "", code)
        case .short:
            return buffer.count > 1 ? try system.read(file, into: .init(rebasing: buffer[..<(buffer.count / 2)])) : 0
        case nil: return try system.read(file, into: buffer)
        }
    }

    package func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemCallError) -> Int {
        switch next() {
        case .code(let code): throw SystemCallError("write", "", code)
        case .short: return try system.write(file, .init(rebasing: bytes[..<((bytes.count + 1) / 2)]))
        case nil: return try system.write(file, bytes)
        }
    }

    package func synchronize(_ file: Int32) throws(SystemCallError) {
        try check("fdatasync")
        try system.synchronize(file)
    }

    package func rename(_ path: String, to target: String) throws(SystemCallError) {
        try check("rename", target)
        try system.rename(path, to: target)
    }

    package func remove(_ path: String) throws(SystemCallError) {
        try check("unlink", path)
        try system.remove(path)
    }

    package func remove(_ place: EntryPath, in folder: Int32) throws(SystemCallError) {
        try check("unlink", place.text)
        try system.remove(place, in: folder)
    }

    package func removeDirectory(_ path: String) throws(SystemCallError) {
        try check("rmdir", path)
        try system.removeDirectory(path)
    }

    package func makeDirectory(_ path: String) throws(SystemCallError) {
        try check("mkdir", path)
        try system.makeDirectory(path)
    }

    package func names(in path: String) throws(SystemCallError) -> [String] {
        try check("opendir", path)
        return try system.names(in: path)
    }

    package func freeSpace(at path: String) throws(SystemCallError) -> FreeSpace {
        try check("statvfs", path)
        if let space = state.withLock({ $0.space }) { return space }
        return try system.freeSpace(at: path)
    }

    package func isRemote(_ path: String) throws(SystemCallError) -> Bool { pretendsRemote }

    package func lock(_ file: Int32, _ operation: Int32) throws(SystemCallError) {
        checkOpen(file, "flock")
        try check("flock")
        let code = state.withLock { state -> Int32? in
            guard operation != LOCK_UN, let (code, count) = state.lockFault, count > 0 else { return nil }
            state.lockFault = (code, count - 1)
            return code
        }
        if let code { throw SystemCallError("flock", "", code) }
        try system.lock(file, operation)
    }
}
