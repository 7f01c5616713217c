// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import WebImageStore

@Suite("Disk cache with corrupt files")
struct DamageTests {
    private func path(_ folder: TestDirectory, _ number: Int) -> String {
        CacheLayout(root: folder.path).entry(key(number).fileName)
    }

    @Test("A flipped bit anywhere in a file causes a cache miss, and the file is removed")
    func flippedBits() async throws {
        let folder = TestDirectory()
        let cache = try folder.open()
        cache.store(entry(1, count: 400))
        await cache.close()
        let whole = try Data(contentsOf: URL(filePath: path(folder, 1)))
        for offset in stride(from: 0, to: whole.count, by: 7) {
            var damaged = whole
            damaged[offset] ^= UInt8(1 << (offset % 8))
            try damaged.write(to: URL(filePath: path(folder, 1)))
            let again = try folder.open()
            #expect(await again.entry(for: key(1)) == nil, "byte \(offset)")
            #expect(!FileManager.default.fileExists(atPath: path(folder, 1)))
            #expect(await again.info().counters.corrupt >= 1)
            await again.close()
        }
    }

    @Test("G-10: Truncated, extended, swapped, and empty files cause cache misses")
    func wrongFiles() async throws {
        let folder = TestDirectory()
        let cache = try folder.open()
        for number in 0..<4 { cache.store(entry(number)) }
        await cache.flush()
        let whole = try Data(contentsOf: URL(filePath: path(folder, 0)))
        try whole.dropLast(9).write(to: URL(filePath: path(folder, 0)))
        try (try Data(contentsOf: URL(filePath: path(folder, 1))) + Data([0])).write(to: URL(filePath: path(folder, 1)))
        try whole.write(to: URL(filePath: path(folder, 2)))
        try Data().write(to: URL(filePath: path(folder, 3)))
        for number in 0..<4 { #expect(await cache.entry(for: key(number)) == nil) }
        #expect(await cache.info().counters.corrupt == 4)
        #expect(await cache.info().entryCount == 0)
        await cache.close()
    }

    @Test("Verification deletes corrupt files, adopts files missing from the index, and drops rows without a file")
    func verify() async throws {
        let folder = TestDirectory()
        let cache = try folder.open()
        for number in 0..<10 { cache.store(entry(number)) }
        await cache.flush()
        var damaged = try Data(contentsOf: URL(filePath: path(folder, 0)))
        damaged[damaged.count - 20] ^= 1
        try damaged.write(to: URL(filePath: path(folder, 0)))
        try FileManager.default.removeItem(atPath: path(folder, 1))
        let copy = try Data(contentsOf: URL(filePath: path(folder, 2)))
        cache.remove(key(2))
        await cache.flush()
        try copy.write(to: URL(filePath: path(folder, 2)))
        let report = await cache.verify()
        #expect(report.entryCount == 9)
        #expect(report.corruptCount == 1)
        #expect(report.recoveredCount == 1)
        #expect(report.missingCount >= 1)
        #expect(await cache.info().entryCount == 8)
        var clean = DiskCache.MaintenanceReport()
        let again = await cache.verify()
        #expect(again.entryCount == 8 && again.size > 8 * 48)
        (clean.entryCount, clean.size) = (again.entryCount, again.size)
        #expect(again == clean)
        await cache.close()
    }

    @Test("A corrupt index is rebuilt from the files", arguments: 0..<24)
    func damagedIndex(_ seed: Int) async throws {
        let folder = TestDirectory()
        let cache = try folder.open()
        for number in 0..<40 { cache.store(entry(number)) }
        await cache.close()
        var random = SeededGenerator(seed: UInt64(seed))
        let index = folder.path + "/index.sqlite"
        var data = try Data(contentsOf: URL(filePath: index))
        switch seed % 4 {
        case 0: data = Data()
        case 1: data = data.prefix(Int.random(in: 1..<data.count, using: &random))
        case 2:
            for _ in 0..<400 {
                data[Int.random(in: 0..<data.count, using: &random)] = .random(in: 0...255, using: &random)
            }
        default: data = Data((0..<5_000).map { _ in .random(in: 0...255, using: &random) })
        }
        try data.write(to: URL(filePath: index))
        let again = try folder.open()
        for number in 0..<40 {
            #expect(await again.entry(for: key(number))?.data == bytes(number), "\(number)")
        }
        again.store(entry(99))
        #expect(await again.verify().corruptCount == 0)
        #expect(await again.entries().count == 41)
        await again.close()
        let third = try folder.open()
        #expect(await third.info().entryCount == 41)
        #expect(await third.entry(for: key(7))?.data == bytes(7))
        await third.close()
    }

    /// The fuzzer of the index found that SQLite ended the process in rare orders of these operations.
    @Test("Readers that open a corrupt index while the cache replaces it don't end the process")
    func replacementDuringReads() async throws {
        let folder = TestDirectory()
        let first = try folder.open()
        for number in 0..<8 { first.store(entry(number)) }
        await first.close()
        // A copy of the files during a session makes the cache check the index when it opens.
        let cache = try folder.open()
        await cache.flush()
        let names = ["index.sqlite", "index.sqlite-wal"]
        var copies = try names.map { try Data(contentsOf: URL(filePath: "\(folder.path)/\($0)")) }
        await cache.close()
        let page = 4_096
        #expect(copies[0].count > 2 * page)
        let sound = copies[0]
        for round in 0..<100 {
            copies[0] = sound
            let offset = page + (round % 8) * (sound.count - page - 64) / 8
            copies[0].replaceSubrange(offset..<offset + 64, with: repeatElement(0xA5, count: 64))
            for (name, copy) in zip(names, copies) { try copy.write(to: URL(filePath: "\(folder.path)/\(name)")) }
            let again = try folder.open()
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask { #expect(await again.entry(for: key(number))?.data == bytes(number)) }
                }
            }
            _ = await again.info()
            await again.close()
        }
    }

    @Test(
        "After a session that didn't end, no corrupt bytes of the index hide an entry or exchange it",
        arguments: [4, 24, 64])
    func hiddenEntries(_ length: Int) async throws {
        let folder = TestDirectory()
        let cache = try folder.open()
        for number in 0..<8 { cache.store(entry(number)) }
        await cache.flush()
        await cache.close()
        let unfinished = try folder.open()
        await unfinished.flush()
        let names = ["index.sqlite", "index.sqlite-wal"]
        let copies = try names.map { try Data(contentsOf: URL(filePath: "\(folder.path)/\($0)")) }
        await unfinished.close()
        let files = try (0..<8).map { try Data(contentsOf: URL(filePath: path(folder, $0))) }
        // The first page of the database is read from the log.
        for offset in stride(from: 4_096, to: copies[0].count - length, by: 4_096 / 61) {
            var index = copies[0]
            guard index[offset..<offset + length].contains(where: { $0 != 0 }) else { continue }
            index.replaceSubrange(offset..<offset + length, with: repeatElement(0xA5, count: length))
            for (name, copy) in zip(names, [index, copies[1]]) {
                try copy.write(to: URL(filePath: "\(folder.path)/\(name)"))
            }
            let again = try folder.open()
            await again.settle()
            for number in 0..<8 {
                let found = await again.entry(for: key(number))
                // A row with a wrong time can expire its entry, whose file is deleted then.
                let isEvicted = found == nil && !FileManager.default.fileExists(atPath: path(folder, number))
                #expect(isEvicted || found?.data == bytes(number), "\(number), byte \(offset)")
                if isEvicted { try files[number].write(to: URL(filePath: path(folder, number))) }
            }
            await again.close()
        }
    }

    @Test("Random damage never crashes the entry reader and is never accepted as a valid entry", arguments: 0..<8)
    func fuzz(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed) + 500)
        let entry = entry(1, count: 64)
        var whole = EntryFile.prefix(of: entry) + entry.data
        let sum = whole.withUnsafeBytes { prefix in
            EntryFile.checksum(prefix: prefix, payload: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        withUnsafeBytes(of: try #require(sum).littleEndian) { whole.append(contentsOf: $0) }
        #expect(try decode(whole, verify: true) == entry)
        for _ in 0..<4_000 {
            var damaged = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                switch Int.random(in: 0..<3, using: &random) {
                case 0:
                    damaged[Int.random(in: 0..<damaged.count, using: &random)] = .random(in: 0...255, using: &random)
                case 1: damaged.removeLast(min(damaged.count - 1, Int.random(in: 0...40, using: &random)))
                default:
                    let place = Int.random(in: 0..<min(48, damaged.count), using: &random)
                    damaged[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
                }
            }
            // Without the checksum, damage to texts may remain undetected, but it must not be fatal.
            _ = try? decode(damaged, verify: false)
            if damaged != whole { #expect(throws: EntryFileError.self) { try decode(damaged, verify: true) } }
        }
    }

    @Test("An entry that is accepted without a checksum can be written and read again", arguments: 0..<4)
    func fuzzSections(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed) + 900)
        let whole = EntryFuzzing.seed
        #expect(whole.withUnsafeBytes { EntryFuzzing.roundTrip($0) })
        for _ in 0..<4_000 {
            var damaged = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[Int.random(in: 0..<damaged.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            #expect(damaged.withUnsafeBytes { EntryFuzzing.roundTrip($0) })
        }
    }

    private func decode(_ bytes: [UInt8], verify: Bool) throws(EntryFileError) -> CacheEntry {
        guard let memory = FileBytes(count: bytes.count) else { throw .length }
        memory.mutableBytes.copyBytes(from: bytes)
        return try EntryFile.decode(memory, key: nil, verify: verify)
    }

    @Test("K-08: A directory that is deleted while the cache is open is created again")
    func folderDeleted() async throws {
        let folder = TestDirectory()
        let cache = try folder.open()
        cache.store(entry(1))
        await cache.flush()
        try FileManager.default.removeItem(atPath: folder.path)
        #expect(await cache.entry(for: key(1)) == nil)
        cache.store(entry(2))
        await cache.flush()
        #expect(await cache.entry(for: key(2))?.data == bytes(2))
        #expect(await cache.info().entryCount == 1)
        await cache.close()
        let again = try folder.open()
        #expect(await again.entries().map(\.key) == [key(2)])
        await again.close()
    }

    @Test("Temporary files and trash of ended processes are removed")
    func leftovers() async throws {
        let folder = TestDirectory()
        await (try folder.open()).close()
        let files = FileManager.default
        try files.createDirectory(atPath: folder.path + "/trash-x/blobs/aa", withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(filePath: folder.path + "/trash-x/blobs/aa/old"))
        try Data("x".utf8).write(to: URL(filePath: folder.path + "/temp/1-dead-1"))
        let cache = try folder.open()
        cache.store(entry(1))
        await cache.flush()
        await cache.sweepDone()
        #expect(try files.contentsOfDirectory(atPath: folder.path + "/temp").isEmpty)
        #expect(!files.fileExists(atPath: folder.path + "/trash-x"))
        await cache.close()
    }
}

extension DiskCache {
    /// Waits until all directories that were set aside are deleted.
    func sweepDone() async {
        while true {
            await flush()
            let names = (try? FileManager.default.contentsOfDirectory(atPath: state.layout.root)) ?? []
            if !names.contains(where: { $0.hasPrefix(CacheLayout.trashPrefix) }) { return }
            await Task.yield()
        }
    }
}
