// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageTestSupport
import WebImageTesting

@testable import WebImageNet

/// libcurl answers; what it says is checked here with the formula of RFC 7616 3.4.1.
@Suite("Users of proxies", .timeLimit(.minutes(5)))
struct ProxyDigestTests {
    private static let challenge = "Digest realm=\"Gate\", nonce=\"n1\", qop=\"auth\", algorithm=SHA-256"

    /// Wants `u` with `secret` by one of the challenges; an empty list wants nobody.
    private func proxy(_ challenges: [String]) throws -> LoopbackServer {
        try LoopbackServer { request in
            let said = request.fields["Proxy-Authorization"]
            let isBasic = challenges.contains { $0.hasPrefix("Basic") } && said == "Basic dTpzZWNyZXQ="
            let isKnown = challenges.isEmpty || isBasic || isDigest(request)
            guard !isKnown else {
                return request.method == "CONNECT" ? .status(502) : .ok(Data("\(request.target) \(said ?? "-")".utf8))
            }
            var answer = ServerResponse.status(407)
            for challenge in challenges { answer.fields.append(name: "Proxy-Authenticate", value: challenge) }
            return answer
        }
    }

    private func isDigest(_ request: RecordedRequest) -> Bool {
        guard let said = request.fields["Proxy-Authorization"], said.hasPrefix("Digest "),
            let parts = AuthenticationChallenge.parse(said).first?.parameters,
            let challenge = AuthenticationChallenge.parse(Self.challenge).first,
            let answer = DigestAnswer(challenge), let count = UInt32(parts["nc"] ?? "", radix: 16)
        else { return false }
        // libcurl names the path alone where the target is a whole URL, and proxies take that.
        let target = parts["uri"] ?? ""
        let expected = answer.field(
            Credential(user: "u", password: "secret"), method: request.method, target: target, count: count,
            clientNonce: parts["cnonce"] ?? "")
        return !target.isEmpty && request.target.hasSuffix(target)
            && AuthenticationChallenge.parse(expected).first?.parameters["response"] == parts["response"]
    }

    private func downloader(_ proxy: LoopbackServer, _ user: String) -> ImageDownloader {
        makeDownloader { $0.proxy = .url("http://\(user)127.0.0.1:\(proxy.port)") }
    }

    private func schemes(_ proxy: LoopbackServer) -> [String] {
        proxy.requests.map { String($0.fields["Proxy-Authorization"]?.prefix { $0 != " " } ?? "-") }
    }

    @Test("A proxy that offers Digest gets Digest, and never the password, even where it takes Basic")
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
            // It lets the user in, and then cannot reach the host.
            #expect(await downloader.failure(secure)?.network?.reason == .proxyFailed)
            #expect(proxy.requests.last?.method == "CONNECT" && schemes(proxy).last == "Digest")
        }
    }

    @Test("Basic is shown once the proxy has asked for it, from then on right away")
    func basic() async throws {
        let proxy = try proxy(["Basic realm=\"Gate\""])
        let url = try #require(URL(string: "http://far.invalid/a"))
        let downloader = downloader(proxy, "u:secret@")
        for _ in 0..<3 { _ = try await downloader.load(url) }
        #expect(schemes(proxy) == ["-", "Basic", "Basic", "Basic"])
    }

    @Test("A proxy that wants nobody is told nobody")
    func none() async throws {
        let proxy = try proxy([])
        let url = try #require(URL(string: "http://far.invalid/a"))
        let downloader = downloader(proxy, "u:secret@")
        for _ in 0..<3 { #expect(try await downloader.load(url).body == Data("http://far.invalid/a -".utf8)) }
        #expect(schemes(proxy) == ["-", "-", "-"])
    }

    @Test(
        "A wrong password, none, and a way of asking that nobody knows are errors that say so, and end",
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
                #expect(scheme == "https" || error?.status == 407)
            }
            #expect(proxy.counters.requests <= 4)
        }
    }

    @Test("A connection that ends behind the challenge is lost, and no answer")
    func lostBehindChallenge() async throws {
        let url = try #require(URL(string: "http://far.invalid/a"))
        for rest in ["", "HTTP/1.1 200 OK\r\nContent-Le"] {
            let proxy = try LoopbackServer { request in
                guard request.fields["Proxy-Authorization"] == nil else { return .raw(Data(rest.utf8)) }
                var answer = ServerResponse.status(407)
                answer.fields["Proxy-Authenticate"] = Self.challenge
                return answer
            }
            let error = await downloader(proxy, "u:secret@").failure(url)?.network
            #expect(error?.reason == (rest.isEmpty ? .proxyFailed : .connectionLost), "\(String(describing: error))")
        }
    }
}
