// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageTestSupport

@testable import WebImageStore

@Suite("Encryption of the disk cache", .timeLimit(.minutes(5)))
struct EncryptionTests {
    let directory = TestDirectory()

    /// Texts that occur in every unencrypted form of `entry(number)`.
    private func traces(of number: Int) -> [Data] {
        let name = key(number).fileName
        let texts = [
            "example", "https", "\(number).jpg", "image/jpeg", "ETag of the update", "secret tag",
            "attachment of the app", name,
        ]
        var traces = texts.map { Data($0.utf8) }
        let data = bytes(number)
        traces += [Data(HexadecimalName.bytes(name)), data.prefix(16), data.suffix(16), data[1_000..<1_016]]
        let digest = key(number).storedDigest
        for word in [digest.high, digest.low] {
            // SQLite stores numbers in big-endian order.
            withUnsafeBytes(of: word.bigEndian) { traces.append(Data($0)) }
            withUnsafeBytes(of: word.littleEndian) { traces.append(Data($0)) }
        }
        return traces
    }

    private func fill(_ cache: DiskCache, _ numbers: Range<Int>) async {
        for number in numbers {
            var new = entry(number)
            new.tags = ["secret tag \(number % 2)"]
            new.userData = Data("attachment of the app".utf8)
            cache.store(new)
        }
        await cache.flush()
    }

    @Test("No file and no file name contains a URL, a header field, a tag, custom data, or image data")
    func nothingInClear() async throws {
        let all = (0..<5).flatMap { traces(of: $0) }
        for isEncrypted in [false, true] {
            let folder = TestDirectory()
            let cache = try folder.open(key: try testKey(isEncrypted))
            await fill(cache, 0..<5)
            cache.updateHead(head(etag: "\"ETag of the update\""), for: key(1))
            try cache.setUserData(Data("attachment of the app".utf8), for: key(2))
            await cache.flush()
            // The write-ahead log exists only while the cache is open.
            let open = try DirectoryContents(folder.path)
            #expect(open.files.keys.contains { $0.hasSuffix("-wal") })
            await cache.close()
            let closed = try DirectoryContents(folder.path)
            let found = open.paths(containing: all) + closed.paths(containing: all)
            #expect(found.isEmpty == isEncrypted, "\(found)")
        }
    }

    @Test("A killed writer leaves no unencrypted data")
    func killedWriter() async throws {
        var random = SeededGenerator(seed: 11)
        for round in 0..<4 {
            let folder = TestDirectory()
            let output = Pipe()
            let process = try HelperProcess.start(
                ["write", folder.path, "\(round)", HelperProcess.keyArgument],
                output: output.fileHandleForWriting.fileDescriptor)
            try output.fileHandleForWriting.close()
            var progress = Data()
            let wanted = Int.random(in: 1...20, using: &random)
            while progress.count < wanted { progress += output.fileHandleForReading.availableData }
            process.send(SIGKILL)
            progress += output.fileHandleForReading.readDataToEndOfFile()
            _ = process.wait()
            let flushed =
                String(decoding: progress, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }.last ?? 0
            // The keys contain “process”, and the data consists of runs of equal bytes.
            let contents = try DirectoryContents(folder.path)
            let clear = contents.paths(containing: [Data("process".utf8)]) + contents.pathsWithRuns(of: 128)
            #expect(clear.isEmpty, "\(clear)")
            let cache = try folder.open(sizeLimit: 1 << 30, key: try testKey())
            for number in 0..<flushed {
                let entry = await cache.entry(for: HelperProcess.key(number))
                #expect(entry.map { HelperProcess.isWhole($0, number) } == true, "entry \(number) of round \(round)")
            }
            #expect(await cache.verify().corruptCount == 0)
            await cache.close()
        }
    }

    @Test("An entry with any modified bit isn't decrypted")
    func modifiedBits() throws {
        let files = SystemFileSystem()
        var configuration = directory.configuration()
        configuration.encryptionKey = try testKey()
        let layout = CacheLayout(configuration)
        try layout.prepare(files)
        let cipher = try CacheCipher(try #require(try testKey()), layout, files)
        var original = entry(1, count: 300)
        original.tags = ["a"]
        let name = cipher.name(of: original.key)
        let whole = try sealed(original, cipher, name)
        #expect(try decode(whole, cipher, name) == original)
        for bit in stride(from: 0, to: whole.count * 8, by: 7) {
            var modified = whole
            modified[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: EntryFileError.self, "bit \(bit)") { _ = try decode(modified, cipher, name) }
        }
        for count in [0, 8, 47, 48, 64, whole.count - 17, whole.count - 1] {
            #expect(throws: EntryFileError.self) { _ = try decode(whole.prefix(count), cipher, name) }
        }
        #expect(throws: EntryFileError.self) { _ = try decode(whole + [0], cipher, name) }
        // The name is authenticated, too.
        let otherName = cipher.name(of: key(2))
        #expect(throws: EntryFileError.checksum) { _ = try decode(whole, cipher, otherName) }
        // The payload of one entry doesn't fit the sections of another.
        let second = try sealed(original, cipher, name)
        let combined = whole.dropLast(316) + second.suffix(316)
        #expect(combined.count == whole.count)
        #expect(throws: EntryFileError.checksum) { _ = try decode(Data(combined), cipher, name) }
    }

    private func sealed(_ entry: CacheEntry, _ cipher: CacheCipher, _ name: String) throws -> Data {
        let path = "\(directory.path)/sealed-\(UUID().uuidString)"
        let files = SystemFileSystem()
        let file = try files.openFile(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        defer { files.close(file) }
        let size = try EntryFile.prefix(of: entry).withUnsafeBytes { sections in
            try entry.data.withUnsafeBytes { payload in
                try cipher.write(sections: sections, payload: payload, name: name, to: file, files)
            }
        }
        let data = try Data(contentsOf: URL(filePath: path))
        #expect(data.count == size)
        return data
    }

    private func decode(_ data: Data, _ cipher: CacheCipher, _ name: String) throws -> CacheEntry {
        guard let memory = FileBytes(count: data.count) else { throw SystemCallError("malloc", "", ENOMEM) }
        memory.mutableBytes.copyBytes(from: data)
        return try cipher.decode(memory, name: name, key: nil, mayBlock: true)
    }

    @Test("A large entry is decrypted in the memory into which its file was read")
    func inPlace() throws {
        let files = SystemFileSystem()
        var configuration = directory.configuration()
        configuration.encryptionKey = try testKey()
        let layout = CacheLayout(configuration)
        try layout.prepare(files)
        let cipher = try CacheCipher(try #require(try testKey()), layout, files)
        let original = entry(1, count: (3 << 20) + 5)
        let name = cipher.name(of: original.key)
        let whole = try sealed(original, cipher, name)
        guard let memory = FileBytes(count: whole.count) else { throw SystemCallError("malloc", "", ENOMEM) }
        memory.mutableBytes.copyBytes(from: whole)
        let start = memory.bytes.baseAddress.map { UInt(bitPattern: $0) }
        let entry = try cipher.decode(memory, name: name, key: original.key, mayBlock: false)
        #expect(entry == original)
        let payload = entry.data.withUnsafeBytes { $0.baseAddress.map { UInt(bitPattern: $0) } }
        #expect(payload == start.map { $0 + UInt(whole.count - original.data.count - 16) })
    }

    @Test("A modified, truncated, renamed, or replaced file on disk is a cache miss")
    func modifiedFiles() async throws {
        let secret = try testKey()
        let cache = try directory.open(key: secret)
        await fill(cache, 0..<8)
        let state = cache.state
        let paths = (0..<8).map { state.layout.entry(state.name(of: key($0))) }
        await cache.close()
        func change(_ number: Int, _ body: (inout Data) -> Void) throws {
            var data = try Data(contentsOf: URL(filePath: paths[number]))
            body(&data)
            try data.write(to: URL(filePath: paths[number]))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: paths[number])
        }
        try change(0) { $0[0] ^= 1 }
        try change(1) { $0[20] ^= 1 }
        try change(2) { $0[100] ^= 0x80 }
        try change(3) { $0[$0.count - 100] ^= 4 }
        try change(4) { $0.removeLast() }
        // An unencrypted entry isn't accepted, although it has the correct key.
        let plain = try #require(EntryFile.bytes(of: entry(5)))
        try change(5) { $0 = Data(plain) }
        // Exchange two entries.
        let copies = try [6, 7].map { try Data(contentsOf: URL(filePath: paths[$0])) }
        try change(6) { $0 = copies[1] }
        try change(7) { $0 = copies[0] }
        let again = try directory.open(key: secret)
        for number in 0..<8 { #expect(await again.entry(for: key(number)) == nil, "entry \(number)") }
        #expect(await again.info().counters.corrupt == 8)
        await again.close()
    }

    @Test("The entries of another key are cache misses and remain")
    func otherKey() async throws {
        let (first, second) = (DiskCache.EncryptionKey(), DiskCache.EncryptionKey())
        #expect(first != second)
        let mine = try directory.open(key: first)
        await fill(mine, 0..<3)
        // Both caches are open at the same time.
        let other = try directory.open(key: second)
        for number in 0..<3 { #expect(await other.entry(for: key(number)) == nil) }
        #expect(await other.entries().isEmpty)
        #expect(await other.info().counters.corrupt == 0)
        other.store(entry(1, version: 9))
        await other.flush()
        #expect(await mine.entry(for: key(1))?.data == bytes(1))
        #expect(await other.entry(for: key(1))?.data == bytes(1, version: 9))
        await other.removeAll()
        #expect(await mine.entry(for: key(2))?.data == bytes(2))
        await mine.close()
        await other.close()
        let again = try directory.open(key: first)
        #expect(await again.entries().count == 3)
        for number in 0..<3 { #expect(await again.entry(for: key(number))?.data == bytes(number)) }
        await again.close()
    }

    @Test("Two caches with the same key share their entries, also after one of them removed all entries")
    func sameKey() async throws {
        let time = ManualClock()
        func open() throws -> DiskCache {
            var configuration = directory.configuration()
            configuration.encryptionKey = try testKey()
            configuration.clock = time.clock
            return try DiskCache(configuration: configuration)
        }
        let (first, second) = (try open(), try open())
        // By the manual clock, temporary files are years old, and a cache deletes those of others when it opens.
        await second.settle()
        first.store(entry(1, stored: time.now))
        await first.flush()
        time.advance(2)
        // A miss lets the cache look for entries of other processes.
        _ = await second.entry(for: key(1))
        await second.flush()
        #expect(await second.entry(for: key(1))?.data == bytes(1))
        await first.removeAll()
        first.store(entry(2, stored: time.now))
        await first.flush()
        time.advance(2)
        _ = await second.entry(for: key(2))
        await second.flush()
        #expect(await second.entry(for: key(2))?.data == bytes(2))
        second.store(entry(3, stored: time.now))
        await second.flush()
        time.advance(2)
        _ = await first.entry(for: key(3))
        await first.flush()
        #expect(await first.entry(for: key(3))?.data == bytes(3))
        #expect(Set(await first.entries().map(\.key)) == [key(2), key(3)])
        #expect(Set(await second.entries().map(\.key)) == [key(2), key(3)])
        for cache in [first, second] {
            #expect(await cache.info().counters.corrupt == 0)
            await cache.close()
        }
    }

    @Test(
        "After all entries were removed, copies of the files can't be decrypted with the key", arguments: [false, true])
    func wiping(_ removesAll: Bool) async throws {
        let secret = try testKey()
        var cache = try directory.open(key: secret)
        await fill(cache, 0..<3)
        await cache.close()
        let copy = try DirectoryContents(directory.path)
        cache = try directory.open(key: secret)
        let salt = cache.state.layout.contentSalt
        if removesAll {
            await cache.removeAll()
            #expect(cache.removalFailure == nil)
            await cache.deleteTrash()
            // New entries work.
            cache.store(entry(7))
            await cache.flush()
            #expect(await cache.entry(for: key(7))?.data == bytes(7))
        }
        await cache.close()
        let root = cache.state.layout.root
        for name in ["blobs", "index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
            try? FileManager.default.removeItem(atPath: "\(root)/\(name)")
        }
        try copy.restore(to: directory.path) { salt.hasSuffix("/\($0)") }
        let again = try directory.open(key: secret)
        #expect(await again.entries().count == (removesAll ? 0 : 3))
        for number in 0..<3 {
            #expect(await again.entry(for: key(number))?.data == (removesAll ? nil : bytes(number)))
        }
        await again.close()
    }

    @Test("A deleted or corrupt index is rebuilt with the key", arguments: [false, true])
    func recovery(_ isDeleted: Bool) async throws {
        let secret = try testKey()
        let cache = try directory.open(key: secret)
        await fill(cache, 0..<20)
        let index = cache.state.layout.index
        await cache.close()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: index + suffix) }
        if isDeleted {
            try FileManager.default.removeItem(atPath: index)
        } else {
            try Data(repeating: 0x5A, count: 40_000).write(to: URL(filePath: index))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: index)
        }
        let again = try directory.open(key: secret)
        let listed = await again.entries()
        #expect(Set(listed.map(\.key)) == Set((0..<20).map { key($0) }))
        #expect(listed.allSatisfy { $0.format == .jpeg && $0.tags.count == 1 && $0.dataSize == 3_000 })
        #expect(await again.info().counters.corrupt == 0)
        await again.close()
        #expect(try DirectoryContents(directory.path).paths(containing: traces(of: 3)).isEmpty)
    }

    @Test("A modified row of the index isn't listed, and its entry is still served from the file")
    func modifiedRow() async throws {
        let secret = try testKey()
        let cache = try directory.open(key: secret)
        await fill(cache, 0..<2)
        cache.updateHead(head(etag: "\"new\""), for: key(0))
        await cache.flush()
        let index = cache.state.layout.index
        await cache.close()
        let connection = try SQLiteConnection(index, create: false, busyMilliseconds: 1_000)
        // Copy the values of the first row to the second.
        try connection.execute(
            """
            UPDATE entries SET key = (SELECT key FROM entries WHERE id = (SELECT min(id) FROM entries)),
                head = (SELECT head FROM entries WHERE head IS NOT NULL), updated = 1
            """)
        let again = try directory.open(key: secret)
        #expect(await again.entries().map(\.key) == [key(0)])
        #expect(await again.entry(for: key(0))?.head?.head.headers.combined("ETag") == "\"new\"")
        #expect(await again.entry(for: key(1))?.head?.head.headers.combined("ETag") == "\"1-0\"")
        #expect(await again.entry(for: key(1))?.data == bytes(1))
        await again.close()
    }
}
