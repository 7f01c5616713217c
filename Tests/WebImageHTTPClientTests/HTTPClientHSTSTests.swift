// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageHTTPClient
import WebImageNet

/// A transport whose responses depend on the requested URL, and which records the URLs.
private final class ScriptedTransport: HTTPTransport {
    private let requested = Lock<[String]>([])
    private let responses: [String: HTTPHeaderFields]

    var urls: [String] { requested.withLock { $0 } }

    init(_ answers: [String: HTTPHeaderFields]) { self.responses = answers }

    func send(_ request: TransferRequest, context: LoadContext) async throws(ImageError) -> TransferResponse {
        let url = request.url
        requested.withLock { $0.append(url) }
        let fields = responses[url] ?? HTTPHeaderFields()
        let head = HTTPResponseHead(statusCode: fields["Location"] == nil ? 200 : 301, headers: fields)
        let now = Date(timeIntervalSince1970: 1_000)
        return TransferResponse(head: head, body: Data("body".utf8), requestTime: now, responseTime: now)
    }
}

@Suite("HTTP client and strict transport security")
struct HTTPClientHSTSTests {
    private func headers(_ name: String, _ value: String) -> HTTPHeaderFields {
        HTTPHeaderFields([.init(name: name, value: value)])
    }

    private func client(
        _ transport: ScriptedTransport, _ store: HSTSStore?, unchecked: Set<String> = []
    ) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.network.hsts = store
        configuration.network.allowsInsecureRedirects = true
        configuration.network.tls.insecureHosts = unchecked
        configuration.now = { Date(timeIntervalSince1970: 1_000) }
        return HTTPClient(configuration: configuration, transport: transport)
    }

    private func store() -> HSTSStore { HSTSStore { Date(timeIntervalSince1970: 1_000) } }

    private func fetch(_ client: HTTPClient, _ text: String) async throws -> HTTPClient.Response {
        try await client.fetch(HTTPClient.Request(url: try #require(URL(string: text))))
    }

    @Test("A host that requires HTTPS is contacted only over HTTPS, directly and after a redirect")
    func learned() async throws {
        let transport = ScriptedTransport([
            "https://a.example/": headers("Strict-Transport-Security", "max-age=100"),
            "https://b.example/": headers("Location", "http://a.example/x"),
        ])
        let client = client(transport, store())
        _ = try await fetch(client, "https://a.example/")
        #expect(try await fetch(client, "http://a.example/y").url.absoluteString == "https://a.example/y")
        #expect(try await fetch(client, "https://b.example/").url.absoluteString == "https://a.example/x")
        #expect(
            transport.urls == [
                "https://a.example/", "https://a.example/y", "https://b.example/", "https://a.example/x",
            ])
    }

    @Test("No policy is learned without a store, over HTTP, or from hosts without certificate checks")
    func notLearned() async throws {
        let strict = headers("Strict-Transport-Security", "max-age=100")
        for (store, first, unchecked) in [
            (nil, "https://a.example/", []), (store(), "http://a.example/", []),
            (store(), "https://a.example/", ["a.example"]),
        ] as [(HSTSStore?, String, Set<String>)] {
            let transport = ScriptedTransport([first: strict])
            let client = client(transport, store, unchecked: unchecked)
            _ = try await fetch(client, first)
            #expect(try await fetch(client, "http://a.example/y").url.absoluteString == "http://a.example/y")
        }
    }
}
