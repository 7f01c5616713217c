// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// Disk errors affect only the cache. Images are still loaded.
@Suite("Row 61: errors of the disk cache", .timeLimit(.minutes(5)))
struct CacheFaultTests {
    private func makeServer() throws -> LoopbackServer {
        let picture = try TestImages.png(1)
        return try LoopbackServer { _ in
            .ok(picture, contentType: "image/png").with { $0.headers["Cache-Control"] = "max-age=60" }
        }
    }

    private func expectImages(_ fixture: ManagerFixture, _ server: LoopbackServer, count: Int) async throws {
        for number in 0..<count {
            let image = try await fixture.manager.image(for: server.url("/\(number)"))
            #expect(image.size == PixelSize(width: 64, height: 48))
            await fixture.manager.diskCache?.flush()
        }
    }

    @Test("Row 61: a load continues if the cache directory is removed, and images in memory stay cached")
    func removed() async throws {
        let server = try makeServer()
        let fixture = try ManagerFixture()
        try await expectImages(fixture, server, count: 1)
        try FileManager.default.removeItem(atPath: fixture.directory.file("cache"))
        try await expectImages(fixture, server, count: 4)
        #expect(server.counters.requests == 4)
        await fixture.manager.shutdown()
    }

    @Test("Row 61: images load without a disk cache if a file occupies the path of its directory")
    func impossible() async throws {
        let server = try makeServer()
        let folder = try TemporaryDirectory()
        try Data("in the way".utf8).write(to: URL(filePath: folder.file("cache")))
        let fixture = try ManagerFixture(directory: folder)
        try await expectImages(fixture, server, count: 2)
        #expect(try await fixture.manager.image(for: server.url("/0")).size == PixelSize(width: 64, height: 48))
        #expect(server.counters.requests == 2)
        await fixture.manager.shutdown()
    }

    @Test(
        "Row 61: images load if the cache directory isn't writable",
        .enabled(if: getuid() != 0, "root can write to every directory"))
    func unwritable() async throws {
        let server = try makeServer()
        let fixture = try ManagerFixture()
        try await expectImages(fixture, server, count: 1)
        try await fixture.manager.withoutWriting(fixture.directory.file("cache")) {
            try await expectImages(fixture, server, count: 3)
        }
        #expect(server.counters.requests == 3)
    }

    @Test("Row 61: images load if a file replaces the directory of the blobs")
    func replaced() async throws {
        let server = try makeServer()
        let fixture = try ManagerFixture()
        try await expectImages(fixture, server, count: 1)
        let blobs = fixture.directory.file("cache/blobs")
        try FileManager.default.removeItem(atPath: blobs)
        try Data("in the way".utf8).write(to: URL(filePath: blobs))
        try await expectImages(fixture, server, count: 3)
        #expect(server.counters.requests == 3)
        await fixture.manager.shutdown()
    }

    @Test(
        "Row 61: images load if the disk is full, and caching resumes when space is available",
        .enabled(
            if: SmallDisk.isPermitted, "mounting a file system requires root privileges"))
    func full() async throws {
        let server = try makeServer()
        let folder = try TemporaryDirectory()
        let disk = try #require(SmallDisk(bytes: 1 << 20, at: folder.file("cache")))
        let uptime = TestTime()
        let fixture = try ManagerFixture(directory: folder) {
            $0.diskCache?.clock.uptime = { uptime.now.timeIntervalSinceReferenceDate }
        }
        try await expectImages(fixture, server, count: 1)
        #expect(disk.fill())
        try await expectImages(fixture, server, count: 40)
        #expect(server.counters.requests == 40)
        #expect(await fixture.manager.diskCache?.info().suspensionReason != nil)
        try disk.empty()
        // The cache retries writing after a pause of at most 15 minutes.
        uptime.pass(1_000)
        var request = ImageRequest(url: server.url("/later"))
        request.caching.waitsUntilStored = true
        _ = try await fixture.manager.response(for: request)
        let later = try await fixture.restarted()
        #expect(try await later.manager.response(for: request).source == .diskCache)
        await later.manager.shutdown()
    }

    @Test(
        "Row 61: images load if the disk is mounted read-only, and cached images are still served",
        .enabled(
            if: SmallDisk.isPermitted, "mounting a file system requires root privileges"))
    func readOnly() async throws {
        let server = try makeServer()
        let folder = try TemporaryDirectory()
        let disk = try #require(SmallDisk(bytes: 4 << 20, at: folder.file("cache")))
        let fixture = try ManagerFixture(directory: folder)
        try await expectImages(fixture, server, count: 1)
        await fixture.manager.shutdown()
        #expect(disk.setReadOnly(true))
        let later = try await fixture.restarted()
        #expect(try await later.manager.response(for: ImageRequest(url: server.url("/0"))).source == .diskCache)
        try await expectImages(later, server, count: 3)
        #expect(server.counters.requests == 3)
        await later.manager.shutdown()
        #expect(disk.setReadOnly(false))
    }

    @Test("Row 61, C-06: two managers can use one directory at the same time")
    func two() async throws {
        let server = try makeServer()
        let first = try ManagerFixture()
        let second = try ManagerFixture(directory: first.directory)
        let urls = (0..<40).map { server.url("/\($0)") }
        try await withThrowingTaskGroup(of: PixelSize.self) { group in
            for url in urls {
                group.addTask { try await first.manager.image(for: url).size }
                group.addTask { try await second.manager.image(for: url).size }
            }
            for try await size in group { #expect(size == PixelSize(width: 64, height: 48)) }
        }
        await first.manager.shutdown()
        await second.manager.shutdown()
        let third = try ManagerFixture(directory: first.directory)
        for url in urls { _ = try await third.manager.image(for: url) }
        #expect(server.counters.requests <= 2 * urls.count)
        await third.manager.shutdown()
    }
}

extension ImageManager {
    /// Runs `body` while the directory isn't writable.
    fileprivate func withoutWriting(_ folder: String, _ body: () async throws -> Void) async throws {
        chmod(folder, 0o500)
        chmod(folder + "/blobs", 0o500)
        defer {
            chmod(folder, 0o700)
            chmod(folder + "/blobs", 0o700)
        }
        try await body()
    }
}
