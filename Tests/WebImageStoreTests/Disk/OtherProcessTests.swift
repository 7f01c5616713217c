// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageConcurrency
import WebImageHTTP
import WebImageTestSupport

@testable import WebImageStore

/// A process that performs commands on a cache directory.
private final class ServingProcess {
    private let process: ChildProcess
    private let input = Pipe()
    private let output = Pipe()
    private var received = Data()

    init(_ folder: TestDirectory, isEncrypted: Bool) throws {
        process = try HelperProcess.start(
            ["serve", folder.path, "1"] + (isEncrypted ? [HelperProcess.keyArgument] : []),
            input: input.fileHandleForReading.fileDescriptor, output: output.fileHandleForWriting.fileDescriptor)
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
    }

    /// Performs a command and returns its result.
    func perform(_ command: String) throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        while true {
            if let end = received.firstIndex(of: 10) {
                let line = String(decoding: received[..<end], as: UTF8.self)
                received = Data(received[(end + 1)...])
                return line
            }
            let part = output.fileHandleForReading.availableData
            guard !part.isEmpty else { return "ended" }
            received += part
        }
    }

    func end() throws -> Int32 {
        try input.fileHandleForWriting.close()
        return process.wait()
    }
}

@Suite("Entries of other processes", .timeLimit(.minutes(5)))
struct OtherProcessTests {
    private let clock = ManualClock()

    /// Opens a cache whose uptime is that of ``clock``.
    private func openCache(_ folder: TestDirectory) throws -> DiskCache {
        var configuration = folder.configuration(sizeLimit: 64 << 20)
        configuration.clock = clock.clock
        return try DiskCache(configuration: configuration)
    }

    /// Opens two caches of the same directory, and waits until they have read the index.
    private func openCaches(_ folder: TestDirectory) async throws -> (DiskCache, DiskCache) {
        let caches = (try openCache(folder), try openCache(folder))
        await caches.0.flush()
        await caches.1.flush()
        return caches
    }

    /// Looks up an entry like the image pipeline, which first checks whether a lookup is worthwhile.
    private func lookUp(_ number: Int, _ cache: DiskCache) async -> Data? {
        guard cache.mayContain(HelperProcess.key(number)) else { return nil }
        return await cache.entry(for: HelperProcess.key(number))?.data
    }

    private func entry(_ number: Int, _ text: String) -> CacheEntry {
        CacheEntry(key: HelperProcess.key(number), data: Data(text.utf8), storedAt: clock.now)
    }

    /// Repeats a lookup until its result is as expected. If it never is, the timeout of the suite ends the wait.
    private func wait(_ isFulfilled: () async -> Bool) async {
        while !(await isFulfilled()), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
    }

    @Test("A running cache finds what another one stored, replaced, removed, and cleared, after the refresh interval")
    func together() async throws {
        let folder = TestDirectory()
        let (cache, other) = try await openCaches(folder)
        #expect(await lookUp(1, cache) == nil)
        for number in 0..<20 { other.store(entry(number, "first \(number)")) }
        await other.flush()
        // Within the interval, the index proves that there's no entry, so no file is read.
        #expect(!cache.mayContain(HelperProcess.key(1)))
        clock.advance(0.5)
        for number in 0..<20 { #expect(await lookUp(number, cache) == Data("first \(number)".utf8)) }
        other.store(entry(1, "second"))
        other.remove(HelperProcess.key(2))
        await other.flush()
        #expect(await lookUp(1, cache) == Data("second".utf8))
        #expect(await lookUp(2, cache) == nil)
        await other.removeAll()
        for number in 0..<20 { #expect(await lookUp(number, cache) == nil) }
        other.store(entry(3, "third"))
        await other.flush()
        clock.advance(0.5)
        #expect(await lookUp(3, cache) == Data("third".utf8))
        await cache.close()
        await other.close()
    }

    @Test(
        "An entry that another cache stores again keeps its row, although this cache is about to delete the earlier one",
        arguments: [true, false])
    func storedAgain(_ isRemovedHere: Bool) async throws {
        let folder = TestDirectory()
        let (cache, other) = (try openCache(folder), try openCache(folder))
        await cache.flush()
        other.store(entry(1, "one"))
        await other.flush()
        clock.advance(0.5)
        #expect(await lookUp(1, cache) == Data("one".utf8))
        if isRemovedHere {
            cache.remove(HelperProcess.key(1))
        } else {
            other.remove(HelperProcess.key(1))
            await other.flush()
            #expect(await lookUp(1, cache) == nil)
        }
        // The cache has processed the removal, but hasn't changed the index yet.
        _ = await cache.info()
        other.store(entry(1, "two"))
        await other.flush()
        await cache.flush()
        #expect(await other.info().entryCount == 1)
        clock.advance(0.5)
        #expect(await lookUp(1, cache) == Data("two".utf8))
        await cache.close()
        await other.close()
    }

    @Test("An entry whose row isn't in the index yet is found, and remains known")
    func withoutRow() async throws {
        let folder = TestDirectory()
        let (cache, other) = try await openCaches(folder)
        other.store(entry(1, "one"))
        // The other cache writes the file immediately, and its row after a delay of its clock.
        await untilTrue { (try? entryFiles(folder).count) == 1 }
        clock.advance(0.2)
        #expect(!cache.mayContain(HelperProcess.key(1)))
        clock.advance(0.3)
        #expect(await lookUp(1, cache) == Data("one".utf8))
        await cache.flush()
        #expect(await lookUp(1, cache) == Data("one".utf8))
        await cache.close()
        await other.close()
    }

    @Test("An update of another cache applies to an entry that is found without the index")
    func updated() async throws {
        let folder = TestDirectory()
        let (cache, other) = try await openCaches(folder)
        other.store(entry(1, "one"))
        await other.flush()
        try other.setUserData(Data("note".utf8), for: HelperProcess.key(1))
        await other.flush()
        clock.advance(0.5)
        #expect(cache.mayContain(HelperProcess.key(1)))
        #expect(await cache.entry(for: HelperProcess.key(1))?.userData == Data("note".utf8))
        await cache.close()
        await other.close()
    }

    @Test("An absent entry is checked once per interval, and the index then proves its absence")
    func absent() async throws {
        let folder = TestDirectory()
        let cache = try openCache(folder)
        await cache.flush()
        clock.advance(0.5)
        #expect(cache.mayContain(HelperProcess.key(1)))
        #expect(await cache.entry(for: HelperProcess.key(1)) == nil)
        await cache.flush()
        #expect(!cache.mayContain(HelperProcess.key(1)))
        await cache.close()
    }

    @Test("A removed entry whose file can't be deleted doesn't return")
    func undeleted() async throws {
        let folder = TestDirectory()
        let files = FaultyFileSystem()
        var configuration = folder.configuration(sizeLimit: 64 << 20)
        configuration.clock = clock.clock
        configuration.fileSystem = files
        let cache = try DiskCache(configuration: configuration)
        cache.store(entry(1, "one"))
        await cache.flush()
        files.fail(1..<1_000, with: .code(EACCES))
        cache.remove(HelperProcess.key(1))
        await cache.flush()
        files.fail(0..<0, with: .short)
        clock.advance(10)
        #expect(await lookUp(1, cache) == nil)
        await cache.close()
    }

    @Test("A running store finds the variants that another one stored and their changed list")
    func variants() async throws {
        let folder = TestDirectory()
        let (cache, other) = (try openCache(folder), try openCache(folder))
        let now = clock.clock.now
        let (store, writer) = (VariantDiskTier(cache, now: now), VariantDiskTier(other, now: now))
        await cache.flush()
        await other.flush()
        let url = CacheKey(["data", "http://example.org/a"])
        func put(_ theme: String) async {
            let fields: HTTPHeaderFields = ["Theme": theme]
            var head = StoredResponseHead(
                request: fields, response: HTTPResponseHead(statusCode: 200, headers: ["Vary": "Theme"]),
                finalURL: "http://example.org/a", requestTime: clock.now, responseTime: clock.now)
            head.varyHeaders = fields
            let entry = CacheEntry(key: url, head: head, data: Data(theme.utf8), storedAt: clock.now)
            await writer.store(entry, matching: fields)
            await writer.flush()
        }
        for themes in [["dark"], ["dark", "light"], ["dark", "light", "blue"]] {
            if let last = themes.last { await put(last) }
            clock.advance(0.5)
            for theme in themes {
                #expect(await store.entry(for: url, matching: ["Theme": theme])?.data == Data(theme.utf8))
            }
        }
        await cache.close()
        await other.close()
    }

    @Test(
        "Two processes find what the other one stores, replaces, removes, and clears", arguments: [false, true])
    func processes(isEncrypted: Bool) async throws {
        let folder = TestDirectory()
        let cache = try folder.open(key: try testKey(isEncrypted))
        let process = try ServingProcess(folder, isEncrypted: isEncrypted)
        await cache.flush()
        let store = { @Sendable (number: Int, size: Int) in
            var entry = CacheEntry(
                key: HelperProcess.key(number), data: HelperProcess.payload(number, count: size), storedAt: Date())
            entry.userData = Data("\(size)".utf8)
            cache.store(entry)
        }
        #expect(try process.perform("read 1") == "none")
        for (number, size) in [(1, 100), (2, 5_000), (1, 3_000)] {
            #expect(try process.perform("store \(number) \(size)") == "done")
            await wait { await lookUp(number, cache)?.count == size }
        }
        #expect(try process.perform("remove 2") == "done")
        await wait { await lookUp(2, cache) == nil }
        for (number, size) in [(3, 700), (1, 900)] {
            store(number, size)
            await cache.flush()
            await wait { (try? process.perform("read \(number)")) == "\(size)" }
        }
        cache.remove(HelperProcess.key(3))
        await cache.flush()
        await wait { (try? process.perform("read 3")) == "none" }
        await cache.removeAll()
        await wait { (try? process.perform("read 1")) == "none" }
        #expect(try process.perform("store 4 10") == "done")
        await wait { await lookUp(4, cache)?.count == 10 }
        #expect(try process.perform("clear") == "done")
        await wait { await lookUp(4, cache) == nil }
        #expect(try process.end() == 0)
        await cache.close()
    }
}
