// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageTestSupport

@testable import WebImageStore

@Suite("Inspections of cache directories")
struct DiskCacheInspectionTests {
    private func cache(_ path: String) async throws {
        let cache = try DiskCache(configuration: DiskCache.Configuration(path: path))
        // The index exists when the writer has described it.
        _ = await cache.info()
        await cache.close()
    }

    @Test("A missing directory is reported and not created")
    func missing() throws {
        let folder = try TemporaryDirectory()
        let inspection = DiskCacheInspection(inspecting: folder.file("none"))
        #expect(inspection.directory == nil && inspection.failure == nil)
        #expect(try #require(inspection.totalBytes) > 0)
        #expect(access(folder.file("none"), F_OK) != 0)
    }

    @Test("A new cache has a sound index and no foreign files")
    func sound() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("cache")
        try await cache(path)
        let directory = try #require(DiskCacheInspection(inspecting: path).directory)
        #expect(directory.index == .sound(version: DiskCacheInspection.indexVersion))
        #expect(directory.entryCount == 0 && directory.size == 0)
        #expect(directory.foreignNames.isEmpty && !directory.isLink)
        #expect(directory.owner == geteuid() && directory.permissions == 0o700)
    }

    @Test("A corrupt index is reported and not replaced")
    func damaged() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("cache")
        try await cache(path)
        for suffix in ["-wal", "-shm"] { unlink("\(path)/index.sqlite\(suffix)") }
        let text = Data(repeating: 0x41, count: 4_096)
        try text.write(to: URL(filePath: "\(path)/index.sqlite"))
        let directory = try #require(DiskCacheInspection(inspecting: path).directory)
        guard case .damaged = directory.index else {
            Issue.record("\(directory.index)")
            return
        }
        #expect(try Data(contentsOf: URL(filePath: "\(path)/index.sqlite")) == text)
    }

    @Test("A link instead of the index or of the entries is reported and not followed")
    func links() async throws {
        let folder = try TemporaryDirectory()
        try await cache(folder.file("other"))
        let path = folder.file("cache")
        #expect(mkdir(path, 0o700) == 0)
        #expect(symlink(folder.file("other/index.sqlite"), "\(path)/index.sqlite") == 0)
        #expect(symlink("/tmp", "\(path)/blobs") == 0)
        let directory = try #require(DiskCacheInspection(inspecting: path).directory)
        #expect(directory.foreignNames == ["blobs", "index.sqlite"])
        guard case .unchecked = directory.index else {
            Issue.record("\(directory.index)")
            return
        }
    }

    @Test("The index of a directory that other users can write to isn't opened")
    func writable() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("cache")
        try await cache(path)
        #expect(chmod(path, 0o777) == 0)
        let directory = try #require(DiskCacheInspection(inspecting: path).directory)
        #expect(directory.permissions == 0o777)
        guard case .unchecked = directory.index else {
            Issue.record("\(directory.index)")
            return
        }
    }

    @Test("Files that belong to another user than the cache are reported")
    func otherUser() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("cache")
        try await cache(path)
        // Files of root are trusted, so as root, give the files to another user.
        let isRoot = geteuid() == 0
        for name in ["blobs", "index.sqlite"] where isRoot { #expect(chown("\(path)/\(name)", 1, 1) == 0) }
        let inspection = DiskCacheInspection(inspecting: path, user: isRoot ? 0 : geteuid() + 1)
        let directory = try #require(inspection.directory)
        #expect(directory.foreignNames.contains("blobs") && directory.foreignNames.contains("index.sqlite"))
        guard case .unchecked = directory.index else {
            Issue.record("\(directory.index)")
            return
        }
    }

    @Test("A linked directory and a file are recognized")
    func kinds() throws {
        let folder = try TemporaryDirectory()
        #expect(mkdir(folder.file("real"), 0o755) == 0)
        #expect(symlink(folder.file("real"), folder.file("link")) == 0)
        #expect(try #require(DiskCacheInspection(inspecting: folder.file("link")).directory).isLink)
        try Data().write(to: URL(filePath: folder.file("file")))
        #expect(try !#require(DiskCacheInspection(inspecting: folder.file("file")).directory).isDirectory)
    }
}
