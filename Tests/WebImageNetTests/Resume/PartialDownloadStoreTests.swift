// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageHTTP
import WebImageStore
import WebImageTestSupport

@testable import WebImageNet

@Suite("Store of interrupted bodies")
struct PartialDownloadStoreTests {
    private func key(_ name: String, part: String = "") -> PartialDownloadKey {
        PartialDownloadKey(source: PartialDownloadKey.source(url(name)), part: CacheKey([name, part]))
    }

    private func url(_ name: String) -> URL { URL(string: "http://a.example/\(name)") ?? URL(filePath: "/") }

    private func point(_ count: Int, stored: Date = Date()) -> PartialDownload {
        makePoint(patternBytes(count), total: count * 2, stored: stored)
    }

    /// Returns the options of a store that writes parts of more than `diskThreshold` bytes to `folder`.
    private func options(_ folder: TemporaryDirectory, diskThreshold: Int = 1_000) -> ResumeOptions {
        var options = ResumeOptions(directory: URL(filePath: folder.path))
        options.diskThreshold = diskThreshold
        return options
    }

    @Test("The store keeps the newest parts within its limits, and replaced or removed parts disappear")
    func limits() async {
        var configuration = ResumeOptions()
        configuration.memoryLimit = 1_000
        configuration.countLimit = 3
        let store = PartialDownloadStore(configuration)
        for name in ["a", "b", "c", "d"] { store.put(point(100), for: key(name)) }
        #expect(await store.point(for: key("a")) == nil)
        #expect(store.memory == .init(entries: 3, bytes: 300))
        store.put(point(850), for: key("e"))
        #expect(store.memory == .init(entries: 2, bytes: 950))
        #expect(await store.point(for: key("d"))?.bytes == patternBytes(100))
        store.put(point(150), for: key("e"))
        #expect(store.memory == .init(entries: 2, bytes: 250))
        store.put(point(1_001), for: key("e"))
        store.remove(key("d"))
        #expect(store.memory == .init())
    }

    @Test("Expired parts are removed")
    func age() async {
        let now = Shared(Date())
        var configuration = ResumeOptions()
        configuration.maxAge = .seconds(100)
        configuration.now = { now.value }
        let store = PartialDownloadStore(configuration)
        store.put(point(10, stored: now.value), for: key("a"))
        now.value += 100
        #expect(await store.point(for: key("a")) != nil)
        now.value += 1
        #expect(await store.point(for: key("a")) == nil)
        #expect(store.memory == .init())
    }

    @Test("Large parts are stored in private files and survive a restart, but small parts don't")
    func restart() async throws {
        let folder = try TemporaryDirectory()
        let configuration = options(folder)
        let store = PartialDownloadStore(configuration)
        let large = point(5_000)
        store.put(large, for: key("large"))
        store.put(point(1_000), for: key("small"))
        #expect(await store.disk().entries == 1)
        #expect(store.memory == .init(entries: 1, bytes: 1_000))
        #expect(await store.point(for: key("large")) == large)
        let name = try #require(folder.files.first)
        let facts = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(name)")
        #expect(facts[.posixPermissions] as? Int == 0o600 && folder.files.count == 1)
        let later = PartialDownloadStore(configuration)
        #expect(await later.point(for: key("large")) == large)
        #expect(await later.point(for: key("small")) == nil)
        later.remove(key("large"))
        #expect(await later.disk() == .init())
        #expect(folder.files.isEmpty)
    }

    @Test("A relative directory is resolved against its base URL, as in the disk cache")
    func relativeDirectory() async throws {
        let folder = try TemporaryDirectory()
        let base = URL(filePath: folder.path, directoryHint: .isDirectory)
        let directory = URL(filePath: "parts", directoryHint: .isDirectory, relativeTo: base)
        var configuration = ResumeOptions(directory: directory)
        configuration.diskThreshold = 1_000
        let store = PartialDownloadStore(configuration)
        store.put(point(5_000), for: key("large"))
        #expect(await store.disk().entries == 1)
        #expect(folder.files == ["parts"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/parts").count == 1)
    }

    @Test("The directory keeps its limit and evicts the oldest parts, and a part that doesn't fit stays in memory")
    func folderLimit() async throws {
        let folder = try TemporaryDirectory()
        let now = Shared(Date())
        var configuration = options(folder)
        configuration.diskLimit = 12_000
        configuration.now = { now.value }
        let store = PartialDownloadStore(configuration)
        for name in ["a", "b", "c"] {
            store.put(point(5_000, stored: now.value), for: key(name))
            #expect(await store.disk().bytes <= 12_000)
            now.value += 1
        }
        #expect(await store.point(for: key("a")) == nil)
        #expect(await store.point(for: key("c")) != nil)
        store.put(point(20_000, stored: now.value), for: key("d"))
        #expect(await store.disk().entries == 2)
        #expect(await store.point(for: key("d"))?.bytes.count == 20_000)
        now.value += 86_500
        #expect(await store.point(for: key("c")) == nil)
        #expect(folder.files.isEmpty)
    }

    @Test("Removing a source removes all its parts from memory and disk, but not those of other sources")
    func removeOneSource() async throws {
        let folder = try TemporaryDirectory()
        let configuration = options(folder)
        let store = PartialDownloadStore(configuration)
        for part in ["x", "y"] {
            store.put(point(5_000), for: key("large", part: part))
            store.put(point(500), for: key("small", part: part))
        }
        store.put(point(5_000), for: key("larger"))
        store.put(point(500), for: key("smaller"))
        #expect(await store.disk().entries == 3)
        for name in ["large", "small"] { store.removeAll(of: PartialDownloadKey.source(url("\(name)#part"))) }
        for part in ["x", "y"] {
            #expect(await store.point(for: key("large", part: part)) == nil)
            #expect(await store.point(for: key("small", part: part)) == nil)
        }
        #expect(await store.disk().entries == 1 && folder.files.count == 1)
        #expect(store.memory == .init(entries: 1, bytes: 500))
        #expect(await store.point(for: key("larger")) != nil)
    }

    @Test("Removing everything includes pending writes, and files and partial files of other processes")
    func removeAll() async throws {
        let folder = try TemporaryDirectory()
        let configuration = options(folder)
        let store = PartialDownloadStore(configuration)
        _ = await store.disk()
        let other = PartialDownloadStore(configuration)
        other.put(point(5_000), for: key("other"))
        #expect(await other.disk().entries == 1)
        for name in ["0.part.7.new", "stranger.txt"] {
            try Data("x".utf8).write(to: URL(filePath: "\(folder.path)/\(name)"))
        }
        for name in ["a", "b", "c"] { store.put(point(5_000), for: key(name)) }
        store.put(point(10), for: key("d"))
        await store.removeAll()
        #expect(await store.disk() == .init() && store.memory == .init())
        #expect(folder.files == ["stranger.txt"])
        #expect(await other.point(for: key("other")) == nil)
        store.put(point(5_000), for: key("a"))
        #expect(await store.disk().entries == 1)
        #expect(await PartialDownloadStore(configuration).point(for: key("a")) != nil)
    }

    @Test("A new store removes the incomplete files of processes that ended, and not those that are being written")
    func leftovers() async throws {
        let folder = try TemporaryDirectory()
        for name in ["ended.part.1.new", "running.part.2.new"] {
            let path = "\(folder.path)/\(name)"
            try Data("x".utf8).write(to: URL(filePath: path))
            #expect(chmod(path, 0o600) == 0)
        }
        let running = open("\(folder.path)/running.part.2.new", O_WRONLY | O_CLOEXEC)
        defer { close(running) }
        #expect(flock(running, LOCK_EX | LOCK_NB) == 0)
        let store = PartialDownloadStore(options(folder))
        #expect(await store.disk() == .init())
        #expect(folder.files == ["running.part.2.new"])
        #expect(flock(running, LOCK_UN) == 0)
        #expect(await PartialDownloadStore(options(folder)).disk() == .init())
        #expect(folder.files.isEmpty)
    }

    @Test("Waiting for the writes of a store returns after all parts are in files")
    func waiting() async throws {
        let folder = try TemporaryDirectory()
        let store = PartialDownloadStore(options(folder))
        for name in ["a", "b", "c"] { store.put(point(500_000), for: key(name)) }
        await store.waitUntilWritten()
        #expect(folder.files.count == 3 && folder.files.allSatisfy { $0.hasSuffix(".part") })
    }

    @Test("If the directory can't be created, parts are stored in memory")
    func noFolder() async {
        let store = PartialDownloadStore(ResumeOptions(directory: URL(filePath: "/proc/nowhere")))
        store.put(point(500_000), for: key("a"))
        #expect(await store.disk() == .init())
        #expect(await store.point(for: key("a")) != nil)
        await store.removeAll()
        #expect(store.memory == .init())
    }

    @Test("A file is read back unchanged, and truncated or modified files are rejected")
    func damaged() throws {
        let point = makePoint(patternBytes(600), total: 1_000, stored: Date(timeIntervalSince1970: 1_000))
        let file = try #require(PartialDownloadFile.encode(point))
        #expect(PartialDownloadFile.decode(file) == point)
        for count in 0..<file.count { #expect(PartialDownloadFile.decode(file.prefix(count)) == nil) }
        #expect(PartialDownloadFile.decode(file + Data([0])) == nil)
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<2_000 {
            var changed = file
            let place = Int.random(in: 0..<file.count, using: &generator)
            changed[place] ^= UInt8.random(in: 1...255, using: &generator)
            #expect(PartialDownloadFile.decode(changed) == nil)
        }
    }

    @Test("Fields that are never stored are also ignored if a file contains them")
    func secretsInFile() throws {
        let names = ["Set-Cookie", "WWW-Authenticate", "Proxy-Authenticate", "Proxy-A(n", "Authentication-Info"]
        for name in names {
            var point = makePoint(patternBytes(40), stored: Date(timeIntervalSince1970: 1_000))
            // The digest of the file must be valid, so another field is renamed and the digest computed again.
            let placeholder = String(repeating: "x", count: name.utf8.count)
            point.plan.head.headers.append(name: placeholder, value: "secret")
            var file = try #require(PartialDownloadFile.encode(point))
            file.replaceSubrange(try #require(file.range(of: Data(placeholder.utf8))), with: Data(name.utf8))
            let digest = ContentDigest(of: Data(file.dropFirst(24)))
            file.replaceSubrange(
                8..<24, with: [digest.high, digest.low].flatMap { withUnsafeBytes(of: $0.bigEndian, Array.init) })
            point.plan.head.headers[placeholder] = nil
            #expect(PartialDownloadFile.decode(file) == point, "\(name)")
        }
    }

    @Test("A corrupt file is removed along with its part")
    func damagedFile() async throws {
        let folder = try TemporaryDirectory()
        let store = PartialDownloadStore(options(folder, diskThreshold: 10))
        store.put(point(500), for: key("a"))
        #expect(await store.disk().entries == 1)
        let name = try #require(folder.files.first)
        try Data("nonsense".utf8).write(to: URL(filePath: "\(folder.path)/\(name)"))
        #expect(await store.point(for: key("a")) == nil)
        #expect(folder.files.isEmpty)
    }
}
