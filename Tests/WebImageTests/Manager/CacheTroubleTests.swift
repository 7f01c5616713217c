// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageConcurrency
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// Disk errors affect only the cache. Images are still loaded.
@Suite("Row 61: errors of the disk cache", .timeLimit(.minutes(5)))
struct CacheTroubleTests {
    private func makeServer() throws -> LoopbackServer {
        let picture = try TestPictures.png(1)
        return try LoopbackServer { _ in
            .ok(picture, type: "image/png").with { $0.fields["Cache-Control"] = "max-age=60" }
        }
    }

    private func expectPictures(_ fixture: ManagerFixture, _ server: LoopbackServer, count: Int) async throws {
        for number in 0..<count {
            let image = try await fixture.manager.image(from: server.url("/\(number)"))
            #expect(image.size == PixelSize(width: 64, height: 48))
            await fixture.manager.diskCache?.flush()
        }
    }

    @Test("Row 61: a load continues if the cache directory is removed, and images in memory stay cached")
    func removed() async throws {
        let server = try makeServer()
        let fixture = try ManagerFixture()
        try await expectPictures(fixture, server, count: 1)
        try FileManager.default.removeItem(atPath: fixture.folder.file("cache"))
        try await expectPictures(fixture, server, count: 4)
        #expect(server.counters.requests == 4)
        await fixture.manager.close()
    }

    @Test("Row 61: images load without a disk cache if a file occupies the path of its directory")
    func impossible() async throws {
        let server = try makeServer()
        let folder = try TemporaryFolder()
        try Data("in the way".utf8).write(to: URL(filePath: folder.file("cache")))
        let fixture = try ManagerFixture(folder: folder)
        try await expectPictures(fixture, server, count: 2)
        #expect(try await fixture.manager.image(from: server.url("/0")).size == PixelSize(width: 64, height: 48))
        #expect(server.counters.requests == 2)
        await fixture.manager.close()
    }

    @Test(
        "Row 61: images load if the cache directory isn't writable",
        .enabled(if: getuid() != 0, "root can write to every directory"))
    func unwritable() async throws {
        let server = try makeServer()
        let fixture = try ManagerFixture()
        try await expectPictures(fixture, server, count: 1)
        try await fixture.manager.withoutWriting(fixture.folder.file("cache")) {
            try await expectPictures(fixture, server, count: 3)
        }
        #expect(server.counters.requests == 3)
    }

    @Test("Row 61: images load if a file replaces the directory of the blobs")
    func replaced() async throws {
        let server = try makeServer()
        let fixture = try ManagerFixture()
        try await expectPictures(fixture, server, count: 1)
        let blobs = fixture.folder.file("cache/blobs")
        try FileManager.default.removeItem(atPath: blobs)
        try Data("in the way".utf8).write(to: URL(filePath: blobs))
        try await expectPictures(fixture, server, count: 3)
        #expect(server.counters.requests == 3)
        await fixture.manager.close()
    }

    @Test(
        "Row 61: images load if the disk is full, and caching resumes when space is available",
        .enabled(
            if: SmallDisk.isPermitted, "mounting a file system requires root privileges"))
    func full() async throws {
        let server = try makeServer()
        let folder = try TemporaryFolder()
        let disk = try #require(SmallDisk(bytes: 1 << 20, at: folder.file("cache")))
        let uptime = TestTime()
        let fixture = try ManagerFixture(folder: folder) {
            $0.cache.disk.clock.uptime = { uptime.now.timeIntervalSinceReferenceDate }
        }
        try await expectPictures(fixture, server, count: 1)
        #expect(disk.fill())
        try await expectPictures(fixture, server, count: 40)
        #expect(server.counters.requests == 40)
        #expect(await fixture.manager.diskCache?.info().suspended != nil)
        try disk.empty()
        // The cache retries writing after a pause of at most 15 minutes.
        uptime.pass(1_000)
        var request = ImageRequest(server.url("/later"))
        request.waitsForStore = true
        _ = try await fixture.manager.response(for: request)
        let later = try await fixture.restarted()
        #expect(try await later.manager.response(for: request).origin == .disk)
        await later.manager.close()
    }

    @Test(
        "Row 61: images load if the disk is mounted read-only, and cached images are still served",
        .enabled(
            if: SmallDisk.isPermitted, "mounting a file system requires root privileges"))
    func readOnly() async throws {
        let server = try makeServer()
        let folder = try TemporaryFolder()
        let disk = try #require(SmallDisk(bytes: 4 << 20, at: folder.file("cache")))
        let fixture = try ManagerFixture(folder: folder)
        try await expectPictures(fixture, server, count: 1)
        await fixture.manager.close()
        #expect(disk.setReadOnly(true))
        let later = try await fixture.restarted()
        #expect(try await later.manager.response(for: ImageRequest(server.url("/0"))).origin == .disk)
        try await expectPictures(later, server, count: 3)
        #expect(server.counters.requests == 3)
        await later.manager.close()
        #expect(disk.setReadOnly(false))
    }

    @Test("Row 61: two managers can use one directory at the same time")
    func two() async throws {
        let server = try makeServer()
        let first = try ManagerFixture()
        let second = try ManagerFixture(folder: first.folder)
        let urls = (0..<40).map { server.url("/\($0)") }
        try await withThrowingTaskGroup(of: PixelSize.self) { group in
            for url in urls {
                group.addTask { try await first.manager.image(from: url).size }
                group.addTask { try await second.manager.image(from: url).size }
            }
            for try await size in group { #expect(size == PixelSize(width: 64, height: 48)) }
        }
        await first.manager.close()
        await second.manager.close()
        let third = try ManagerFixture(folder: first.folder)
        for url in urls { _ = try await third.manager.image(from: url) }
        #expect(server.counters.requests <= 2 * urls.count)
        await third.manager.close()
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
