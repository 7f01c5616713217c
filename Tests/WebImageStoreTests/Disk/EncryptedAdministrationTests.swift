// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageTestSupport

@testable import WebImageStore

@Suite("Administration of an encrypted disk cache", .timeLimit(.minutes(5)))
struct EncryptedAdministrationTests {
    let directory = TestDirectory()

    @Test("Entries are removed by host, by tag, and below a key, and trimmed by size and count")
    func removals() async throws {
        let cache = try directory.open(key: try testKey())
        func add(_ url: String, _ fields: [String] = [], tags: Set<String> = [], count: Int = 5_000) {
            cache.store(CacheEntry(key: CacheKey(["data", url] + fields), data: bytes(1, count: count), tags: tags))
        }
        add("https://www.a.example/1.png")
        add("https://b.example/2.png", tags: ["blue", "large"])
        add("https://c.example/3.png")
        add("https://c.example/3.png", ["circle"])
        add("https://c.example/3.pngx", ["circle"])
        await cache.flush()
        #expect(await cache.entries(matching: "*b.example*").map(\.tags) == [["blue", "large"]])
        #expect(await cache.remove(host: "A.example").entryCount == 1)
        #expect(await cache.remove(tag: "blue").entryCount == 1)
        #expect(await cache.remove(derivedFrom: CacheKey(["data", "https://c.example/3.png"])).entryCount == 1)
        #expect(await cache.entry(for: CacheKey(["data", "https://c.example/3.png"])) != nil)
        #expect(await cache.entry(for: CacheKey(["data", "https://c.example/3.png", "circle"])) == nil)
        #expect(await cache.entries().count == 2)
        await cache.trim(toCount: 1)
        #expect(await cache.entries().count == 1)
        await cache.trim(toSize: 0)
        #expect(await cache.info().entryCount == 0)
        #expect(try entryFiles(in: cache.state.layout.root).isEmpty)
        await cache.close()
    }

    @Test("A key is below another one only if additional fields follow", arguments: ["https://é.example/", "a"])
    func below(_ field: String) {
        let prefix = CacheKey(["data", field])
        #expect(prefix.appending(["x"]).isDerived(from: prefix))
        #expect(!prefix.isDerived(from: prefix))
        #expect(!CacheKey(canonical: prefix.canonical + "x").isDerived(from: prefix))
        #expect(!CacheKey(["data", field + "b"]).isDerived(from: prefix))
    }

    @Test("Custom values, tags, response heads, and times to live survive a restart")
    func values() async throws {
        let secret = try testKey()
        let time = ManualClock()
        func open() throws -> DiskCache {
            var configuration = directory.configuration()
            configuration.encryptionKey = secret
            configuration.clock = time.clock
            return try DiskCache(configuration: configuration)
        }
        var cache = try open()
        for number in 0..<3 {
            var new = entry(number, stored: time.now)
            new.head = nil
            new.tags = ["t\(number)"]
            new.timeToLive = number == 2 ? .seconds(100) : nil
            cache.store(new)
        }
        await cache.flush()
        try cache.setUserData(Data("value".utf8), for: key(0))
        cache.updateHead(head(etag: "\"new\"", time: time.now), for: key(1))
        await cache.close()
        cache = try open()
        #expect(await cache.userData(for: key(0)) == Data("value".utf8))
        #expect(await cache.entry(for: key(1))?.head?.head.headers.combined("ETag") == "\"new\"")
        #expect(await cache.entry(for: key(1))?.tags == ["t1"])
        #expect(await cache.entry(for: key(2)) != nil)
        try cache.setUserData(nil, for: key(0))
        time.advance(101)
        #expect(await cache.entry(for: key(2)) == nil)
        await cache.close()
        cache = try open()
        #expect(await cache.entry(for: key(0)) != nil)
        #expect(await cache.userData(for: key(0)) == nil)
        await cache.close()
    }

    @Test("The variants of a response are selected by their header fields after a restart")
    func variants() async throws {
        let url = CacheKey(["data", "https://example.org/v"])
        func fields(_ language: String) -> HTTPHeaderFields {
            HTTPHeaderFields([.init(name: "Accept-Language", value: language)])
        }
        var cache = try directory.open(key: try testKey())
        for language in ["de", "fr"] {
            var response = HTTPResponseHead(statusCode: 200, headers: HTTPHeaderFields())
            response.headers["Vary"] = "Accept-Language"
            var stored = StoredResponseHead(
                request: fields(language), response: response, finalURL: "https://example.org/v", requestTime: Date(),
                responseTime: Date())
            stored.varyHeaders = StoredResponseHead.selectingHeaders(
                request: fields(language), response: response.headers, separating: [])
            let new = CacheEntry(key: url, head: stored, data: Data(language.utf8), storedAt: Date())
            await VariantDiskTier(cache).store(new, matching: fields(language))
        }
        await cache.close()
        cache = try directory.open(key: try testKey())
        for language in ["de", "fr"] {
            let found = await VariantDiskTier(cache).entry(for: url, matching: fields(language))
            #expect(found?.data == Data(language.utf8))
        }
        #expect(await VariantDiskTier(cache).entry(for: url, matching: fields("it")) == nil)
        await cache.close()
    }

    @Test("Opening with a key deletes unencrypted entries unless another cache uses them")
    func unencryptedEntries() async throws {
        let plain = try directory.open()
        plain.store(entry(1))
        await plain.flush()
        try Data("part".utf8).write(to: URL(filePath: "\(directory.path)/other-file"))
        // A process that was killed left entries that it had removed.
        try SystemFileSystem().makeDirectories("\(directory.path)/trash-1")
        try bytes(1).write(to: URL(filePath: "\(directory.path)/trash-1/old"))
        var cache = try directory.open(key: try testKey())
        await cache.settle()
        #expect(await plain.entry(for: key(1))?.data == bytes(1))
        await cache.close()
        #expect(try entryFiles(directory).count == 1)
        await plain.close()
        cache = try directory.open(key: try testKey())
        await cache.settle()
        await cache.deleteTrash()
        await cache.close()
        let traces = [Data("example".utf8), bytes(1).prefix(16)]
        #expect(try DirectoryContents(directory.path).paths(containing: traces).isEmpty)
        // Files of other programs remain.
        #expect(FileManager.default.fileExists(atPath: "\(directory.path)/other-file"))
        let again = try directory.open()
        #expect(await again.entry(for: key(1)) == nil)
        again.store(entry(2))
        await again.flush()
        #expect(await again.entry(for: key(2))?.data == bytes(2))
        await again.close()
    }

    @Test(
        "The entries of a key that wasn't used for the maximum age are deleted, also by a cache without encryption",
        arguments: [false, true])
    func staleKey(_ isEncrypted: Bool) async throws {
        let time = ManualClock()
        let old = try directory.open(key: DiskCache.EncryptionKey())
        old.store(entry(1))
        await old.flush()
        let root = old.state.layout.root
        func open(daysLater days: Double) async throws {
            let date = time.now.addingTimeInterval(-86_400 * days)
            for name in [""] + (try FileManager.default.subpathsOfDirectory(atPath: root)) {
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: "\(root)/\(name)")
            }
            var configuration = directory.configuration()
            configuration.encryptionKey = try testKey(isEncrypted)
            configuration.clock = time.clock
            let cache = try DiskCache(configuration: configuration)
            await cache.settle()
            await cache.deleteTrash()
            await cache.close()
        }
        try await open(daysLater: 31)
        #expect(FileManager.default.fileExists(atPath: root), "another cache uses the entries")
        await old.close()
        try await open(daysLater: 29)
        #expect(FileManager.default.fileExists(atPath: root))
        try await open(daysLater: 31)
        #expect(!FileManager.default.fileExists(atPath: root))
        // The entries in use were never deleted.
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(names.contains { $0.hasPrefix("key-") } == isEncrypted)
    }

    @Test("An export of an encrypted cache requires the option for decryption", arguments: DiskExportForm.allCases)
    func export(_ form: DiskExportForm) async throws {
        let cache = try directory.open(key: try testKey())
        let image = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + bytes(1)
        cache.store(CacheEntry(key: key(1), data: image))
        await cache.flush()
        let target = TestDirectory()
        let url = URL(filePath: target.path)
        await #expect(throws: ImageError.cache(.exportNotDecrypted)) {
            switch form {
            case .images: _ = try await cache.exportImages(to: url)
            case .entries: _ = try await cache.exportEntries(to: url)
            }
        }
        #expect(!FileManager.default.fileExists(atPath: target.path))
        let report =
            switch form {
            case .images: try await cache.exportImages(to: url, decrypting: true)
            case .entries: try await cache.exportEntries(to: url, decrypting: true)
            }
        #expect(report.entryCount == 1)
        await cache.close()
        // Unencrypted entries of read-only directories also serve an encrypted cache.
        guard form == .entries else { return }
        let folder = TestDirectory()
        var configuration = folder.configuration()
        configuration.encryptionKey = DiskCache.EncryptionKey()
        configuration.readOnlyDirectories = [url]
        let other = try DiskCache(configuration: configuration)
        #expect(await other.entry(for: key(1))?.data == image)
        await other.close()
    }

    @Test(
        "If a system call fails, no wrong data is returned and the encrypted cache recovers", arguments: [EIO, ENOSPC])
    func faults(_ code: Int32) async throws {
        func run(_ folder: TestDirectory, _ files: FaultyFileSystem) async throws {
            var configuration = folder.configuration()
            configuration.encryptionKey = try testKey()
            configuration.fileSystem = files
            guard let cache = try? DiskCache(configuration: configuration) else { return }
            for number in 0..<2 { cache.store(entry(number)) }
            await cache.flush()
            for number in 0..<2 { await check(cache, number) }
            await cache.removeAll()
            #expect(await cache.entry(for: key(1)) == nil)
            cache.store(entry(2))
            await cache.flush()
            await check(cache, 2)
            await cache.close()
        }
        func check(_ cache: DiskCache, _ number: Int) async {
            guard let found = await cache.entry(for: key(number)) else { return }
            #expect(found.key == key(number) && found.data == bytes(number))
        }
        let probe = FaultyFileSystem()
        try await run(TestDirectory(), probe)
        #expect(probe.calls > 50)
        for number in 1...(probe.calls + 5) {
            let folder = TestDirectory()
            let files = FaultyFileSystem()
            files.fail(number..<(number + 1), with: .code(code))
            try await run(folder, files)
            #expect(files.strayUses.isEmpty, "after call \(number) failed")
            let again = try folder.open(key: try testKey())
            for number in 0..<3 { await check(again, number) }
            again.store(entry(9))
            await again.flush()
            #expect(await again.entry(for: key(9))?.data == bytes(9), "after call \(number) failed")
            // If the entries couldn't be moved, they can't be decrypted after their removal.
            _ = await again.verify()
            #expect(await again.verify().corruptCount == 0)
            await again.close()
        }
    }
}

@Suite("Encryption keys")
struct EncryptionKeyTests {
    @Test("A key has 32 bytes, and an error names the number of other bytes")
    func lengths() throws {
        #expect(DiskCache.EncryptionKey().data.count == 32)
        #expect(try DiskCache.EncryptionKey(data: testKeyBytes).data == testKeyBytes)
        #expect(try DiskCache.EncryptionKey(data: testKeyBytes) == testKey())
        for count in [0, 16, 31, 33] {
            let error = ImageError.cache(
                .invalidEncryptionKey(reason: "it has \(count) bytes, but 32 are required"))
            #expect(throws: error) { try DiskCache.EncryptionKey(data: Data(count: count)) }
        }
    }

    @Test("Descriptions, dumps, and errors don't contain the key")
    func redaction() throws {
        let secret = try #require(try testKey())
        var configuration = DiskCache.Configuration(path: "/tmp/a")
        configuration.encryptionKey = secret
        var dumped = ""
        dump(secret, to: &dumped)
        dump(configuration, to: &dumped)
        let short = testKeyBytes.prefix(31)
        var message = ""
        do throws(ImageError) { _ = try DiskCache.EncryptionKey(data: short) } catch { message = "\(error)" }
        let texts = [
            "\(secret)", String(reflecting: secret), "\(configuration)", String(reflecting: configuration), dumped,
            message,
        ]
        let bytes = testKeyBytes.prefix(4)
        let traces = [
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(),
            bytes.map { "\($0)" }.joined(separator: ", "), testKeyBytes.prefix(6).base64EncodedString(),
            // A dump lists one byte per line.
            "- \(bytes[1])\n",
        ]
        for text in texts {
            #expect(!text.isEmpty)
            for trace in traces { #expect(!text.contains(trace), "\(trace)") }
        }
        #expect("\(configuration)".contains("DiskCache.EncryptionKey(redacted)"))
    }

    @Test("Configurations with different keys differ")
    func configurations() throws {
        var first = DiskCache.Configuration(path: "/tmp/a")
        var second = first
        first.encryptionKey = try testKey()
        #expect(first != second)
        second.encryptionKey = try testKey()
        #expect(first == second && first.hashValue == second.hashValue)
        #expect(CacheLayout(first).root == CacheLayout(second).root)
        second.encryptionKey = DiskCache.EncryptionKey()
        #expect(first != second)
        #expect(CacheLayout(first).root != CacheLayout(second).root)
        second.isShared = true
        #expect(CacheLayout(second).base == "/tmp/a/user-\(geteuid())")
    }

    @Test("A passphrase results in the same key for the same directory only")
    func passphrases() async throws {
        let (directory, other) = (TestDirectory(), TestDirectory())
        let secret = try await DiskCache.EncryptionKey.derived(
            from: "caf\u{E9}", for: directory.configuration())
        let again = try await DiskCache.EncryptionKey.derived(
            from: "cafe\u{301}", for: directory.configuration())
        #expect(secret == again)
        let salted = try await DiskCache.EncryptionKey.derived(from: "caf\u{E9}", for: other.configuration())
        #expect(secret != salted)
        // The key works, and opening the cache doesn't replace the salt.
        var cache = try directory.open(key: secret)
        cache.store(entry(1))
        await cache.removeAll()
        cache.store(entry(1))
        await cache.close()
        let later = try await DiskCache.EncryptionKey.derived(from: "caf\u{E9}", for: directory.configuration())
        cache = try directory.open(key: later)
        #expect(await cache.entry(for: key(1))?.data == bytes(1))
        await cache.close()
        await #expect(throws: ImageError.cache(.invalidEncryptionKey(reason: "the passphrase is empty"))) {
            _ = try await DiskCache.EncryptionKey.derived(from: "", for: directory.configuration())
        }
    }
}
