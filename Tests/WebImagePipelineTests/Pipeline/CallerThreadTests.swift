// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@Suite("Work on the threads of callers", .timeLimit(.minutes(5)))
struct CallerThreadTests {
    /// A call that returns immediately.
    enum Call: String, CaseIterable, Sendable {
        case load, cachedImage, cachedPlaceholder
    }

    @Test(
        "Neither starting a request for a file nor a memory lookup accesses the file system",
        arguments: Call.allCases, [true, false])
    func file(call: Call, isInMemory: Bool) async throws {
        let folder = try TestImages.temporaryDirectory()
        let url = URL(filePath: folder.file("a.png"))
        try Numbered.data(1).write(to: url)
        let fixture = try ManagerFixture { $0.diskCache = nil }
        let request = ImageRequest(url: url)
        if isInMemory { #expect(await fixture.manager.load(request).number == 1) }
        let queries = FileQueries.count(of: url) {
            switch call {
            case .load: fixture.manager.load(request)
            case .cachedImage: _ = fixture.manager.cachedImage(for: request)
            case .cachedPlaceholder: _ = fixture.manager.cachedPlaceholder(for: request)
            }
        }
        #expect(queries == 0)
        await fixture.manager.rest()
    }

    @Test("The file system calls of a thread for a file are counted")
    func counting() throws {
        let folder = try TestImages.temporaryDirectory()
        let url = URL(filePath: folder.file("a"))
        let count = FileQueries.count(of: url) {
            var status = stat()
            _ = stat(url.path, &status)
            _ = FileManager.default.fileExists(atPath: url.path)
            _ = stat(folder.path, &status)
        }
        #expect(count == 2)
    }

    @Test("An edited file is another image for every call")
    func edited() async throws {
        let folder = try TestImages.temporaryDirectory()
        let url = URL(filePath: folder.file("a.png"))
        let fixture = try ManagerFixture { $0.diskCache = nil }
        for number in 1...3 {
            try Numbered.data(number).write(to: url)
            // The file size never changes, and file systems have coarse timestamps.
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: Double(number) * 1_000)], ofItemAtPath: url.path)
            #expect(await fixture.manager.load(url).number == number)
            #expect(await fixture.manager.load(url).number == number)
        }
    }

    @Test("Serial lookups in tiers finish although they block every thread of Swift's cooperative pool")
    func serialLookups() async {
        await #expect(processExitsWith: .success) {
            try await CallerThreadTests.lookup(isCached: true, query: .serial)
        }
    }

    /// Runs in a separate process because threads that wait for one another never end.
    @Test(
        "Lookups in several tiers finish although they block every thread of Swift's cooperative pool",
        arguments: [true, false])
    func lookups(isThere: Bool) async {
        if isThere {
            await #expect(processExitsWith: .success) { try await CallerThreadTests.lookup(isCached: true) }
        } else {
            await #expect(processExitsWith: .success) { try await CallerThreadTests.lookup(isCached: false) }
        }
    }

    /// Looks up many images on all threads of Swift's cooperative pool, and exits the process if that takes more than
    /// 10 seconds.
    private static func lookup(
        isCached: Bool, query: ImageCache.TierPolicy.Order = .concurrent
    ) async throws {
        // If the lookups block one another, no signal arrives, so only elapsed time shows the failure.
        let watchdog = Thread {
            Thread.sleep(forTimeInterval: 10)
            exit(1)
        }
        watchdog.start()
        let loader = StubLoader { _ in Numbered.response(1) }
        let tiers = [RecordingTier(.disk), RecordingTier(.custom)]
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = tiers
            $0.tierPolicy.lookup = query
            $0.loaders = [loader]
        }
        let manager = fixture.manager
        let urls = (0..<8 * ProcessInfo.processInfo.activeProcessorCount).compactMap {
            URL(string: "https://images.test/\($0)")
        }
        if isCached {
            for url in urls { await manager.load(url).waitUntilStored() }
            manager.memoryCache.removeAll()
        }
        let found = await withTaskGroup(of: Bool.self) { group in
            for url in urls {
                group.addTask { manager.loadCachedImageSynchronously(for: ImageRequest(url: url), from: .all) != nil }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        guard found == (isCached ? urls.count : 0) else { exit(2) }
    }
}
