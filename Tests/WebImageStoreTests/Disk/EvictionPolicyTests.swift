// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestSupport

@testable import WebImageStore

@Suite("Eviction policy of the disk cache")
struct EvictionPolicyTests {
    let directory = TestDirectory()

    @Test("An entry that is read repeatedly remains, and a large entry is evicted before several small ones")
    func ranks() async throws {
        let cache = try directory.open()
        cache.store(entry(0, count: 200_000))
        for number in 1..<10 { cache.store(entry(number, count: 3_000)) }
        await cache.flush()
        for _ in 0..<3 { #expect(await cache.entry(for: key(1)) != nil) }
        await cache.trim(toCount: 9)
        #expect(await cache.entry(for: key(0)) == nil)
        await cache.trim(toCount: 1)
        #expect(await cache.entry(for: key(1)) != nil)
        await cache.close()
    }

    @Test("Of entries with equal ranks, the least recently used one is evicted first")
    func ties() async throws {
        let time = ManualClock()
        var configuration = directory.configuration()
        configuration.clock = time.clock
        let cache = try DiskCache(configuration: configuration)
        for number in 0..<3 { cache.store(entry(number, stored: time.now)) }
        await cache.flush()
        for number in [2, 0, 1] {
            time.advance(1)
            #expect(await cache.entry(for: key(number)) != nil)
        }
        await cache.flush()
        await cache.trim(toCount: 1)
        #expect(await cache.entry(for: key(1)) != nil)
        await cache.close()
    }

    @Test("After a restart, an entry that was evicted keeps its uses when it's stored again", arguments: [false, true])
    func ghosts(_ isEncrypted: Bool) async throws {
        var cache = try directory.open(key: try testKey(isEncrypted))
        for number in 0..<4 { cache.store(entry(number)) }
        await cache.flush()
        for _ in 0..<5 { #expect(await cache.entry(for: key(0)) != nil) }
        await cache.flush()
        await cache.trim(toCount: 0)
        await cache.close()
        cache = try directory.open(key: try testKey(isEncrypted))
        for number in 0..<1 { cache.store(entry(number)) }
        for number in 10..<14 { cache.store(entry(number)) }
        await cache.flush()
        await cache.trim(toCount: 1)
        #expect(await cache.entry(for: key(0)) != nil)
        // The removal of all entries also discards the uses of evicted ones.
        await cache.removeAll()
        for number in [0, 10, 11] { cache.store(entry(number)) }
        await cache.flush()
        await cache.trim(toCount: 2)
        #expect(await cache.entry(for: key(0)) == nil)
        await cache.close()
    }

    /// Changes an index to the tables of version 5.
    private func downgrade(_ path: String) throws {
        let connection = try SQLiteConnection(path, create: false, busyMilliseconds: 1_000)
        for column in ["uses", "weight", "rank"] {
            try connection.execute("ALTER TABLE entries DROP COLUMN \(column)")
        }
        try connection.execute("ALTER TABLE totals DROP COLUMN floor; DROP TABLE ghosts; PRAGMA user_version=5")
    }

    @Test("An index of the previous version is upgraded without losing entries or values that only the index contains")
    func upgrade() async throws {
        var cache = try directory.open()
        for number in 0..<20 { cache.store(entry(number)) }
        await cache.flush()
        try cache.setUserData(Data("value".utf8), for: key(3))
        await cache.close()
        let path = "\(directory.path)/index.sqlite"
        try downgrade(path)
        cache = try directory.open()
        #expect(await cache.info().entryCount == 20)
        #expect(await cache.userData(for: key(3)) == Data("value".utf8))
        for number in 0..<20 { #expect(await cache.entry(for: key(number))?.data == bytes(number)) }
        for _ in 0..<8 { #expect(await cache.entry(for: key(7)) != nil) }
        cache.store(entry(30))
        await cache.flush()
        await cache.trim(toCount: 1)
        #expect(await cache.entry(for: key(7)) != nil)
        await cache.close()
        #expect(DiskCacheInspection(inspecting: directory.path).directory?.index == .sound(version: 6))
    }

    @Test("An index of an unknown version is rebuilt from the files without losing entries", arguments: [1, 4, 7, 99])
    func rebuild(_ version: Int) async throws {
        var cache = try directory.open()
        for number in 0..<20 { cache.store(entry(number)) }
        await cache.close()
        let connection = try SQLiteConnection(
            "\(directory.path)/index.sqlite", create: false, busyMilliseconds: 1_000)
        try connection.execute("PRAGMA user_version=\(version)")
        cache = try directory.open()
        #expect(await cache.info().entryCount == 20)
        for number in 0..<20 { #expect(await cache.entry(for: key(number))?.data == bytes(number)) }
        await cache.close()
    }

    @Test("A modified index with impossible ranks and evictions changes only the order of eviction")
    func modified() async throws {
        var cache = try directory.open()
        for number in 0..<20 { cache.store(entry(number)) }
        await cache.close()
        let connection = try SQLiteConnection(
            "\(directory.path)/index.sqlite", create: false, busyMilliseconds: 1_000)
        try connection.execute(
            """
            UPDATE totals SET floor = 9e999; UPDATE entries SET rank = -9e999, uses = -5, weight = 'x' WHERE id % 3 = 0;
            UPDATE entries SET rank = 9e999, uses = 9223372036854775807, weight = 9e999 WHERE id % 3 = 1;
            INSERT INTO ghosts(count, entries) VALUES(-1, randomblob(1000)), (9223372036854775807, 'text'), (1, x'');
            """)
        cache = try directory.open()
        for number in 0..<20 { #expect(await cache.entry(for: key(number))?.data == bytes(number)) }
        for number in 20..<25 { cache.store(entry(number)) }
        await cache.flush()
        await cache.trim(toCount: 5)
        #expect(await cache.info().entryCount == 5)
        #expect(await cache.verify().corruptCount == 0)
        await cache.close()
    }

    // MARK: Model

    /// A simple implementation of the policy.
    private struct Model {
        struct Line {
            var id: Int
            var accessed: Double
            var uses: Int
            var size: Int
            var rank: Double
        }

        var lines: [Int: Line] = [:]
        var ghosts: [Int: Int] = [:]
        /// The uses at the last eviction of each entry, which the index contains.
        var evicted: [Int: Int] = [:]
        var floor = 0.0
        var lastID = 0

        private func rank(_ uses: Int, _ size: Int) -> Double { floor + Double(uses) / Double(size).squareRoot() }

        mutating func insert(_ number: Int, size: Int, time: Double) {
            let uses = min(255, max(lines[number]?.uses ?? 0, ghosts.removeValue(forKey: number) ?? 0) + 1)
            lastID += 1
            lines[number] = Line(id: lastID, accessed: time, uses: uses, size: size, rank: rank(uses, size))
        }

        mutating func touch(_ number: Int, count: Int, time: Double) {
            guard var line = lines[number] else { return }
            line.accessed = time
            line.uses = min(255, line.uses + count)
            line.rank = rank(line.uses, line.size)
            lines[number] = line
        }

        var order: [Int] {
            lines.values.sorted { ($0.rank, $0.accessed, $0.id) < ($1.rank, $1.accessed, $1.id) }.map(\.id)
        }

        mutating func evict(_ count: Int) {
            let gone = Set(order.prefix(count))
            for (number, line) in lines where gone.contains(line.id) {
                floor = max(floor, line.rank)
                ghosts[number] = line.uses
                evicted[number] = line.uses
                lines[number] = nil
            }
        }
    }

    @Test("Random changes of the index have the same order of eviction as a simple implementation", arguments: 0..<6)
    func model(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
        let path = "\(directory.path)/index.sqlite"
        var index = try CacheIndex(writing: path)
        var model = Model()
        for step in 0..<400 {
            let number = Int.random(in: 0..<60, using: &random)
            let name = key(number).fileName
            let time = Double(step)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let size = 4_096 * Int.random(in: 1...30, using: &random)
                let row = IndexRow(
                    name: name, digest: key(number).storedDigest, key: key(number).canonical, size: size,
                    payload: size, stored: time, renewed: time, accessed: time)
                try index.transaction { () throws(IndexError) in try index.insert(row) }
                model.insert(number, size: size, time: time)
            case 4..<7:
                let count = Int.random(in: 1...(step % 7 == 0 ? 200 : 3), using: &random)
                try index.transaction { () throws(IndexError) in
                    try index.touch(name: name, accessed: time, uses: count)
                }
                model.touch(number, count: count, time: time)
            case 7:
                try index.transaction { () throws(IndexError) in _ = try index.delete(name: name) }
                model.lines[number] = nil
            case 8:
                let count = Int.random(in: 0...8, using: &random)
                try index.transaction { () throws(IndexError) in
                    let gone = try index.candidates(try index.evictionOrder().prefix(count).map(\.id))
                    try index.delete(gone)
                    try index.recordEvictions(gone)
                }
                model.evict(count)
            default:
                // The policy doesn't depend on the process. Only the fact that an evicted entry returned isn't stored.
                index = try CacheIndex(writing: path)
                model.ghosts = model.evicted
            }
            #expect(try index.evictionOrder().map(\.id) == model.order)
        }
    }

    @Test("Remembered evictions are limited, and incomplete slices are read as far as possible")
    func ghostUses() {
        var ghosts = GhostUses()
        for number in 0..<100 { ghosts.add(tag: number, uses: number) }
        ghosts.limit(to: 10)
        #expect(ghosts.count == 10)
        #expect(ghosts.take(89) == 0 && ghosts.take(95) == 95 && ghosts.take(95) == 0)
        let slice = GhostUses.encoded([(tag: -7, uses: 3), (tag: 8, uses: 1_000), (tag: 9, uses: 0)])
        for count in 0...slice.count {
            var read = GhostUses()
            slice.prefix(count).withUnsafeBytes { read.add(encoded: $0) }
            #expect(read.count == count / 9)
            #expect(count < 27 || read.take(-7) == 3 && read.take(8) == 255 && read.take(9) == 1)
        }
    }
}
