// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

@Suite("Credentials", .timeLimit(.minutes(5)))
struct CredentialTests {
    private func challenge(_ text: String, _ status: Int = 401) -> LoopbackServer.Response {
        .status(status).with { $0.headers.append(name: "WWW-Authenticate", value: text) }
    }

    @Test("Challenges are parsed as specified in RFC 9110")
    func parsing() {
        typealias Challenge = AuthenticationChallenge
        #expect(
            Challenge.parse("Basic realm=\"a, \\\"b\\\"\"") == [
                .init(scheme: "basic", parameters: ["realm": "a, \"b\""])
            ])
        #expect(
            Challenge.parse("Newauth realm=\"apps\", type=1, title=\"x\", Basic realm = simple")
                == [
                    .init(scheme: "newauth", parameters: ["realm": "apps", "type": "1", "title": "x"]),
                    .init(scheme: "basic", parameters: ["realm": "simple"]),
                ])
        #expect(Challenge.parse("Negotiate").map(\.scheme) == ["negotiate"])
        for text in ["", ",", "=", "\"", "Basic realm=\"open", "Negotiate abc==", "=x Basic", "Basic realm"] {
            #expect(Challenge.parse(text).count <= 2)
        }
    }

    @Test("Random challenges result only in valid field values")
    func fuzz() {
        var generator = SeededGenerator(seed: 7616)
        let pieces = [
            "Digest", "Basic", " ", ",", "=", "\"", "\\", "realm", "nonce", "qop", "auth", "algorithm", "MD5-sess", "a",
            "SHA-256", "opaque", "\u{e9}", ";",
        ]
        let user = Credential(user: "u\"\\\u{e4}", password: "\u{1F511}")
        for _ in 0..<5_000 {
            let text = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &generator)]
            }.joined()
            for answer in AuthenticationChallenge.parse(text).compactMap({ DigestResponse($0) }) {
                let field = answer.header(user, method: "GET", target: "/", count: .max, clientNonce: "c")
                #expect(field.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value < 256 }, "\(text)")
                #expect(field.contains("nc=ffffffff") || !field.contains("nc="))
            }
        }
    }

    @Test("Digest responses match the examples of RFC 7616 and RFC 2617")
    func digests() throws {
        let base =
            "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=%, nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
        let user = Credential(user: "Mufasa", password: "Circle of Life")
        for (algorithm, expected) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            let text = base.replacingOccurrences(of: "%", with: algorithm)
            let answer = try #require(AuthenticationChallenge.parse(text).first.flatMap { DigestResponse($0) })
            let field = answer.header(
                user, method: "GET", target: "/dir/index.html", count: 1,
                clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
            #expect(field.contains("response=\"\(expected)\""))
            #expect(field.contains("nc=00000001") && field.contains("opaque=\"FQhe/"))
        }
        let old = "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\""
        let plain = try #require(AuthenticationChallenge.parse(old).first.flatMap { DigestResponse($0) })
        let field = plain.header(
            Credential(user: "Mufasa", password: "CircleOfLife"), method: "GET", target: "/dir/index.html", count: 1,
            clientNonce: "x")
        #expect(field.contains("response=\"1949323746fe6a43ef61f9606e7febea\"") && !field.contains("qop"))
        for bad in [
            "Digest realm=a", "Digest nonce=a, algorithm=SHA-512", "Digest nonce=a, qop=auth-int", "Basic nonce=a",
        ] {
            #expect(AuthenticationChallenge.parse(bad).first.flatMap { DigestResponse($0) } == nil)
        }
    }

    @Test("Basic credentials are sent after a challenge and then for all URLs below its directory")
    func basic() async throws {
        let server = try LoopbackServer { [self] request in
            let isRight = request.headers["Authorization"] == "Basic " + Data("u:p\u{e4}".utf8).base64EncodedString()
            return isRight ? .ok(Data("x".utf8)) : challenge("Basic realm=\"r\"")
        }
        let store = CredentialStore()
        store.setCredentials(user: "u", password: "p\u{e4}", for: server.url("/"), realm: "r")
        let downloader = makeDownloader { $0.credentials = store }
        for path in ["/in/a", "/in/b", "/in/deep/c", "/out"] { _ = try await downloader.load(server.url(path)) }
        #expect(server.requests.map { $0.headers["Authorization"] != nil } == [false, true, true, true, false, true])
    }

    @Test("A wrong password is tried once, and other realms, origins, and stores send no credentials")
    func refused() async throws {
        let server = try LoopbackServer { [self] _ in challenge("Basic realm=\"r\"") }
        let store = CredentialStore()
        store.setCredentials(user: "u", password: "wrong", for: server.url("/"), realm: "r")
        let error = await makeDownloader { $0.credentials = store }.failure(server.url("/a"))
        #expect(error?.network?.reason == .authenticationRequired && error?.network?.statusCode == 401)
        #expect(server.counters.requests == 2)
        let other = CredentialStore()
        other.setCredentials(user: "u", password: "p", for: server.url("/"), realm: "elsewhere")
        other.setCredentials(user: "u", password: "p", for: try #require(URL(string: "http://127.0.0.1:1/")))
        other.setCredentials(user: "u", password: "p", for: server.url("/"), realm: "r", allowsBasic: false)
        for store in [other, nil] {
            #expect(
                await makeDownloader().failure(server.url("/a")) { $0.network.credentials = store }?.network?.reason
                    == .authenticationRequired)
        }
        #expect(server.counters.requests == 4)
    }

    @Test("Digest counts the uses of a nonce and accepts a new nonce")
    func digest() async throws {
        let server = try LoopbackServer { [self] request in
            let field = request.headers["Authorization"] ?? ""
            let nonce = request.index < 4 ? "one" : "two"
            return field.contains("nonce=\"\(nonce)\"")
                ? .ok(Data("x".utf8)) : challenge("Basic realm=r, Digest realm=r, qop=auth, nonce=\"\(nonce)\"")
        }
        let store = CredentialStore()
        store.setCredentials(user: "u", password: "p", for: server.url("/"))
        let downloader = makeDownloader { $0.credentials = store }
        for _ in 0..<4 { _ = try await downloader.load(server.url("/a?b=c")) }
        let fields = server.requests.map { $0.headers["Authorization"] ?? "" }
        #expect(fields.map { $0.contains("nonce=\"one\"") } == [false, true, true, true, true, false])
        #expect(fields[3].contains("nc=00000003") && fields[5].contains("nc=00000001"))
        #expect(fields[5].contains("uri=\"/a?b=c\""))
    }

    @Test("A nonce that becomes stale directly after its challenge is replaced by the new one")
    func staleNonce() async throws {
        let server = try LoopbackServer { [self] request in
            let field = request.headers["Authorization"] ?? ""
            if field.contains("nonce=\"two\"") { return .ok(Data("x".utf8)) }
            return field.isEmpty
                ? challenge("Digest realm=r, qop=auth, nonce=\"one\"")
                : challenge("Digest realm=r, qop=auth, nonce=\"two\", stale=TRUE")
        }
        let store = CredentialStore()
        store.setCredentials(user: "u", password: "p", for: server.url("/"))
        _ = try await makeDownloader { $0.credentials = store }.load(server.url("/a"))
        #expect(server.counters.requests == 3)
        _ = try await makeDownloader { $0.credentials = store }.load(server.url("/a"))
        #expect(server.counters.requests == 4)
    }

    @Test(
        "A server that sends only stale or repeated nonces causes an error after three requests",
        arguments: [true, false])
    func alwaysStale(_ isNew: Bool) async throws {
        let server = try LoopbackServer { [self] request in
            challenge("Digest realm=r, qop=auth, nonce=\"\(isNew ? request.index : 0)\", stale=true")
        }
        let store = CredentialStore()
        store.setCredentials(user: "u", password: "p", for: server.url("/"))
        let error = await makeDownloader { $0.credentials = store }.failure(server.url("/a"))
        #expect(error?.network?.reason == .authenticationRequired)
        #expect(server.counters.requests == 3)
    }

    @Test("Credentials aren't sent after a redirect to another origin")
    func redirects() async throws {
        let second = try LoopbackServer { _ in .ok(Data("x".utf8)) }
        let target = second.url("/b").absoluteString
        let first = try LoopbackServer { [self] request in
            request.headers["Authorization"] == nil ? challenge("Basic realm=r") : .redirect(to: target)
        }
        let store = CredentialStore()
        store.setCredentials(user: "u", password: "p", for: first.url("/"))
        _ = try await makeDownloader { $0.credentials = store }.load(first.url("/a"))
        #expect(first.counters.requests == 2)
        #expect(second.requests.map { $0.headers["Authorization"] } == [nil])
    }

    @Test("Default credentials are sent to every requested origin without its own, and to none after a redirect")
    func defaultCredentials() async throws {
        let accepted = try LoopbackServer { [self] request in
            request.headers["Authorization"] == nil ? challenge("Basic realm=r") : .ok(Data("x".utf8))
        }
        let target = accepted.url("/b").absoluteString
        let first = try LoopbackServer { [self] request in
            request.headers["Authorization"] == nil ? challenge("Basic realm=r") : .redirect(to: target)
        }
        let store = CredentialStore()
        store.setDefaultCredentials(user: "u", password: "p")
        let error = await makeDownloader { $0.credentials = store }.failure(first.url("/a"))
        #expect(error?.network?.reason == .authenticationRequired)
        #expect(first.counters.requests == 2)
        #expect(accepted.requests.map { $0.headers["Authorization"] } == [nil])
        let basic = "Basic " + Data("u:p".utf8).base64EncodedString()
        let downloader = makeDownloader { $0.credentials = store }
        #expect(try await downloader.data(for: accepted.url("/b")) == Data("x".utf8))
        #expect(accepted.requests.last?.headers["Authorization"] == basic)
        store.setCredentials(user: "own", password: "p", for: accepted.url("/"))
        _ = try await downloader.load(accepted.url("/b"))
        let own = "Basic " + Data("own:p".utf8).base64EncodedString()
        #expect(accepted.requests.last?.headers["Authorization"] == own)
        store.removeCredentials(for: accepted.url("/"))
        store.removeDefaultCredentials()
        #expect(await downloader.failure(accepted.url("/b"))?.network?.reason == .authenticationRequired)
        #expect(accepted.requests.last?.headers["Authorization"] == nil)
    }

    @Test("Default credentials are part of the identity of requests")
    func defaultIdentity() throws {
        let url = try #require(URL(string: "https://example.org/a.png"))
        let store = CredentialStore()
        let empty = AccessIdentity.digest(for: url, cookies: nil, credentials: store)
        store.setDefaultCredentials(user: "u", password: "p")
        let first = AccessIdentity.digest(for: url, cookies: nil, credentials: store)
        let generation = store.generation
        store.setDefaultCredentials(user: "u", password: "q")
        let second = AccessIdentity.digest(for: url, cookies: nil, credentials: store)
        #expect(empty == nil && first != nil && second != nil && first != second)
        #expect(store.generation > generation)
    }

    @Test("A store can be created with the credentials for an origin")
    func oneLine() async throws {
        let server = try LoopbackServer { [self] request in
            request.headers["Authorization"] == nil ? challenge("Basic realm=r") : .ok(Data("x".utf8))
        }
        let store = CredentialStore(user: "u", password: "p", for: server.url("/"))
        #expect(try await makeDownloader { $0.credentials = store }.data(for: server.url("/a")) == Data("x".utf8))
        #expect(server.counters.requests == 2)
    }

    @Test(
        "An nginx server accepts the correct credentials and rejects others",
        .enabled(if: Nginx.missing == nil, Comment(rawValue: Nginx.missing ?? "")))
    func nginx() async throws {
        let server = try Nginx(
            files: ["a": Data("x".utf8), "users": Data("u:{PLAIN}secret\n".utf8)],
            settings: "auth_basic \"Pictures\"; auth_basic_user_file site/users;")
        let store = CredentialStore()
        store.setCredentials(user: "u", password: "secret", for: server.url("/"), realm: "Pictures")
        let downloader = makeDownloader { $0.credentials = store }
        #expect(try await downloader.load(server.url("/a")).body == Data("x".utf8))
        store.setCredentials(user: "u", password: "other", for: server.url("/"), realm: "Pictures")
        let error = await downloader.failure(server.url("/a"))?.network
        #expect(error?.reason == .authenticationRequired && error?.details == "Pictures")
    }
}
