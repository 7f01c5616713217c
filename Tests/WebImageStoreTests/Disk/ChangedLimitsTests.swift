// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@testable import WebImageStore

@Suite("Limits of a running disk cache", .timeLimit(.minutes(5)))
struct ChangedLimitsTests {
    let directory = TestDirectory()
    private let time = ManualClock()

    private func open(_ change: (inout DiskCache.Configuration) -> Void = { _ in }) throws -> DiskCache {
        var configuration = directory.configuration()
        configuration.clock = time.clock
        change(&configuration)
        return try DiskCache(configuration: configuration)
    }

    /// Waits until `condition` is met. Each check waits for the writer.
    private func wait(_ cache: DiskCache, until condition: (DiskCache.Info) -> Bool) async {
        while !condition(await cache.info()), !Task.isCancelled { await Task.yield() }
    }

    private func fill(_ cache: DiskCache, _ numbers: Range<Int>) async {
        for number in numbers { cache.store(entry(number, stored: time.now)) }
        await cache.flush()
    }

    @Test("A lower limit for the number of entries evicts the least recently used entries, in every order of changes")
    func count() async throws {
        let cache = try open()
        await fill(cache, 0..<40)
        #expect(cache.limits.countLimit == .max)
        time.advance(100)
        for number in 0..<5 { #expect(await cache.entry(for: key(number)) != nil) }
        await cache.flush()
        cache.limits.countLimit = 10
        await wait(cache) { $0.entryCount <= 10 }
        for number in 0..<5 { #expect(await cache.entry(for: key(number))?.data == bytes(number)) }
        // The limit also applies to entries that are stored afterward, and a higher limit applies immediately.
        await fill(cache, 100..<130)
        await wait(cache) { $0.entryCount <= 10 }
        // A higher limit doesn't stop a running eviction, whose last slice may not have run yet. This waits for it.
        await cache.trim(toCount: 10)
        cache.limits.countLimit = 100
        await fill(cache, 200..<250)
        #expect(await cache.info().entryCount >= 50)
        cache.limits.countLimit = -1
        #expect(cache.limits.countLimit == 0)
        await wait(cache) { $0.entryCount == 0 }
        await cache.close()
    }

    @Test("The limit of the configuration for the number of entries applies from the beginning")
    func configuredCount() async throws {
        let cache = try open { $0.countLimit = 3 }
        await fill(cache, 0..<20)
        await wait(cache) { $0.entryCount <= 3 }
        #expect(cache.limits.countLimit == 3)
        await cache.close()
    }

    @Test("A lower size limit evicts entries, and a higher one accepts larger entries")
    func size() async throws {
        let cache = try open()
        await fill(cache, 0..<60)
        let size = await cache.info().size
        cache.limits.sizeLimit = size / 3
        await wait(cache) { $0.size <= size / 3 }
        let info = await cache.info()
        #expect(info.sizeLimit == size / 3 && info.entryCount > 0)
        // An entry may use one tenth of the size limit.
        let large = size / 20
        cache.store(entry(500, count: large, stored: time.now))
        #expect(await cache.entry(for: key(500)) == nil)
        cache.limits.sizeLimit = size * 2
        cache.store(entry(500, count: large, stored: time.now))
        await cache.flush()
        #expect(await cache.entry(for: key(500))?.data.count == large)
        cache.limits.entrySizeLimit = 100
        cache.store(entry(501, count: 101, stored: time.now))
        #expect(await cache.entry(for: key(501)) == nil)
        // Larger entries remain readable.
        #expect(await cache.entry(for: key(500))?.data.count == large)
        await cache.close()
    }

    @Test("A lower maximum age deletes the expired entries immediately")
    func age() async throws {
        let cache = try open()
        await fill(cache, 0..<10)
        time.advance(1_000)
        await fill(cache, 10..<15)
        cache.limits.maxAge = .seconds(500)
        #expect(await cache.entry(for: key(1)) == nil)
        await wait(cache) { $0.entryCount == 5 }
        #expect(await cache.entry(for: key(12)) != nil)
        await cache.close()
    }

    @Test("Limits can change while other tasks store and read entries")
    func concurrent() async throws {
        let cache = try open()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for number in 0..<50 {
                        cache.store(entry(worker * 100 + number))
                        let found = await cache.entry(for: key(worker * 100 + number / 2))
                        #expect(found == nil || found?.data == bytes(worker * 100 + number / 2))
                    }
                }
            }
            group.addTask {
                for limit in [5, 1_000, 20, 3, 50] {
                    cache.limits.countLimit = limit
                    await cache.flush()
                }
            }
        }
        cache.limits.countLimit = 7
        await wait(cache) { $0.entryCount <= 7 }
        await cache.close()
        cache.limits.countLimit = 1
        #expect(cache.limits.countLimit == 1)
    }
}
