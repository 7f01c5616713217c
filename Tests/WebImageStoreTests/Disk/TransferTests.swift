// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageCore
import WebImageHTTP

@testable import WebImageStore

@Suite("Export and import of the disk cache")
struct TransferTests {
    let directory = TestDirectory()
    let target = TestDirectory()
    let other = TestDirectory()

    /// Returns a BMP of 4 × 4 pixels that depend on `number`.
    private func image(_ number: Int) -> Data {
        var writer = BinaryWriter()
        writer.put(raw: "BM".utf8)
        for value in [UInt32(54 + 48), 0, 54, 40, 4, 4] { writer.put(value) }
        writer.put(UInt16(1))
        writer.put(UInt16(24))
        for value in [UInt32(0), 48, 2_835, 2_835, 0, 0] { writer.put(value) }
        writer.put(raw: bytes(number, count: 48))
        return Data(writer.bytes)
    }

    private func entry(_ number: Int) -> CacheEntry {
        CacheEntry(
            key: key(number), head: head(etag: "\"\(number)\"", time: time), data: image(number),
            userData: Data("own \(number)".utf8), tags: ["t\(number % 2)"],
            storedAt: time)
    }

    private let time = Date(timeIntervalSince1970: 1_700_000_000)

    private func filled(_ count: Int = 3) async throws -> DiskCache {
        var configuration = directory.configuration()
        configuration.maxAge = .seconds(1e10)
        let cache = try DiskCache(configuration: configuration)
        for number in 0..<count { cache.store(entry(number)) }
        cache.store(CacheEntry(key: key(1_000), data: Data("plain text".utf8), storedAt: Date()))
        await cache.flush()
        return cache
    }

    private func open(_ folder: TestDirectory) throws -> DiskCache {
        var configuration = folder.configuration()
        configuration.maxAge = .seconds(1e10)
        return try DiskCache(configuration: configuration)
    }

    @Test("Exported entries are imported with heads, times, tags, and attachments")
    func roundTrip() async throws {
        let cache = try await filled()
        try cache.setUserData(Data("newer".utf8), for: key(1))
        let exported = try await cache.export(to: target.path)
        #expect(exported.entryCount == 3 && exported.skippedCount == 1 && exported.size == 3 * 102)
        let files = try FileManager.default.contentsOfDirectory(atPath: target.path)
        #expect(files.count == 4 && files.filter { $0.hasSuffix(".bmp") }.count == 3)
        await #expect(throws: ImageError.self) { _ = try await cache.export(to: target.path) }
        await cache.close()

        let again = try open(other)
        let imported = try await again.importImages(from: target.path)
        #expect(imported.entryCount == 3 && imported.failures.isEmpty)
        for number in 0..<3 {
            let found = try #require(await again.entry(for: key(number)))
            #expect(found.data == image(number) && found.head == entry(number).head)
            #expect(found.tags == ["t\(number % 2)"])
            #expect(found.userData == Data(number == 1 ? "newer".utf8 : "own \(number)".utf8))
            #expect(abs(found.storedAt.timeIntervalSince1970 - 1_700_000_000) < 1e-3)
            #expect(found.probe?.format == .bmp)
        }
        let repeated = try await again.importImages(from: target.path)
        #expect(repeated.entryCount == 0 && repeated.skippedCount == 3)
        await again.close()
    }

    @Test("Entries exported in the cache format serve as a read-only directory")
    func entries() async throws {
        let cache = try await filled()
        let exported = try await cache.export(
            to: target.path, as: .entries, where: { !$0.key.canonical.contains("/2.jpg") })
        #expect(exported.entryCount == 3)
        await cache.close()
        var configuration = other.configuration()
        configuration.readOnlyDirectories = [URL(filePath: target.path)]
        let again = try DiskCache(configuration: configuration)
        #expect(await again.entry(for: key(0)) == entry(0))
        #expect(await again.entry(for: key(2)) == nil)
        #expect(await again.entry(for: key(1_000))?.data == Data("plain text".utf8))
        await again.close()
    }

    @Test("Exporting from and importing to a closed cache throws an error that isn't transient")
    func closed() async throws {
        let cache = try await filled()
        await cache.close()
        let folder = URL(filePath: target.path)
        await #expect(throws: ImageError.request(.managerShutDown)) { _ = try await cache.exportImages(to: folder) }
        await #expect(throws: ImageError.request(.managerShutDown)) { _ = try await cache.exportEntries(to: folder) }
        await #expect(throws: ImageError.request(.managerShutDown)) { _ = try await cache.importImages(from: folder) }
        #expect(!ImageError.request(.managerShutDown).isTransient)
    }

    @Test("Invalid entries aren't imported, but valid ones are")
    func hostileManifest() async throws {
        let cache = try await filled(10)
        _ = try await cache.export(to: target.path)
        await cache.close()
        let url = URL(filePath: target.path + "/manifest.json")
        var manifest = try JSONDecoder().decode(ExportManifest.self, from: Data(contentsOf: url))
        try Data("secret".utf8).write(to: URL(filePath: target.path + "-outside"))
        defer { unlink(target.path + "-outside") }
        let files = manifest.entries.map(\.file)
        manifest.entries[0].file = "../\(URL(filePath: target.path).lastPathComponent)-outside"
        #expect(unlink("\(target.path)/\(files[1])") == 0)
        #expect(symlink(target.path + "-outside", "\(target.path)/\(files[1])") == 0)
        manifest.entries[2].digest = manifest.entries[3].digest
        manifest.entries[4].head?.head.statusCode = 404
        manifest.entries[5].head?.head.headers.append(name: "Cache-Control", value: "no-store")
        manifest.entries[6].head?.head.headers.append(name: "X", value: "a\r\nY: b")
        try Data("<html>".utf8).write(to: URL(filePath: "\(target.path)/\(files[7])"))
        manifest.entries[7].digest = ContentDigest(of: Data("<html>".utf8)).text
        manifest.entries[8].stored = 9e99
        manifest.entries[9].tags = (0..<500).map(String.init)
        try JSONEncoder().encode(manifest).write(to: url)
        let again = try open(other)
        let imported = try await again.importImages(from: target.path)
        #expect(imported.entryCount == 2)
        #expect(imported.failures.count == 8)
        #expect(await again.entries().count == 2)
        #expect(await again.entries().allSatisfy { $0.storedAt <= Date() })
        await again.close()
    }

    @Test("A directory without a valid manifest is rejected", arguments: ["", "{}", "[]", "{\"format\":\"x\"}"])
    func noManifest(_ text: String) async throws {
        let cache = try open(directory)
        try FileManager.default.createDirectory(atPath: target.path, withIntermediateDirectories: true)
        if !text.isEmpty { try Data(text.utf8).write(to: URL(filePath: target.path + "/manifest.json")) }
        await #expect(throws: ImageError.self) { _ = try await cache.importImages(from: target.path) }
        await cache.close()
    }

    @Test("Image files are imported with their keys, and files that aren't images are reported")
    func pictures() async throws {
        let cache = try open(directory)
        try FileManager.default.createDirectory(atPath: target.path, withIntermediateDirectories: true)
        let good = target.path + "/a.bmp"
        let bad = target.path + "/b.txt"
        try image(1).write(to: URL(filePath: good))
        try Data("text".utf8).write(to: URL(filePath: bad))
        let result = await cache.importImages([
            DiskImport(path: good, key: key(1), tags: ["mine"]), DiskImport(path: bad, key: key(2)),
            DiskImport(path: target.path + "/none", key: key(3)), DiskImport(path: target.path, key: key(4)),
        ])
        #expect(result.entryCount == 1)
        #expect(Set(result.failures.keys) == [bad, target.path + "/none", target.path])
        let found = await cache.entry(for: key(1))
        #expect(found?.data == image(1) && found?.tags == ["mine"])
        let small = await cache.importImages(
            [DiskImport(path: good, key: key(5))], limits: ImageLimits(maxPixels: 15))
        #expect(small.entryCount == 0)
        await cache.close()
    }

    @Test("Directories and files are named by URLs, and imported files serve requests for their URLs")
    func urls() async throws {
        let cache = try await filled()
        let folder = URL(filePath: target.path, directoryHint: .isDirectory)
        let exported = try await cache.exportImages(to: folder) { $0.tags.contains("t0") }
        #expect(exported.entryCount == 2 && exported.failures.isEmpty)
        let entries = try await cache.exportEntries(to: folder.appending(path: "entries"))
        #expect(entries.entryCount == 4)
        let remote = try #require(URL(string: "https://example.org/"))
        await #expect(throws: ImageError.self) { _ = try await cache.exportImages(to: remote) }
        await cache.close()

        let again = try open(other)
        #expect(try await again.importImages(from: folder).entryCount == 2)
        let url = try #require(URL(string: "https://example.org/a.bmp#part"))
        let file = URL(filePath: target.path + "/b.bmp")
        try image(1).write(to: file)
        let missing = folder.appending(path: "none")
        let imported = await again.importImages([(url: url, file: file), (url: url, file: missing)], tags: ["mine"])
        #expect(imported.entryCount == 1 && Array(imported.failures.keys) == [missing.path(percentEncoded: false)])
        let found = await again.entry(for: .data(of: "https://example.org/a.bmp"))
        #expect(found?.data == image(1) && found?.tags == ["mine"])
        await again.close()
    }

    @Test("Many entries are imported even if the staging limit is small")
    func manyEntries() async throws {
        let cache = try await filled(300)
        _ = try await cache.export(to: target.path)
        await cache.close()
        var configuration = other.configuration()
        (configuration.maxPendingEntries, configuration.maxPendingBytes) = (70, 8_000)
        configuration.maxAge = .seconds(1e10)
        let again = try DiskCache(configuration: configuration)
        #expect(try await again.importImages(from: target.path).entryCount == 300)
        #expect(await again.info().entryCount == 300)
        await again.close()
    }
}
