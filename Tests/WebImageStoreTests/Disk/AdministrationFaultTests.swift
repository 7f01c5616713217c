// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageCore
import WebImageTestSupport

@testable import WebImageStore

/// Tests a sequence of administrative operations in which each system call fails once.
@Suite("Administration of the disk cache on a failing file system")
struct AdministrationFaultTests {
    /// Returns a complete PNG file of one pixel, followed by the text of `number`. Decoders ignore the text.
    private static func image(_ number: Int) -> Data {
        let text = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        return (Data(base64Encoded: text) ?? Data()) + Data("\(number)".utf8)
    }

    private static func key(_ number: Int) -> CacheKey { CacheKey(["data", "https://\(number).example/a.png"]) }

    private static func entry(_ number: Int, age: Double = 0) -> CacheEntry {
        CacheEntry(
            key: key(number), data: image(number), userData: Data("old".utf8), tags: ["tag\(number)"],
            storedAt: Date().addingTimeInterval(-age))
    }

    private func check(_ cache: DiskCache, _ number: Int) async {
        guard let found = await cache.entry(for: Self.key(number)) else { return }
        #expect(found.data == Self.image(number) && found.tags == ["tag\(number)"])
        #expect([nil, "old", "new"].contains(found.userData.map { String(decoding: $0, as: UTF8.self) }))
    }

    private func run(_ folder: TestDirectory, _ target: TestDirectory, _ files: FaultyFileSystem) async {
        var configuration = folder.configuration()
        configuration.fileSystem = files
        guard let cache = try? DiskCache(configuration: configuration) else { return }
        for number in 0..<4 { cache.store(Self.entry(number)) }
        cache.store(Self.entry(4, age: 1_000))
        await cache.flush()
        try? cache.setUserData(Data("new".utf8), for: Self.key(1))
        try? cache.setUserData(nil, for: Self.key(2))
        await cache.flush()
        for number in 0..<4 { await check(cache, number) }
        _ = try? await cache.export(to: target.path, as: .images)
        #expect(await cache.remove(host: "0.example").entryCount <= 1)
        #expect(await cache.remove(tag: "tag3").entryCount <= 1)
        await cache.trim(maxAge: .seconds(500)) { done, total in #expect(done == total && done <= 5) }
        #expect(await cache.entries().count <= 5)
        _ = await cache.verify()
        await cache.removeAll()
        await cache.deleteTrash()
        if let imported = try? await cache.importImages(from: target.path) { #expect(imported.entryCount <= 5) }
        for number in 0..<5 { await check(cache, number) }
        await cache.close()
    }

    /// Each call fails twice: because the disk is full, which the cache treats specially, and by one of the other faults
    /// in turn. All faults of all calls would take five times as long as the first test case.
    @Test(
        "If any system call fails, no wrong data is returned, exported, or imported, and the cache recovers",
        arguments: [[FaultyFileSystem.Fault.code(ENOSPC)], [.code(EIO), .code(EINTR), .code(EMFILE), .short]])
    func everyCall(_ faults: [FaultyFileSystem.Fault]) async throws {
        let counting = FaultyFileSystem()
        await run(TestDirectory(), TestDirectory(), counting)
        #expect(counting.calls > 100)
        for number in 1...(counting.calls + 5) {
            let (folder, target) = (TestDirectory(), TestDirectory())
            let files = FaultyFileSystem()
            let fault = faults[number % faults.count]
            files.fail(number..<(number + 1), with: fault)
            await run(folder, target, files)
            #expect(files.strayUses.isEmpty, "after call \(number): \(fault)")
            let again = try folder.open()
            for number in 0..<5 { await check(again, number) }
            again.store(Self.entry(9))
            await again.flush()
            #expect(
                await again.entry(for: Self.key(9))?.data == Self.image(9), "after call \(number): \(fault)")
            #expect(await again.verify().corruptCount == 0)
            await again.close()
        }
    }
}
