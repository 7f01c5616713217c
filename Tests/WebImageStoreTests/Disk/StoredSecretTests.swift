// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP

@testable import WebImageStore

@Suite("Secrets in the files of the disk cache", .timeLimit(.minutes(5)))
struct StoredSecretTests {
    private let directory = TestDirectory()
    private let request: HTTPHeaderFields = [
        "X-User": "alice-secret", "Accept-Language": "de, en;q=0.5", "DPR": "2", "Sec-CH-Width": "640",
    ]

    private func entry(_ number: Int, user: String = "alice-secret", varies: Bool = true) -> CacheEntry {
        var request = request
        request["X-User"] = user
        let headers: HTTPHeaderFields = [
            "Vary": varies ? "X-User, Accept-Language, DPR, Sec-CH-Width" : "Accept",
            "Set-Cookie": "id=cookie-secret", "Set-Cookie2": "id=cookie-secret",
            "WWW-Authenticate": "Basic auth-secret",
            "Proxy-Authenticate": "Basic auth-secret", "Authentication-Info": "nextnonce=auth-secret",
            "Proxy-Authentication-Info": "nextnonce=auth-secret", "X-Visible": "visible",
        ]
        let time = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded())
        var entry = CacheEntry(
            key: key(1),
            head: StoredResponseHead(
                head: HTTPResponseHead(statusCode: 200, headers: headers),
                varyHeaders: StoredResponseHead.varyHeaders(request: request, response: headers),
                finalURL: "https://example.org/final", requestTime: time, responseTime: time),
            data: Data([0xFF, 0xD8, 0xFF, 0xE0]) + bytes(number), storedAt: time)
        entry.userData = Data([UInt8(number)])
        return entry
    }

    /// Returns the bytes of all files in a directory.
    private func contents(_ path: String) throws -> Data {
        var all = Data()
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            if let data = try? Data(contentsOf: URL(filePath: "\(path)/\(name)")) { all += data }
        }
        return all
    }

    private func expectNoSecrets(_ path: String) throws {
        let all = try contents(path)
        #expect(all.range(of: Data("X-Visible".utf8)) != nil)
        for secret in ["cookie-secret", "auth-secret", "alice-secret", "bob-secret"] {
            #expect(all.range(of: Data(secret.utf8)) == nil, "\(secret)")
        }
    }

    @Test("No file contains cookies, challenges, or the private header fields that select a response")
    func files() async throws {
        let cache = try directory.open()
        let store = VariantDiskTier(cache)
        var bob = request
        bob["X-User"] = "bob-secret"
        await store.store(entry(1), matching: request)
        await store.store(entry(2, user: "bob-secret"), matching: bob)
        await store.flush()
        // The list of the variants, the files, and the update of a head in the index.
        await store.updateHead(try #require(entry(3).head), for: key(1), matching: request)
        await store.flush()
        #expect(try contents(directory.path).range(of: Data("de, en;q=0.5".utf8)) != nil)
        try expectNoSecrets(directory.path)

        let found = try #require(await store.entry(for: key(1), matching: request))
        #expect(found.data == entry(1).data)
        #expect(found.head?.head.headers["X-Visible"] == "visible" && found.head?.head.headers["Set-Cookie"] == nil)
        // The caller compares the entry with its request again.
        #expect(found.matches(request) && !found.matches(bob))
        #expect(await store.entry(for: key(1), matching: bob)?.data == entry(2).data)
        var other = request
        other["X-User"] = "eve"
        #expect(await store.entry(for: key(1), matching: other) == nil)
        await cache.close()
    }

    @Test("After a restart and in another process, the same request finds its response")
    func restart() async throws {
        let cache = try directory.open()
        await VariantDiskTier(cache).store(entry(1), matching: request)
        await cache.flush()
        let second = try directory.open()
        #expect(await VariantDiskTier(second).entry(for: key(1), matching: request)?.data == entry(1).data)
        await second.close()
        await cache.close()
        let third = try directory.open()
        let tier = VariantDiskTier(third)
        #expect(await tier.entry(for: key(1), matching: request)?.data == entry(1).data)
        // Whitespace around commas makes no difference, as in RFC 9111 4.1.
        #expect(await tier.entry(for: key(1), matching: [:]) == nil)
        await third.close()
        let salt = directory.path + "/salt"
        #expect(try Data(contentsOf: URL(filePath: salt)).count == 32)
        #expect(try SystemFileSystem().status(at: salt).permissions == 0o600)
        // The digests depend on the key, so a copy of the files without the key tells nothing.
        try FileManager.default.removeItem(atPath: salt)
        let fourth = try directory.open()
        #expect(await VariantDiskTier(fourth).entry(for: key(1), matching: request) == nil)
        await fourth.close()
    }

    @Test("An incomplete salt is completed, and the same bytes are returned afterward", arguments: [0, 7, 31])
    func incompleteSalt(_ count: Int) throws {
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
        let path = directory.path + "/salt"
        try Data(repeating: 9, count: count).write(to: URL(filePath: path))
        let first = try CacheSalt.load(path, SystemFileSystem())
        #expect(first.count == 32 && first.prefix(count) == ArraySlice(repeating: 9, count: count))
        #expect(try CacheSalt.load(path, SystemFileSystem()) == first)
        #expect(try [UInt8](Data(contentsOf: URL(filePath: path))) == first)
    }

    @Test("Exports and serialized entries contain no secrets", arguments: DiskExportForm.allCases)
    func exports(_ form: DiskExportForm) async throws {
        let cache = try directory.open()
        await VariantDiskTier(cache).store(entry(1), matching: request)
        await cache.flush()
        let target = TestDirectory()
        #expect(try await cache.export(to: target.path, as: form).entryCount == 1)
        try expectNoSecrets(target.path)
        let serialized = entry(1, varies: false).serialized()
        #expect(serialized.range(of: Data("X-Visible".utf8)) != nil)
        #expect(serialized.range(of: Data("-secret".utf8)) == nil)
        await cache.close()
    }

    @Test("An entry of the previous format, which may contain secrets, is a miss, and its file is deleted")
    func previousFormat() async throws {
        let cache = try directory.open()
        cache.store(entry(1))
        await cache.flush()
        let path = cache.state.layout.entry(key(1).fileName)
        var file = try Data(contentsOf: URL(filePath: path))
        #expect(file[8] == 2)
        file[8] = 1
        try file.write(to: URL(filePath: path))
        #expect(await cache.entry(for: key(1)) == nil)
        await cache.flush()
        #expect(!FileManager.default.fileExists(atPath: path))
        await cache.close()
    }

    @Test("Digests depend on the name, the key, and the normalized value")
    func digests() {
        let first = SelectorDigests(key: [UInt8](repeating: 1, count: 32))
        let second = SelectorDigests(key: [UInt8](repeating: 2, count: 32))
        func value(_ digests: SelectorDigests, _ fields: HTTPHeaderFields) -> String? { digests.digesting(fields)["a"] }
        #expect(value(first, ["A": "x,y"]) == value(first, ["a": "x ,  y"]))
        #expect(value(first, ["A": "x", "a": "y"]) == value(first, ["A": "x, y"]))
        #expect(value(first, ["A": "x"]) != value(second, ["A": "x"]))
        #expect(value(first, ["A": "x"]) != first.digesting(["B": "x"])["b"])
        #expect(value(first, ["A": ""]) == "")
        #expect(first.digesting(["Accept": "a", "Range": "bytes=0-1"]) == ["Accept": "a", "Range": "bytes=0-1"])
    }
}
