// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

/// Verifies libcurl's Digest responses with the formula of RFC 7616, section 3.4.1.
@Suite("Proxy credentials", .timeLimit(.minutes(5)))
struct ProxyDigestTests {
    private static let challenge = "Digest realm=\"Gate\", nonce=\"n1\", qop=\"auth\", algorithm=SHA-256"

    /// Returns a proxy that requires the user `u` with the password `secret` by one of the challenges. If the list is
    /// empty, the proxy requires no credentials.
    private func proxy(_ challenges: [String]) throws -> LoopbackServer {
        try LoopbackServer { request in
            let said = request.headers["Proxy-Authorization"]
            let isBasic = challenges.contains { $0.hasPrefix("Basic") } && said == "Basic dTpzZWNyZXQ="
            let isKnown = challenges.isEmpty || isBasic || isDigest(request)
            guard !isKnown else {
                return request.method == "CONNECT" ? .status(502) : .ok(Data("\(request.target) \(said ?? "-")".utf8))
            }
            var answer = LoopbackServer.Response.status(407)
            for challenge in challenges { answer.headers.append(name: "Proxy-Authenticate", value: challenge) }
            return answer
        }
    }

    private func isDigest(_ request: LoopbackServer.Request) -> Bool {
        guard let said = request.headers["Proxy-Authorization"], said.hasPrefix("Digest "),
            let parts = AuthenticationChallenge.parse(said).first?.parameters,
            let challenge = AuthenticationChallenge.parse(Self.challenge).first,
            let answer = DigestResponse(challenge), let count = UInt32(parts["nc"] ?? "", radix: 16)
        else { return false }
        // If the target is an absolute URL, libcurl sends only its path in `uri`, and proxies accept that.
        let target = parts["uri"] ?? ""
        let expected = answer.header(
            Credential(user: "u", password: "secret"), method: request.method, target: target, count: count,
            clientNonce: parts["cnonce"] ?? "")
        return !target.isEmpty && request.target.hasSuffix(target)
            && AuthenticationChallenge.parse(expected).first?.parameters["response"] == parts["response"]
    }

    private func downloader(_ proxy: LoopbackServer, _ user: String) -> ImageDownloader {
        makeDownloader { $0.proxy = .at("http://\(user)127.0.0.1:\(proxy.port)") }
    }

    private func schemes(_ proxy: LoopbackServer) -> [String] {
        proxy.requests.map { String($0.headers["Proxy-Authorization"]?.prefix { $0 != " " } ?? "-") }
    }

    @Test("A proxy that offers Digest receives Digest and never the password, even if it also accepts Basic")
    func digest() async throws {
        let url = try #require(URL(string: "http://far.invalid/a"))
        for challenges in [[Self.challenge], ["Basic realm=\"Gate\"", Self.challenge]] {
            let proxy = try proxy(challenges)
            let downloader = downloader(proxy, "u:secret@")
            for _ in 0..<3 {
                let text = String(decoding: try await downloader.load(url).body, as: UTF8.self)
                #expect(text.hasPrefix("http://far.invalid/a Digest "))
            }
            #expect(Set(schemes(proxy)) == ["-", "Digest"])
            let secure = try #require(URL(string: "https://far.invalid/a"))
            // The proxy accepts the credentials but can't connect to the host.
            #expect(await downloader.failure(secure)?.network?.reason == .proxyFailed)
            #expect(proxy.requests.last?.method == "CONNECT" && schemes(proxy).last == "Digest")
        }
    }

    @Test("Basic credentials are sent after the proxy requests them, and then with every request")
    func basic() async throws {
        let proxy = try proxy(["Basic realm=\"Gate\""])
        let url = try #require(URL(string: "http://far.invalid/a"))
        let downloader = downloader(proxy, "u:secret@")
        for _ in 0..<3 { _ = try await downloader.load(url) }
        #expect(schemes(proxy) == ["-", "Basic", "Basic", "Basic"])
    }

    @Test("A proxy that requires no credentials receives none")
    func none() async throws {
        let proxy = try proxy([])
        let url = try #require(URL(string: "http://far.invalid/a"))
        let downloader = downloader(proxy, "u:secret@")
        for _ in 0..<3 { #expect(try await downloader.load(url).body == Data("http://far.invalid/a -".utf8)) }
        #expect(schemes(proxy) == ["-", "-", "-"])
    }

    @Test(
        "Wrong or missing credentials and unknown schemes cause an authentication error without a loop",
        arguments: ["u:wrong@", "", "u:secret@"], ["http", "https"])
    func refused(user: String, scheme: String) async throws {
        let url = try #require(URL(string: "\(scheme)://far.invalid/a"))
        let offers = user == "u:secret@" ? [["Bearer realm=\"x\""], []] : [[Self.challenge], ["Basic realm=\"Gate\""]]
        for challenges in offers where !challenges.isEmpty {
            let proxy = try proxy(challenges)
            let downloader = downloader(proxy, user)
            for _ in 0..<2 {
                let error = await downloader.failure(url)?.network
                #expect(error?.reason == .authenticationRequired, "\(String(describing: error))")
                #expect(scheme == "https" || error?.statusCode == 407)
            }
            #expect(proxy.counters.requests <= 4)
        }
    }

    @Test("A connection that closes after the proxy's challenge causes an error")
    func lostBehindChallenge() async throws {
        let url = try #require(URL(string: "http://far.invalid/a"))
        for rest in ["", "HTTP/1.1 200 OK\r\nContent-Le"] {
            let proxy = try LoopbackServer { request in
                guard request.headers["Proxy-Authorization"] == nil else { return .raw(Data(rest.utf8)) }
                var answer = LoopbackServer.Response.status(407)
                answer.headers["Proxy-Authenticate"] = Self.challenge
                return answer
            }
            let error = await downloader(proxy, "u:secret@").failure(url)?.network
            #expect(error?.reason == (rest.isEmpty ? .proxyFailed : .connectionLost), "\(String(describing: error))")
        }
    }
}
