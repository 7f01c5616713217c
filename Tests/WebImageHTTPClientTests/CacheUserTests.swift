// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

@testable import WebImageHTTPClient

@Suite("Responses of the HTTP client for different users", .timeLimit(.minutes(5)))
struct CacheUserTests {
    enum Situation: String, CaseIterable, Sendable {
        /// The stored response is fresh.
        case fresh
        /// The stored response must be revalidated, and its entity tag is the same for all users.
        case stale
        /// The response for another user is in flight.
        case inFlight
    }

    private static let fields = [
        "Cookie", "Authorization", "X-Api-Key", "X-Auth-Token", "PRIVATE-TOKEN", "X-Forwarded-User",
    ]

    private func client() -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.network.proxy = .disabled
        return HTTPClient(configuration: configuration)
    }

    /// Returns a server whose responses contain the value of a request header field.
    private func server(_ field: String, _ head: HTTPHeaderFields, _ gate: TestGate) throws -> LoopbackServer {
        try LoopbackServer { request in
            let isConditional = request.headers["If-None-Match"] != nil
            let body = Data((request.headers[field] ?? "none").utf8)
            return LoopbackServer.Response(
                statusCode: isConditional ? 304 : 200, headers: head, body: isConditional ? Data() : body
            ).with { $0.headGate = gate }
        }
    }

    private func request(_ url: URL, _ field: String, _ value: String?) -> HTTPClient.Request {
        var request = HTTPClient.Request(url: url)
        if let value { request.headers.append(name: field, value: value) }
        return request
    }

    @Test(
        "A response for one user never serves the request of another, with and without Vary and public",
        arguments: fields, Situation.allCases)
    func separation(field: String, situation: Situation) async throws {
        let values: [String?] = ["user a", "user b", nil]
        for vary in [nil, field, "Accept"] {
            for isPublic in [false, true] {
                let age = situation == .stale ? "max-age=0" : "max-age=60"
                var head: HTTPHeaderFields = [
                    "Cache-Control": isPublic ? "public, \(age)" : age, "ETag": "\"same\"",
                ]
                if let vary { head["Vary"] = vary }
                let gate = TestGate()
                if situation != .inFlight { gate.open() }
                let server = try server(field, head, gate)
                let (client, url) = (client(), server.url("/a"))
                let tasks = values.map { [request = self.request] value in
                    { @Sendable in try await client.fetch(request(url, field, value)).body }
                }
                if situation == .inFlight {
                    let running = tasks.map { fetch in Task { try await fetch() } }
                    await server.waitForRequests(count: values.count)
                    gate.open()
                    for (task, value) in zip(running, values) {
                        #expect(try await task.value == Data((value ?? "none").utf8))
                    }
                } else {
                    for (fetch, value) in zip(tasks, values) {
                        #expect(try await fetch() == Data((value ?? "none").utf8))
                    }
                }
                #expect(server.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
                // Each user's own response is still reused.
                for (fetch, value) in zip(tasks, values) {
                    #expect(try await fetch() == Data((value ?? "none").utf8))
                }
                let reused = server.requests.dropFirst(values.count)
                #expect(reused.count == (situation == .stale ? values.count : 0))
                #expect(reused.allSatisfy { $0.headers["If-None-Match"] == "\"same\"" })
            }
        }
    }

    @Test("The header fields that are stored with a response contain no secret")
    func storedSecrets() {
        var policy = HTTPCachePolicy()
        for separates in [true, false] {
            policy.separatesCredentials = separates
            let cache = HTTPCache(store: MemoryResponseStore(), policy: policy)
            for field in Self.fields {
                let fields = HTTPHeaderFields([
                    .init(name: field, value: "hidden"), .init(name: "Accept", value: "image/png"),
                ])
                let selecting = cache.selectingHeaders(RequestHead(method: "GET", headers: fields))
                #expect(!selecting.lines.contains { $0.value.contains("hidden") }, "\(field)")
                #expect(selecting["Accept"] == "image/png")
            }
        }
    }

    @Test("All spellings of a host have one cache key, and that of an ordinary URL has its text")
    func keys() throws {
        func key(_ text: String) throws -> String { HTTPCache.key(try #require(URL(string: text))) }
        #expect(try key("http://a.example/x?y#z") == "http://a.example:80/x?y")
        #expect(try key("https://[::1]:81") == "https://::1:81/")
        for host in ["A.example", "a.example.", "a%2eexample", "%41.EXAMPLE."] {
            #expect(try key("http://\(host)/x?y") == "http://a.example:80/x?y")
        }
    }
}
