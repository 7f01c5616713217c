// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import Testing
import WebImageConcurrency
import WebImageCore

@testable import WebImageStore

@Suite struct CachedReadTests {
    /// Returns a cache in `folder` that contains entry 1. The cache was reopened with `files`, and its index is loaded.
    private func reopen(_ folder: TestDirectory, _ files: any FileSystem) async throws -> DiskCache {
        let first = try folder.open()
        first.store(entry(1))
        await first.close()
        var configuration = folder.configuration()
        configuration.fileSystem = files
        let cache = try DiskCache(configuration: configuration)
        await cache.settle()
        return cache
    }

    @Test("Files in the page cache are read without the reader threads")
    func cached() async throws {
        let folder = TestDirectory()
        let files = CachingFileSystem(.returnsCached)
        let cache = try await reopen(folder, files)
        cache.readers.close()
        #expect(await cache.entry(for: key(1))?.data == bytes(1))
        #expect(await cache.info().counters.hits == 1)
        await cache.close()
    }

    @Test("Files that require disk access are read by the reader threads", arguments: [EAGAIN, EOPNOTSUPP, ENOSYS])
    func uncached(code: Int32) async throws {
        let folder = TestDirectory()
        let files = CachingFileSystem(.fails(code))
        let cache = try await reopen(folder, files)
        for _ in 0..<3 { #expect(await cache.entry(for: key(1))?.data == bytes(1)) }
        #expect(await cache.info().counters.hits == 3)
        // After `EAGAIN`, another attempt may succeed. The other errors are permanent.
        #expect(files.attempts == (code == EAGAIN ? 3 : 1))
        await cache.close()
    }

    @Test("Corruption found while reading from the page cache is handled like any other corruption")
    func damaged() async throws {
        let folder = TestDirectory()
        let cache = try await reopen(folder, CachingFileSystem(.returnsCached))
        let path = cache.state.layout.entry(key(1).fileName)
        var file = try Data(contentsOf: URL(filePath: path))
        file[file.count - 20] ^= 1
        try file.write(to: URL(filePath: path))
        #expect(await cache.entry(for: key(1)) == nil)
        let counters = await cache.info().counters
        #expect(counters.corrupt == 1)
        #expect(counters.misses == 1)
        #expect(!FileManager.default.fileExists(atPath: path))
        await cache.close()
    }
}

/// The system's file system with scripted reads from the page cache, which always succeed or always fail with one
/// error.
private final class CachingFileSystem: FileSystem {
    enum Mode: Sendable {
        case returnsCached
        case fails(Int32)
    }

    private let mode: Mode
    private let count = Atomic(0)
    private let system = SystemFileSystem()

    init(_ mode: Mode) { self.mode = mode }

    var attempts: Int { count.load(ordering: .relaxed) }

    func openCached(_ path: String, in folder: Int32) throws(SystemCallError) -> Int32 {
        count.add(1, ordering: .relaxed)
        if case .fails(let code) = mode { throw SystemCallError("openat2", path, code) }
        return try system.openFile("/proc/self/fd/\(folder)/\(path)", O_RDONLY)
    }

    func openFolder(_ path: String) throws(SystemCallError) -> Int32 { try system.openFolder(path) }

    func readCached(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) {
        guard try readAll(file, into: buffer) == buffer.count else { throw SystemCallError("preadv2", "", EAGAIN) }
    }

    func open(_ path: String, flags: Int32, mode: mode_t) throws(SystemCallError) -> Int32 {
        try system.open(path, flags: flags, mode: mode)
    }
    func close(_ file: Int32) { system.close(file) }
    func status(of file: Int32) throws(SystemCallError) -> FileStatus { try system.status(of: file) }
    func status(at path: String) throws(SystemCallError) -> FileStatus { try system.status(at: path) }
    func read(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) -> Int {
        try system.read(file, into: buffer)
    }
    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemCallError) -> Int {
        try system.write(file, bytes)
    }
    func synchronize(_ file: Int32) throws(SystemCallError) { try system.synchronize(file) }
    func rename(_ path: String, to target: String) throws(SystemCallError) { try system.rename(path, to: target) }
    func remove(_ path: String) throws(SystemCallError) { try system.remove(path) }
    func remove(_ place: EntryPath, in folder: Int32) throws(SystemCallError) { try system.remove(place, in: folder) }
    func removeDirectory(_ path: String) throws(SystemCallError) { try system.removeDirectory(path) }
    func makeDirectory(_ path: String) throws(SystemCallError) { try system.makeDirectory(path) }
    func names(in path: String) throws(SystemCallError) -> [String] { try system.names(in: path) }
    func freeSpace(at path: String) throws(SystemCallError) -> FreeSpace { try system.freeSpace(at: path) }
    func lock(_ file: Int32, _ operation: Int32) throws(SystemCallError) { try system.lock(file, operation) }
}
