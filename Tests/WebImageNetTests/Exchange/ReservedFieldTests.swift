// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

@Suite("Header fields, methods, and ports that callers can't choose", .timeLimit(.minutes(5)))
struct ReservedFieldTests {
    static let names = [
        "Transfer-Encoding", "content-length", "CONNECTION", "Upgrade", "Host", "TE", "Trailer", "Keep-Alive",
        "Proxy-Authorization", "proxy-connection", "Proxy-X",
    ]

    @Test("A reserved header field of a request is rejected before anything is sent", arguments: names)
    func request(name: String) async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(patternBytes(10))])
        let error = await makeDownloader().failure(server.url("/a")) { $0.headers[name] = "chunked" }
        #expect(error == .request(.invalidOption(name: "header field \(name)", value: "reserved")))
        #expect(server.counters.connections == 0)
    }

    @Test("A reserved header field of the configuration or of a redirect handler is rejected, too")
    func otherSources() async throws {
        let server = try LoopbackServer { $0.path == "/a" ? .redirect(302, to: "/b") : .ok(patternBytes(10)) }
        let configured = makeDownloader { $0.headers["Host"] = "internal" }
        let invalid = ImageError.request(.invalidOption(name: "header field Host", value: "reserved"))
        #expect(await configured.failure(server.url("/b")) == invalid)
        #expect(server.counters.requests == 0)
        let redirected = makeDownloader {
            $0.redirectHandler = { _ in .followWithHeaders(HTTPHeaderFields([.init(name: "Host", value: "internal")])) }
        }
        #expect(await redirected.failure(server.url("/a")) == invalid)
        #expect(server.counters.requests == 1)
    }

    @Test("Similar names are sent unchanged", arguments: ["X-Host", "Content-Type", "Proxy", "TE-X", "Accept"])
    func similar(name: String) async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(patternBytes(10))])
        _ = try await makeDownloader().load(server.url("/a")) { $0.headers[name] = "text/plain" }
        #expect(server.requests.first?.headers[name] == "text/plain")
    }

    @Test("CONNECT is rejected regardless of case", arguments: ["CONNECT", "connect", "Connect"])
    func connect(method: String) async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(patternBytes(10))])
        let error = await makeDownloader().failure(server.url("/a")) { $0.method = method }
        #expect(error == .request(.invalidOption(name: "method", value: method)))
        #expect(server.counters.connections == 0)
    }

    @Test("A request or a redirect to a port that isn't allowed fails before a connection is opened")
    func ports() async throws {
        let other = try LoopbackServer(routes: ["/b": .ok(patternBytes(10))])
        let target = other.url("/b").absoluteString
        let server = try LoopbackServer { $0.path == "/a" ? .redirect(302, to: target) : .ok(patternBytes(10)) }
        let port = try #require(server.url("/a").port)
        let downloader = makeDownloader { $0.allowedPorts = [80, 443, port] }
        #expect(try await downloader.load(server.url("/c")).body == patternBytes(10))
        for url in [server.url("/a"), other.url("/b")] {
            let failure = await downloader.failure(url)?.network
            #expect(failure?.reason == .addressNotAllowed)
        }
        #expect(other.counters.connections == 0)
    }

    @Test("A URL without a port has the port of its scheme")
    func defaultPorts() async throws {
        let downloader = makeDownloader { $0.allowedPorts = [443] }
        let plain = try #require(URL(string: "http://127.0.0.1/a"))
        #expect(await downloader.failure(plain)?.network?.reason == .addressNotAllowed)
        let secure = try #require(URL(string: "https://127.0.0.1:80/a"))
        #expect(await downloader.failure(secure)?.network?.reason == .addressNotAllowed)
    }
}
