// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPClient
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

/// A transport whose first `losses` requests fail with an interrupted connection.
private final class LossyTransport: HTTPTransport {
    private let left: Shared<Int>
    let sent = Shared(0)

    init(losses: Int) { left = Shared(losses) }

    func send(_ request: TransferRequest, context: LoadContext) async throws(ImageError) -> TransferResponse {
        sent.update { $0 += 1 }
        let isLost = left.update { left in
            left -= 1
            return left >= 0
        }
        if isLost {
            throw .network(
                ImageError.NetworkFailure(.connectionLost, url: request.failureURL, phase: .waitingForResponse))
        }
        return TransferResponse(
            head: HTTPResponseHead(statusCode: 200, headers: HTTPHeaderFields()), requestTime: Date(),
            responseTime: Date())
    }
}

@Suite("Cookies, credentials, and retries of the HTTP client", .timeLimit(.minutes(5)))
struct ClientAccessTests {
    private func headers(_ name: String, _ value: String) -> HTTPHeaderFields {
        HTTPHeaderFields([.init(name: name, value: value)])
    }

    private func client(_ change: (inout ImageDownloader.Configuration) -> Void = { _ in }) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.network.proxy = .disabled
        change(&configuration.network)
        return HTTPClient(configuration: configuration)
    }

    @Test("Cookies are stored and sent, and users don't share cached responses")
    func cookies() async throws {
        let fresh = headers("Cache-Control", "max-age=60")
        let server = try LoopbackServer { request in
            LoopbackServer.Response(
                headers: HTTPHeaderFields(
                    request.path == "/login" ? headers("Set-Cookie", "user=1; Path=/").lines : fresh.lines),
                body: Data((request.headers["Cookie"] ?? "none").utf8))
        }
        let client = client { $0.cookieJar = CookieJar() }
        _ = try await client.fetch(HTTPClient.Request(url: server.url("/login")))
        #expect(try await client.fetch(HTTPClient.Request(url: server.url("/a"))).body == Data("user=1".utf8))
        var other = HTTPClient.Request(url: server.url("/a"))
        other.network.cookieJar = .disabled
        #expect(try await client.fetch(other).body == Data("none".utf8))
        for _ in 0..<2 {
            #expect(try await client.fetch(other).source == .cache)
            #expect(try await client.fetch(HTTPClient.Request(url: server.url("/a"))).source == .cache)
        }
        #expect(server.requests.count == 3)
    }

    @Test(
        "Credentials are sent after a Basic or Digest challenge, and they separate cached responses",
        arguments: ["Basic", "Digest"])
    func credentials(_ scheme: String) async throws {
        let fresh = headers("Cache-Control", "max-age=60")
        let challenge = headers(
            "WWW-Authenticate", scheme == "Basic" ? "Basic realm=r" : "Digest realm=r, qop=auth, nonce=n")
        let server = try LoopbackServer { request in
            guard request.headers["Authorization"]?.hasPrefix(scheme) == true else {
                return LoopbackServer.Response.status(401).with { $0.headers = challenge }
            }
            return LoopbackServer.Response(headers: fresh, body: Data("secret".utf8))
        }
        let store = CredentialStore()
        store.setCredentials(user: "u", password: "p", for: server.url("/"))
        let client = client { $0.credentials = store }
        #expect(try await client.fetch(HTTPClient.Request(url: server.url("/a"))).body == Data("secret".utf8))
        #expect(try await client.fetch(HTTPClient.Request(url: server.url("/a"))).source == .cache)
        #expect(server.requests.count == 2)
        var stranger = HTTPClient.Request(url: server.url("/a"))
        stranger.network.credentials = CredentialStore()
        #expect(try await client.fetch(stranger).statusCode == 401)
        #expect(server.requests.count == 3)
    }

    @Test("The user name and password of the URL are sent and select cached responses")
    func userInfo() async throws {
        let fresh = headers("Cache-Control", "max-age=60")
        let server = try LoopbackServer { request in
            LoopbackServer.Response(headers: fresh, body: Data((request.headers["Authorization"] ?? "none").utf8))
        }
        var parts = try #require(URLComponents(url: server.url("/a"), resolvingAgainstBaseURL: true))
        parts.user = "u"
        parts.password = "p"
        let client = client()
        let response = try await client.fetch(HTTPClient.Request(url: try #require(parts.url)))
        #expect(response.body == Data("Basic \(Data("u:p".utf8).base64EncodedString())".utf8))
        #expect(response.url == server.url("/a"))
        #expect(try await client.fetch(HTTPClient.Request(url: server.url("/a"))).body == Data("none".utf8))
    }

    @Test("The user name and password in a redirect to another origin aren't sent and aren't shown")
    func userInfoOfRedirect() async throws {
        let second = try LoopbackServer(routes: ["/b": .ok(Data("x".utf8))])
        var parts = try #require(URLComponents(url: second.url("/b"), resolvingAgainstBaseURL: true))
        parts.user = "u"
        parts.password = "p"
        let target = try #require(parts.url).absoluteString
        let first = try LoopbackServer(routes: ["/a": .redirect(to: target)])
        let response = try await client().fetch(HTTPClient.Request(url: first.url("/a")))
        #expect(response.url == second.url("/b"))
        #expect(second.requests.map { $0.headers["Authorization"] } == [nil])
    }

    @Test("Requests that can be sent twice are retried if no response was received")
    func retries() async throws {
        func fetch(_ method: String, losses: Int) async -> (LossyTransport, Result<HTTPClient.Response, ImageError>) {
            let transport = LossyTransport(losses: losses)
            var configuration = HTTPClient.Configuration()
            configuration.network.retry = RetryPolicy(maxAttempts: 3, baseDelay: .zero)
            let client = HTTPClient(configuration: configuration, transport: transport)
            let url = URL(string: "http://example.org/") ?? URL(filePath: "/")
            do throws(ImageError) {
                return (transport, .success(try await client.fetch(HTTPClient.Request(url: url, method: method))))
            } catch {
                return (transport, .failure(error))
            }
        }
        let (passing, response) = await fetch("GET", losses: 2)
        #expect(try response.get().metrics.attemptCount == 3 && passing.sent.value == 3)
        let (failing, failure) = await fetch("GET", losses: 3)
        #expect(throws: ImageError.self) { try failure.get() }
        #expect(failing.sent.value == 3)
        let (post, lost) = await fetch("POST", losses: 1)
        #expect(throws: ImageError.self) { try lost.get() }
        #expect(post.sent.value == 1)
    }

    @Test("The redirect policy of a request decides about its redirects")
    func policy() async throws {
        let server = try LoopbackServer(routes: ["/a": .redirect(to: "/b"), "/b": .ok(Data("x".utf8))])
        var request = HTTPClient.Request(url: server.url("/a"))
        #expect(try await client().fetch(request).statusCode == 200)
        request.network.redirectPolicy = { _ in .returnResponse }
        #expect(try await client().fetch(request).statusCode == 302)
    }
}
