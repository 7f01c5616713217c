// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageHTTP

@testable import WebImageStore

@Suite("Disk cache compared with a dictionary")
struct ModelTests {
    @Test("Random operations have the same results as with a dictionary", arguments: 0..<6, [false, true])
    func withoutLimits(_ seed: Int, isEncrypted: Bool) async throws {
        let folder = TestDirectory()
        var random = SeededGenerator(seed: UInt64(seed))
        var model: [Int: CacheEntry] = [:]
        let secret = try testKey(isEncrypted)
        var cache = try folder.open(key: secret)
        for step in 0..<400 {
            let number = Int.random(in: 0..<20, using: &random)
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<35:
                let new = entry(number, version: step, count: Int.random(in: 0...9_000, using: &random))
                model[number] = new
                cache.store(new)
            case 35..<70: #expect(await cache.entry(for: key(number)) == model[number], "step \(step)")
            case 70..<80:
                model[number] = nil
                cache.remove(key(number))
            case 80..<90:
                let newer = head(etag: "\"\(step)\"")
                model[number]?.head = newer
                cache.updateHead(newer, for: key(number))
            case 90..<95: await cache.flush()
            case 95: #expect(await cache.entries().count == model.count)
            case 96:
                model = [:]
                await cache.removeAll()
            case 97: #expect(await cache.verify().entryCount == model.count)
            default:
                await cache.close()
                cache = try folder.open(key: secret)
            }
        }
        for number in 0..<20 { #expect(await cache.entry(for: key(number)) == model[number]) }
        await cache.close()
    }

    @Test(
        "With a size limit, lookups return the newest entry or none, and the limit holds", arguments: 0..<4,
        [false, true])
    func withLimit(_ seed: Int, isEncrypted: Bool) async throws {
        let folder = TestDirectory()
        let limit = 200_000
        var random = SeededGenerator(seed: UInt64(seed) + 90)
        var model: [Int: CacheEntry] = [:]
        let cache = try folder.open(sizeLimit: limit, key: try testKey(isEncrypted))
        for step in 0..<600 {
            let number = Int.random(in: 0..<80, using: &random)
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<50:
                let new = entry(number, version: step, count: Int.random(in: 0...15_000, using: &random))
                model[number] = new
                cache.store(new)
            case 50..<90:
                if let found = await cache.entry(for: key(number)) { #expect(found == model[number]) }
            case 90..<95:
                model[number] = nil
                cache.remove(key(number))
            default:
                await cache.trim(toSize: limit)
                #expect(await cache.info().size <= limit)
            }
        }
        await cache.trim(toSize: 0)
        #expect(await cache.info().entryCount == 0)
        #expect(try entryFiles(in: cache.state.layout.root).isEmpty)
        await cache.close()
    }

    @Test("A clock that jumps by years neither removes recent entries nor keeps entries indefinitely")
    func clockJumps() async throws {
        let folder = TestDirectory()
        let time = ManualClock()
        var configuration = folder.configuration()
        configuration.clock = time.clock
        let cache = try DiskCache(configuration: configuration)
        time.jump(86_400 * 365 * 5)
        cache.store(entry(1, stored: time.now))
        await cache.flush()
        time.jump(-86_400 * 365 * 5)
        cache.store(entry(2, stored: time.now))
        await cache.flush()
        #expect(await cache.entry(for: key(1)) != nil)
        #expect(await cache.entry(for: key(2)) != nil)
        await cache.close()
        let again = try DiskCache(configuration: configuration)
        // Trimming reduces times in the future to the current time. The writer also does so when it checks ages for the
        // first time, but it can do that after the clock advanced.
        await again.trim(maxAge: .seconds(86_400 * 30))
        #expect(await again.info().entryCount == 2)
        time.advance(86_400 * 31)
        await again.trim(maxAge: .seconds(86_400 * 30))
        #expect(await again.info().entryCount == 0)
        await again.close()
    }

    @Test("An entry older than the age limit is a cache miss unless it was revalidated")
    func age() async throws {
        let folder = TestDirectory()
        let time = ManualClock()
        var configuration = folder.configuration()
        configuration.clock = time.clock
        let cache = try DiskCache(configuration: configuration)
        for number in 1...2 {
            var old = entry(number, stored: time.now)
            old.head = head(etag: "\"old\"", time: time.now)
            cache.store(old)
        }
        await cache.flush()
        time.advance(86_400 * 20)
        cache.updateHead(head(etag: "\"a\"", time: time.now), for: key(2))
        await cache.flush()
        time.advance(86_400 * 11)
        #expect(await cache.entry(for: key(1)) == nil)
        #expect(await cache.entry(for: key(2)) != nil)
        await cache.close()
    }

    @Test("Concurrent tasks read only entries that were stored")
    func hammer() async throws {
        let folder = TestDirectory()
        let cache = try folder.open(sizeLimit: 1_000_000)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(task))
                    for _ in 0..<150 {
                        let number = Int.random(in: 0..<60, using: &random)
                        switch Int.random(in: 0..<20, using: &random) {
                        case 0..<8: cache.store(entry(number, count: 2_000 + number))
                        case 8..<17:
                            if let found = await cache.entry(for: key(number)) {
                                #expect(found.data == bytes(number, count: 2_000 + number))
                            }
                        case 17: cache.remove(key(number))
                        case 18: await cache.flush()
                        default: _ = await cache.entries()
                        }
                    }
                }
            }
        }
        await cache.close()
    }
}
