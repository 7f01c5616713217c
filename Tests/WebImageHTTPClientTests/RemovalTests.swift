// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPClient
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

/// A store whose next write waits until a test allows it.
private final class BlockingStore: HTTPResponseStore {
    let isWriting = TestGate()
    let mayWrite = TestGate()
    private let memory = MemoryResponseStore()

    var count: Int { memory.count }

    func response(for key: String, matching request: HTTPHeaderFields) async -> StoredResponse? {
        await memory.response(for: key, matching: request)
    }

    func put(_ response: StoredResponse, request: HTTPHeaderFields, for key: String) async {
        isWriting.open()
        await mayWrite.wait()
        await memory.put(response, request: request, for: key)
    }

    func update(_ response: StoredResponse, for key: String) async { await memory.update(response, for: key) }
    func remove(_ id: String, for key: String) async { await memory.remove(id, for: key) }
    func remove(matching request: HTTPHeaderFields, for key: String) async {
        await memory.remove(matching: request, for: key)
    }
    func removeAll(for key: String) async { await memory.removeAll(for: key) }
    func removeAll() async { await memory.removeAll() }
}

@Suite("Removal while requests are in flight", .timeLimit(.minutes(5)))
struct RemovalTests {
    private let url = URL(string: "http://example.org/a") ?? URL(filePath: "/")

    private let response = TransferResponse(
        head: HTTPResponseHead(
            statusCode: 200, headers: HTTPHeaderFields([.init(name: "Cache-Control", value: "max-age=60")])),
        body: Data("x".utf8), requestTime: Date(), responseTime: Date())

    /// The removal of one URL or of all entries.
    enum Removal: CaseIterable, Sendable {
        case url
        case all

        func perform(_ cache: HTTPCache, _ url: URL) async {
            switch self {
            case .url: await cache.remove(url)
            case .all: await cache.removeAll()
            }
        }
    }

    @Test(
        "A response in flight during a removal isn't stored and doesn't serve later requests",
        arguments: Removal.allCases)
    func inFlight(_ removal: Removal) async throws {
        let gate = TestGate()
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(
                headers: HTTPHeaderFields([.init(name: "Cache-Control", value: "max-age=60")]), body: Data("x".utf8)
            ).with { $0.headGate = gate }
        }
        let client = HTTPClient()
        let cache = try #require(client.cache)
        let first = Task { try await client.fetch(HTTPClient.Request(url: server.url("/"))) }
        await server.waitForRequests(count: 1)
        await removal.perform(cache, server.url("/"))
        // Requests after the removal don't join the request before it.
        let second = Task { try await client.fetch(HTTPClient.Request(url: server.url("/"))) }
        await server.waitForRequests(count: 2)
        await removal.perform(cache, server.url("/"))
        gate.open()
        #expect(try await first.value.source == .network)
        #expect(try await second.value.source == .network)
        #expect(try await client.fetch(HTTPClient.Request(url: server.url("/"))).source == .network)
        #expect(try await client.fetch(HTTPClient.Request(url: server.url("/"))).source == .cache)
    }

    @Test("A write that is overtaken by a removal stores nothing", arguments: Removal.allCases)
    func overtaken(_ removal: Removal) async throws {
        let store = BlockingStore()
        let cache = HTTPCache(store: store)
        let epoch = cache.epoch(of: url)
        let writing = Task { [response, url] in
            await cache.store(
                response, for: RequestHead(method: "GET", headers: HTTPHeaderFields()), url: url, epoch: epoch)
        }
        await store.isWriting.wait()
        await removal.perform(cache, url)
        store.mayWrite.open()
        #expect(await writing.value == false)
        #expect(store.count == 0)
    }

    @Test("Removed responses are requested again, and other responses stay cached")
    func removed() async throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(
                headers: HTTPHeaderFields([.init(name: "Cache-Control", value: "max-age=60")]), body: Data("x".utf8))
        }
        let client = HTTPClient()
        let (first, second) = (server.url("/a"), server.url("/b"))
        for url in [first, second] { #expect(try await client.get(url).source == .network) }
        await client.removeCachedResponses(for: first)
        #expect(try await client.get(first).source == .network)
        #expect(try await client.get(second).source == .cache)
        await client.removeAllCachedResponses()
        for url in [first, second] { #expect(try await client.get(url).source == .network) }
    }

    @Test("A client without a memory limit stores no responses")
    func disabled() async throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(
                headers: HTTPHeaderFields([.init(name: "Cache-Control", value: "max-age=60")]), body: Data("x".utf8))
        }
        var configuration = HTTPClient.Configuration()
        configuration.memoryCacheLimit = 0
        let client = HTTPClient(configuration: configuration)
        for _ in 0..<2 { #expect(try await client.get(server.url("/")).source == .network) }
    }

    @Test("Removing one URL doesn't affect responses in flight for other URLs")
    func others() async throws {
        let cache = HTTPCache(store: MemoryResponseStore())
        let epoch = cache.epoch(of: url)
        await cache.remove(URL(string: "http://example.org/b") ?? url)
        #expect(
            await cache.store(
                response, for: RequestHead(method: "GET", headers: HTTPHeaderFields()), url: url, epoch: epoch))
    }
}
