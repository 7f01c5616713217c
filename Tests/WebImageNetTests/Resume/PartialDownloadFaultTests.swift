// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageHTTP
import WebImageStore
import WebImageTestSupport

@testable import WebImageNet

@Suite("Files of interrupted bodies that others changed or that fail", .timeLimit(.minutes(5)))
struct PartialDownloadFaultTests {
    private func key(_ name: String) -> PartialDownloadKey {
        let url = URL(string: "http://a.example/\(name)") ?? URL(filePath: "/")
        return PartialDownloadKey(source: PartialDownloadKey.source(url), part: CacheKey([name]))
    }

    private func options(_ folder: TemporaryDirectory) -> ResumeOptions {
        var options = ResumeOptions(directory: URL(filePath: folder.path + "/parts"))
        options.diskThreshold = 1_000
        options.diskLimit = 100_000
        return options
    }

    private func point(_ count: Int, seed: UInt64 = 1) -> PartialDownload {
        makePoint(patternBytes(count, seed: seed), total: count * 2, stored: Date(timeIntervalSince1970: 1_800_000_000))
    }

    /// Runs each operation of the store. Each part that is found must be one that was stored.
    private func run(_ options: ResumeOptions, _ files: FaultyFileSystem) async {
        let store = PartialDownloadStore(options, files: files)
        _ = await store.disk()
        for name in ["a", "b"] { store.put(point(5_000), for: key(name)) }
        _ = await store.disk()
        for name in ["a", "b", "c"] {
            let found = await store.point(for: key(name))
            #expect(found == nil || found == point(5_000))
        }
        store.put(point(6_000, seed: 2), for: key("a"))
        _ = await store.disk()
        store.remove(key("b"))
        // A removed part must not return even if its file can't be deleted.
        #expect(await store.point(for: key("b")) == nil)
        let found = await store.point(for: key("a"))
        #expect(found == nil || found == point(5_000) || found == point(6_000, seed: 2))
        await store.removeAll()
        #expect(await store.point(for: key("a")) == nil)
    }

    private func options(_ folder: TemporaryDirectory, now: Date) -> ResumeOptions {
        var options = options(folder)
        options.now = { now }
        return options
    }

    @Test(
        "If any system call fails, no wrong bytes are returned, and a later store works",
        arguments: [FaultyFileSystem.Fault.code(ENOSPC), .code(EIO), .code(EINTR), .code(EACCES), .code(EROFS), .short])
    func everyCall(_ fault: FaultyFileSystem.Fault) async throws {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let counting = FaultyFileSystem()
        await run(options(try TemporaryDirectory(), now: now), counting)
        #expect(counting.calls > 15)
        for number in 1...counting.calls {
            let folder = try TemporaryDirectory()
            let files = FaultyFileSystem()
            files.fail(number..<(number + 1), with: fault)
            await run(options(folder, now: now), files)
            let again = PartialDownloadStore(options(folder, now: now))
            again.put(point(7_000, seed: 3), for: key("z"))
            #expect(await again.disk().entries >= 1)
            let found = await again.point(for: key("z"))
            #expect(found == point(7_000, seed: 3), "after call \(number) failed: \(fault)")
        }
    }

    @Test("A link, a pipe, a file that has grown beyond the limit, and a file that others can change aren't read")
    func replacedFiles() async throws {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        for change in 0..<4 {
            let folder = try TemporaryDirectory()
            let options = options(folder, now: now)
            let store = PartialDownloadStore(options)
            store.put(point(5_000), for: key("a"))
            #expect(await store.disk().entries == 1)
            let path = "\(folder.path)/parts/\(key("a").fileName).part"
            let copy = "\(folder.path)/copy"
            switch change {
            case 0:
                #expect(rename(path, copy) == 0)
                #expect(symlink(copy, path) == 0)
            case 1:
                unlink(path)
                #expect(mkfifo(path, 0o600) == 0)
            case 2: #expect(truncate(path, 1 << 40) == 0)
            default: chmod(path, 0o666)
            }
            // Without the checks, the read returns the part, waits for a writer, or needs a terabyte.
            #expect(await store.point(for: key("a")) == nil, "change \(change)")
            #expect(await store.disk().entries == 0)
            if change == 0 { #expect(FileManager.default.fileExists(atPath: copy)) }
        }
    }

    @Test("A directory that is a link or that others can write to isn't used, and parts stay in memory")
    func unsafeDirectory() async throws {
        for isLink in [true, false] {
            let folder = try TemporaryDirectory()
            mkdir(folder.path + "/real", 0o700)
            if isLink {
                #expect(symlink(folder.path + "/real", folder.path + "/parts") == 0)
            } else {
                mkdir(folder.path + "/parts", 0o700)
                chmod(folder.path + "/parts", 0o777)
            }
            let store = PartialDownloadStore(options(folder, now: Date(timeIntervalSince1970: 1_800_000_000)))
            store.put(point(5_000), for: key("a"))
            #expect(await store.disk().entries == 0)
            #expect(await store.point(for: key("a")) == point(5_000))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/real").isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/parts").isEmpty)
        }
    }

    @Test("The description contains no cookies and no challenges")
    func secrets() throws {
        var point = point(5_000)
        var headers = point.plan.head.headers
        headers["Set-Cookie"] = "id=cookie-secret"
        headers["WWW-Authenticate"] = "Basic auth-secret"
        point.plan.head.headers = headers
        let file = try #require(PartialDownloadFile.encode(point))
        #expect(file.range(of: Data("ETag".utf8)) != nil)
        #expect(file.range(of: Data("-secret".utf8)) == nil)
    }
}
