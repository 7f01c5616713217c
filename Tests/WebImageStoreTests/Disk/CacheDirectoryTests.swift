// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageCore

@testable import WebImageStore

@Suite("Directory of the disk cache")
struct CacheDirectoryTests {
    let directory = TestDirectory()

    private func mode(_ path: String) throws -> mode_t {
        try SystemFileSystem().status(at: directory.path + path).permissions
    }

    @Test("Only the owner can access the directory, and a tag excludes it from backups")
    func permissions() async throws {
        let cache = try directory.open()
        cache.store(entry(1))
        await cache.flush()
        for path in ["", "/blobs", "/temp", "/blobs/\(key(1).fileName.prefix(2))"] { #expect(try mode(path) == 0o700) }
        let file = "/blobs/\(key(1).fileName.prefix(2))/\(key(1).fileName)"
        for path in [file, "/index.sqlite", "/lock", "/CACHEDIR.TAG"] { #expect(try mode(path) == 0o600, "\(path)") }
        let tag = try String(contentsOfFile: directory.path + "/CACHEDIR.TAG", encoding: .utf8)
        #expect(tag.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55"))
        await cache.close()
    }

    @Test("A link, a file, a directory that others can write to, and a URL that isn't a file URL are rejected")
    func unsafe() throws {
        func refusal(_ path: String) -> Int? { code(opening: URL(filePath: path)) }
        func code(opening url: URL?) -> Int? {
            do throws(ImageError) {
                _ = try DiskCache(configuration: DiskCache.Configuration(directory: url))
                return nil
            } catch {
                return error.code
            }
        }
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
        mkdir(directory.path + "/real", 0o700)
        symlink(directory.path + "/real", directory.path + "/link")
        mkdir(directory.path + "/open", 0o700)
        chmod(directory.path + "/open", 0o770)
        try Data().write(to: URL(filePath: directory.path + "/file"))
        #expect(refusal(directory.path + "/link") == 3002)
        #expect(refusal(directory.path + "/open") == 3002)
        #expect(code(opening: URL(string: "https://example.org/cache")) == 3002)
        #expect(refusal(directory.path + "/file") == 3003)
        #expect(refusal(directory.path + "/real") == nil)
    }

    @Test("The default directory follows systemd and XDG and ignores relative values")
    func defaultFolder() {
        func path(_ environment: [String: String], _ name: String = "app") -> String {
            DiskCache.Configuration.defaultDirectory(
                for: name, environment: environment.merging(["HOME": "/h"]) { old, _ in old }
            ).absoluteFilePath
        }
        #expect(path([:]) == "/h/.cache/app/webimage")
        #expect(path(["XDG_CACHE_HOME": "/x"]) == "/x/app/webimage")
        #expect(path(["XDG_CACHE_HOME": "x"]) == "/h/.cache/app/webimage")
        #expect(
            path(["CACHE_DIRECTORY": "/var/cache/a:/var/cache/b", "XDG_CACHE_HOME": "/x"]) == "/var/cache/a/webimage")
        #expect(path([:], "../..") == "/h/.cache/..../webimage")
        #expect(path([:], "..") == "/h/.cache/webimage/webimage")
    }

    @Test("The limit for one entry follows the size limit, and equal configurations have equal hashes")
    func limits() throws {
        var configuration = DiskCache.Configuration(directory: URL(filePath: directory.path))
        #expect(configuration.maxAge == .seconds(30 * 86_400) && configuration.entrySizeLimit == nil)
        #expect(DiskCacheState(configuration).entrySizeLimit == 32 << 20)
        configuration.sizeLimit = 1_000
        #expect(DiskCacheState(configuration).entrySizeLimit == 100)
        let copy = configuration
        #expect(copy == configuration && copy.hashValue == configuration.hashValue)
        configuration.readOnlyDirectories = [URL(filePath: "/a")]
        #expect(copy != configuration)
        #expect(DiskCache.Configuration() == DiskCache.Configuration(directory: nil))
    }

    @Test("An entry over the size limit isn't stored, and it removes the previous entry")
    func entryLimit() async throws {
        let cache = try directory.open(sizeLimit: 100_000)
        cache.store(entry(1))
        await cache.flush()
        cache.store(entry(1, version: 1, count: 10_001))
        #expect(await cache.entry(for: key(1)) == nil)
        await cache.flush()
        #expect(await cache.info().entryCount == 0)
        #expect(await cache.info().counters.dropped == 1)
        await cache.close()
    }

    @Test(
        "Entries are stored with each durability setting",
        arguments: [DiskCache.Configuration.Durability.data, .full])
    func durability(_ durability: DiskCache.Configuration.Durability) async throws {
        var configuration = directory.configuration()
        configuration.durability = durability
        let cache = try DiskCache(configuration: configuration)
        cache.store(entry(1))
        await cache.flush()
        #expect(await cache.entry(for: key(1))?.data == bytes(1))
        await cache.close()
    }
}
