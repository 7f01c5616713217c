// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP
import WebImageHTTPCases
import WebImageHTTPClient
import WebImageStore
import WebImageTestSupport

private let now = Date(timeIntervalSince1970: 1_800_000_000)

private func request(_ value: String) -> HTTPHeaderFields { HTTPHeaderFields([.init(name: "X", value: value)]) }

private func stored(_ id: String, _ value: String, _ body: Data, vary: String = "X") -> StoredResponse {
    let head = StoredResponseHead(
        request: request(value),
        response: HTTPResponseHead(statusCode: 200, headers: HTTPHeaderFields([.init(name: "Vary", value: vary)])),
        finalURL: "http://example.org/", requestTime: now, responseTime: now)
    return StoredResponse(
        variant: VaryIndex.Variant(id: id, stored: head), head: head, body: body)
}

extension TemporaryDirectory {
    fileprivate func disk() throws -> DiskCache {
        try DiskCache(configuration: DiskCache.Configuration(path: path, minimumFreeFraction: 0))
    }
}

@Suite("Stores of HTTP responses")
struct ResponseStoreTests {
    private func checkVariants(of store: any HTTPResponseStore) async throws {
        await store.put(stored("1", "a", Data("A".utf8)), request: request("a"), for: "k")
        await store.put(stored("2", "b", Data("B".utf8)), request: request("b"), for: "k")
        #expect(await store.response(for: "k", matching: request("a"))?.body == Data("A".utf8))
        #expect(await store.response(for: "k", matching: request("b"))?.body == Data("B".utf8))
        #expect(await store.response(for: "k", matching: request("c")) == nil)
        #expect(await store.response(for: "other", matching: request("a")) == nil)

        var newer = try #require(await store.response(for: "k", matching: request("a")))
        newer.head.head.headers["X-New"] = "1"
        await store.update(newer, for: "k")
        let updated = await store.response(for: "k", matching: request("a"))
        #expect(updated?.head.head.headers["X-New"] == "1" && updated?.body == Data("A".utf8))

        await store.put(stored("3", "a", Data("C".utf8)), request: request("a"), for: "k")
        #expect(await store.response(for: "k", matching: request("a"))?.body == Data("C".utf8))
        await store.remove(matching: request("b"), for: "k")
        #expect(await store.response(for: "k", matching: request("b")) == nil)
        await store.removeAll(for: "k")
        #expect(await store.response(for: "k", matching: request("a")) == nil)
        await store.put(stored("4", "a", Data("D".utf8)), request: request("a"), for: "k")
        await store.removeAll()
        #expect(await store.response(for: "k", matching: request("a")) == nil)
    }

    @Test("The memory store separates, updates, and removes variants")
    func memory() async throws {
        let store = MemoryResponseStore()
        try await checkVariants(of: store)
        #expect(store.byteCount == 0 && store.count == 0)
    }

    @Test("The disk store separates, updates, and removes variants")
    func disk() async throws {
        let folder = try TemporaryDirectory()
        try await checkVariants(of: DiskResponseStore(try folder.disk()))
    }

    @Test("The memory store never exceeds its limit, and evicts the least recently used responses")
    func limit() async {
        let store = MemoryResponseStore(byteLimit: 40_000)
        for number in 0..<100 {
            await store.put(
                stored("\(number)", "a", Data(count: 1_000)), request: request("a"), for: "k\(number)")
            _ = await store.response(for: "k0", matching: request("a"))
            #expect(store.byteCount <= 40_000)
        }
        #expect(await store.response(for: "k0", matching: request("a")) != nil)
        #expect(await store.response(for: "k1", matching: request("a")) == nil)
        await store.put(stored("big", "a", Data(count: 20_000)), request: request("a"), for: "k0")
        #expect(await store.response(for: "k0", matching: request("a")) == nil)
    }

    @Test("Responses on disk survive a restart, including variants and revalidated responses")
    func restart() async throws {
        let folder = try TemporaryDirectory()
        let calendar = ManualCalendar()
        let server = InProcessServer(calendar)
        func client(_ disk: DiskCache) -> HTTPClient {
            var configuration = HTTPClient.Configuration()
            configuration.diskCache = disk
            configuration.now = { calendar.now }
            return HTTPClient(configuration: configuration, transport: server)
        }
        func ask(_ client: HTTPClient, _ value: String) async throws -> HTTPClient.Response {
            try await client.fetch(HTTPClient.Request(url: server.url("/a"), headers: request(value)))
        }
        func answer(_ text: String, _ body: String) {
            server.prepare(CacheCase.Reply(text, body: Data(body.utf8), now: calendar.now))
        }

        var disk = try folder.disk()
        var running = client(disk)
        answer("200 | Cache-Control: max-age=60 | Vary: X | ETag: \"1\"", "one")
        _ = try await ask(running, "1")
        answer("200 | Cache-Control: max-age=60 | Vary: X | ETag: \"2\"", "two")
        _ = try await ask(running, "2")
        calendar.advance(by: 100)
        answer("304 | Cache-Control: max-age=500", "")
        #expect(try await ask(running, "1").source == .revalidated)
        await disk.close()

        disk = try folder.disk()
        running = client(disk)
        calendar.advance(by: 100)
        let first = try await ask(running, "1")
        #expect(first.source == .cache && first.body == Data("one".utf8) && first.age == .seconds(100))
        answer("304 | ETag: \"2\"", "")
        let second = try await ask(running, "2")
        #expect(second.source == .revalidated && second.body == Data("two".utf8))
        await disk.close()
    }

    @Test("A response that was evicted from disk is a cache miss")
    func evicted() async throws {
        let folder = try TemporaryDirectory()
        let disk = try folder.disk()
        let store = DiskResponseStore(disk)
        await store.put(stored("1", "a", Data("A".utf8)), request: request("a"), for: "k")
        disk.remove(CacheKey(["http-response", "k"]))
        #expect(await store.response(for: "k", matching: request("a")) == nil)
        await disk.close()
    }
}
