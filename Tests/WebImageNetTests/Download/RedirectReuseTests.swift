// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

@Suite("Connections of redirects", .timeLimit(.minutes(5)))
struct RedirectReuseTests {
    let body = patternBytes(2_000)

    /// Returns a policy that opens a gate when the head of a redirect is received.
    private func policy(opening gate: Shared<TestGate>) -> @Sendable (Redirect) -> RedirectDecision {
        { _ in
            gate.value.open()
            return .follow
        }
    }

    @Test(
        "A redirect within an origin reuses its connection, even if the body of the redirect arrives later",
        arguments: ["GET", "POST"])
    func plain(method: String) async throws {
        let (body, gate) = (body, Shared(TestGate()))
        for framing in [LoopbackServer.Response.Framing.contentLength, .chunked] {
            let server = try LoopbackServer { request in
                guard request.path == "/a" else { return .ok(body) }
                return .redirect(307, to: "/b").with {
                    $0.framing = framing
                    $0.bodyGate = gate.value
                }
            }
            let downloader = makeDownloader()
            for _ in 0..<20 {
                gate.value = TestGate()
                let response = try await downloader.load(server.url("/a")) {
                    $0.method = method
                    $0.network.redirectPolicy = policy(opening: gate)
                }
                #expect(response.body == body && response.metrics.redirectCount == 1)
            }
            #expect(server.counters.connections == 1, "\(framing)")
        }
    }

    @Test("A redirect within an origin over TLS reuses its connection", arguments: [true, false])
    func tls(http2: Bool) async throws {
        let (body, gate, directory) = (body, Shared(TestGate()), try TemporaryDirectory())
        let text = Data("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
        let head = Data("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 9\r\n\r\n".utf8)
        let server = try HTTP2Server(try TestCertificates(in: URL(filePath: directory.path))) { request in
            switch (request.index % 2, request.stream) {
            case (0, 0): [.bytes(head), .wait(gate.value), .bytes(Data("elsewhere".utf8))]
            case (_, 0): [.bytes(text)]
            case (0, _): [.head(status: 302, headers: [("location", "/b")]), .data(Data("elsewhere".utf8))]
            default: HTTP2Action.whole(body)
            }
        }
        let downloader = makeDownloader {
            $0.tls = .authorities(server.authority)
            $0.allowsHTTP2 = http2
        }
        for _ in 0..<20 {
            gate.value = TestGate()
            let response = try await downloader.load(server.url("/a")) {
                $0.network.redirectPolicy = policy(opening: gate)
            }
            #expect(response.body == body)
        }
        #expect(server.connections == 1)
    }

    @Test("A redirect is followed immediately over another connection if its body is long or its connection closes")
    func otherConnection() async throws {
        let body = body
        for isLong in [true, false] {
            let server = try LoopbackServer { request in
                guard request.path == "/a" else { return .ok(body) }
                return .redirect(302, to: "/b").with {
                    if isLong { $0.body = patternBytes(100_000) } else { $0.headers["Connection"] = "close" }
                    $0.ending = isLong ? .keepAlive : .close
                    // The gate never opens.
                    $0.bodyGate = TestGate()
                }
            }
            #expect(try await makeDownloader().load(server.url("/a")).body == body)
            #expect(server.counters.connections == 2)
        }
    }

    @Test("A redirect is followed over another connection if its body stalls, is truncated, or is longer than declared")
    func incompleteBody() async throws {
        let body = body
        let changes: [@Sendable (inout LoopbackServer.Response) -> Void] = [
            { $0.stallsBodyAfter = 3 },
            {
                $0.truncatesBodyAfter = 3
                $0.ending = .close
            },
            {
                $0.framing = .chunked
                $0.isEndless = true
            },
        ]
        for change in changes {
            let server = try LoopbackServer { request in
                request.path == "/a" ? .redirect(302, to: "/b").with(change) : .ok(body)
            }
            #expect(try await makeDownloader().load(server.url("/a")).body == body)
            #expect(server.counters.connections == 2)
        }
    }
}
