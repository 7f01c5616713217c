// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageCore
import WebImageTestSupport

@testable import WebImageStore

@Suite("Disk cache in a directory that others changed", .timeLimit(.minutes(5)))
struct HostileDirectoryTests {
    let directory = TestDirectory()

    private func filled() async throws {
        let cache = try directory.open()
        for number in 0..<3 { cache.store(entry(number)) }
        await cache.close()
    }

    private func refusal(_ configuration: DiskCache.Configuration? = nil) -> (path: String, reason: String)? {
        do throws(ImageError) {
            _ = try DiskCache(configuration: configuration ?? directory.configuration())
            return nil
        } catch {
            guard case .cache(.unsafeDirectory(let path, let reason)) = error else { return nil }
            return (path, reason)
        }
    }

    private func path(of number: Int) -> String { CacheLayout(root: directory.path).entry(key(number).fileName) }

    @Test(
        "A cache in which a part is a symbolic link is rejected, and the error names the link, its owner, and its mode",
        arguments: ["blobs", "temp", "index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "lock", "evictor"])
    func links(_ part: String) async throws {
        try await filled()
        let outside = TestDirectory()
        try FileManager.default.createDirectory(atPath: outside.path, withIntermediateDirectories: true)
        let link = "\(directory.path)/\(part)"
        try? FileManager.default.removeItem(atPath: link)
        #expect(symlink(part == "blobs" || part == "temp" ? outside.path : "\(outside.path)/file", link) == 0)
        let refused = try #require(self.refusal())
        #expect(refused.path == link)
        #expect(refused.reason.contains("symbolic link (owner \(geteuid()), mode 0777)"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path).isEmpty)
    }

    @Test("A part of another kind or that other users can write to is rejected")
    func parts() async throws {
        try await filled()
        chmod(directory.path + "/blobs", 0o770)
        #expect(refusal()?.reason == "other users can write to it (owner \(geteuid()), mode 0770)")
        chmod(directory.path + "/blobs", 0o700)
        unlink(directory.path + "/lock")
        #expect(mkfifo(directory.path + "/lock", 0o600) == 0)
        #expect(refusal()?.path == directory.path + "/lock")
        unlink(directory.path + "/lock")
        #expect(refusal() == nil)
    }

    @Test("A symbolic link in the place of a shard isn't followed, and the files behind it remain")
    func linkedShard() async throws {
        try await filled()
        let outside = TestDirectory()
        try FileManager.default.createDirectory(atPath: outside.path, withIntermediateDirectories: true)
        // The copy would be a valid entry, and the other file is old enough to count as left over.
        let shard = (path(of: 1) as NSString).deletingLastPathComponent
        try FileManager.default.copyItem(atPath: path(of: 1), toPath: "\(outside.path)/\(key(1).fileName)")
        try Data([1]).write(to: URL(filePath: outside.path + "/letter.txt"))
        let old = Date(timeIntervalSinceNow: -86_400)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: outside.path + "/letter.txt")
        try FileManager.default.removeItem(atPath: shard)
        #expect(symlink(outside.path, shard) == 0)
        try FileManager.default.removeItem(atPath: directory.path + "/index.sqlite")

        // A read before the writer thread starts must not follow the link either.
        let state = DiskCacheState(directory.configuration())
        #expect(EntryReader(state).read(key(1)) == nil)
        let cache = try directory.open()
        _ = await cache.verify()
        #expect(await cache.entry(for: key(1)) == nil)
        cache.store(entry(1, version: 1))
        await cache.flush()
        #expect(await cache.entry(for: key(1))?.data == bytes(1, version: 1))
        await cache.removeAll()
        await cache.deleteTrash()
        await cache.close()
        #expect(
            Set(try FileManager.default.contentsOfDirectory(atPath: outside.path)) == ["letter.txt", key(1).fileName])
    }

    @Test("An entry of another user and one that others can change are misses, and their files remain")
    func foreignEntries() async throws {
        try await filled()
        let files = FaultyFileSystem()
        var configuration = directory.configuration()
        configuration.fileSystem = files
        let cache = try DiskCache(configuration: configuration)
        await cache.settle()
        files.set(owner: geteuid() + 4_711)
        #expect(await cache.entry(for: key(1)) == nil)
        files.set(permissions: 0o666)
        #expect(await cache.entry(for: key(1)) == nil)
        files.set(owner: 0)
        #expect(await cache.entry(for: key(1))?.data == bytes(1))
        files.set()
        #expect(await cache.entry(for: key(1))?.data == bytes(1))
        #expect(await cache.info().counters.corrupt == 0)
        await cache.close()
    }

    @Test("In a shared directory, each user has a private subdirectory")
    func shared() async throws {
        mkdir(directory.path, 0o700)
        chmod(directory.path, 0o1777)
        #expect(refusal()?.reason == "other users can write to it (owner \(geteuid()), mode 01777)")
        var configuration = directory.configuration()
        configuration.isShared = true
        #expect(configuration != directory.configuration())
        let cache = try DiskCache(configuration: configuration)
        cache.store(entry(1))
        await cache.close()
        let own = "\(directory.path)/user-\(geteuid())"
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["user-\(geteuid())"])
        #expect(try SystemFileSystem().status(at: own).permissions == 0o700)
        #expect(FileManager.default.fileExists(atPath: CacheLayout(root: own).entry(key(1).fileName)))
        // Without the sticky bit, another user could replace the subdirectory.
        chmod(directory.path, 0o777)
        #expect(refusal(configuration)?.reason.contains("sticky bit") == true)
        chmod(directory.path, 0o770)
        #expect(refusal(configuration) == nil)
    }

    @Test("The index isn't mapped into memory, so a truncated index is replaced and no entry is lost")
    func truncatedIndex() async throws {
        let cache = try directory.open()
        for number in 0..<400 { cache.store(entry(number, count: 100)) }
        await cache.close()
        let path = directory.path + "/index.sqlite"
        let index = try CacheIndex(writing: path)
        #expect(try index.connection.number("PRAGMA mmap_size") == 0)
        #expect(try CacheIndex(reading: path).connection.number("PRAGMA mmap_size") == 0)
        #expect(try index.totals().entries == 400)
        #expect(truncate(path, 8_192) == 0)
        // An error or an incomplete result is fine, but not a signal.
        _ = try? index.summaries()
        let again = try directory.open()
        _ = await again.verify()
        for number in 0..<400 { #expect(await again.entry(for: key(number))?.data == bytes(number, count: 100)) }
        await again.close()
    }

    @Test("SQLite refuses an index that is a symbolic link")
    func linkedIndex() async throws {
        try await filled()
        let path = directory.path + "/index.sqlite"
        #expect(rename(path, directory.path + "/other.sqlite") == 0)
        #expect(symlink(directory.path + "/other.sqlite", path) == 0)
        #expect(throws: IndexError.self) { _ = try CacheIndex(writing: path) }
        #expect(throws: IndexError.self) { _ = try CacheIndex(reading: path) }
    }

    @Test(
        "If all entries can't be removed, the reason is known, and a later removal succeeds",
        arguments: [EROFS, EACCES])
    func failedRemoval(_ code: Int32) async throws {
        try await filled()
        let files = FaultyFileSystem()
        var configuration = directory.configuration()
        configuration.fileSystem = files
        let cache = try DiskCache(configuration: configuration)
        await cache.settle()
        files.fail(1..<1_000_000, with: .code(code))
        let text = String(cString: strerror(code))
        do throws(ImageError) {
            try await cache.requireWritable()
            Issue.record("The directory counts as writable.")
        } catch {
            #expect(error.message == "Writing failed for \(directory.path): \(text).")
        }
        await cache.removeAll()
        #expect(cache.removalFailure?.message == "Renaming failed for \(directory.path)/blobs: \(text).")
        files.fail(0..<0, with: .short)
        try await cache.requireWritable()
        await cache.removeAll()
        #expect(cache.removalFailure == nil)
        #expect(!FileManager.default.fileExists(atPath: path(of: 1)))
        await cache.close()
    }

    @Test("A full disk is named as the reason of a pause, and the directory still counts as writable")
    func fullDisk() async throws {
        try await filled()
        let files = FaultyFileSystem()
        var configuration = directory.configuration()
        configuration.fileSystem = files
        let cache = try DiskCache(configuration: configuration)
        await cache.settle()
        files.fail(1..<1_000_000, with: .code(ENOSPC))
        cache.store(entry(9))
        await cache.flush()
        files.fail(0..<0, with: .short)
        #expect(await cache.info().suspensionReason?.hasSuffix("(No space left on device)") == true)
        files.fail(1..<1_000_000, with: .code(ENOSPC))
        try await cache.requireWritable()
        files.fail(0..<0, with: .short)
        await cache.close()
    }

    @Test("Only the user can read exported files", arguments: DiskExportForm.allCases)
    func exportModes(_ form: DiskExportForm) async throws {
        let cache = try directory.open()
        var image = entry(1)
        image.data = Data([0xFF, 0xD8, 0xFF, 0xE0]) + bytes(1)
        cache.store(image)
        await cache.flush()
        let target = TestDirectory()
        #expect(try await cache.export(to: target.path, as: form).entryCount == 1)
        await cache.close()
        let names = try FileManager.default.subpathsOfDirectory(atPath: target.path)
        var count = 0
        for name in names {
            let status = try SystemFileSystem().status(at: "\(target.path)/\(name)")
            guard status.kind == .file else { continue }
            count += 1
            #expect(status.permissions == 0o600, "\(name)")
        }
        #expect(count == (form == .images ? 2 : 1))
    }
}
