// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageTestSupport

@testable import WebImageNet

@Suite("Strict transport security", .timeLimit(.minutes(5)))
struct HSTSStoreTests {
    @Test("Hosts that require HTTPS are contacted only over HTTPS until their policy expires")
    func strictTransport() throws {
        let now = Shared(Date(timeIntervalSince1970: 1_000))
        let store = HSTSStore { now.value }
        func take(_ value: String, _ host: String, _ scheme: String = "https") throws {
            let url = try #require(URL(string: "\(scheme)://\(host)/"))
            store.receive(HTTPHeaderFields([.init(name: "Strict-Transport-Security", value: value)]), from: url)
        }
        func secured(_ text: String) throws -> String { store.upgraded(try #require(URL(string: text))).absoluteString }
        try take("max-age=10", "a.example")
        try take("Max-Age=\"20\" ; includeSubDomains", "b.example")
        try take("max-age=10", "c.example", "http")
        try take("max-age=10", "127.0.0.1")
        try take("max-age=x", "d.example")
        #expect(try secured("http://a.example:80/x?y") == "https://a.example/x?y")
        #expect(try secured("http://a.example:8080/") == "https://a.example:8080/")
        #expect(try secured("http://x.b.example/") == "https://x.b.example/")
        for same in ["http://x.a.example/", "http://c.example/", "http://127.0.0.1/", "http://d.example/"] {
            #expect(try secured(same) == same)
        }
        now.value += 10
        #expect(try secured("http://a.example/") == "http://a.example/")
        try take("max-age=0", "b.example")
        #expect(try secured("http://b.example/") == "http://b.example/")
    }

    private func store(_ text: String = "", _ now: Shared<Date> = Shared(Date(timeIntervalSince1970: 1_000_000_000)))
        -> HSTSStore
    {
        let store = HSTSStore { now.value }
        store.add(text: text)
        return store
    }

    @Test("The text has the format of curl's HSTS files and is read back unchanged")
    func text() throws {
        let text = """
            # Hosts that require HTTPS, in the format of curl's HSTS cache
            a.example "20990228 23:59:59"
            .b.example "40010101 00:00:00"

            """
        #expect(store(text).text == text)
        #expect(store("# x\n\n.b.example \"unlimited\"\nA.example. \"20990228 23:59:59\"\r\n").text == text)
        let known = store(text)
        let url = try #require(URL(string: "http://x.b.example/"))
        #expect(known.upgraded(url).scheme == "https")
    }

    @Test(
        "Invalid lines and expired policies are skipped",
        arguments: [
            "a.example", "a.example \"2099\"", "a.example \"20991301 00:00:00\"", "a.example \"20990101 24:00:00\"",
            "a.example \"2099010100:00:00\"", "a.example \"2099-101 00:00:00\"", "\"20990101 00:00:00\"",
            ". \"20990101 00:00:00\"", "127.0.0.1 \"20990101 00:00:00\"", "a.example \"20000101 00:00:00\"",
        ])
    func badLines(_ line: String) {
        #expect(store(line).known.isEmpty)
    }

    @Test("A policy received from a host overrides one from a file, and a full store keeps its hosts")
    func order() throws {
        let now = Shared(Date(timeIntervalSince1970: 1_000_000_000))
        let store = store("", now)
        let url = try #require(URL(string: "https://a.example/"))
        store.receive(HTTPHeaderFields([.init(name: "Strict-Transport-Security", value: "max-age=10")]), from: url)
        store.add(text: ".a.example \"20990101 00:00:00\"")
        #expect(store.known["a.example"] == .init(end: now.value + 10, includesSubdomains: false))
        store.add(text: (0..<2_000).map { "\($0).example \"20990101 00:00:00\"\n" }.joined())
        #expect(store.known.count == 1_000)
        store.receive(HTTPHeaderFields([.init(name: "Strict-Transport-Security", value: "max-age=20")]), from: url)
        #expect(store.known["a.example"]?.end == now.value + 20)
    }

    @Test("A policy file is private, replaced atomically, and read after a restart")
    func file() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("hsts")
        let text = store("a.example \"20990101 00:00:00\"").text
        try store("b.example \"20990101 00:00:00\"").save(to: URL(filePath: path))
        // Simulate a process with the same process ID, such as in a container, that ended while it wrote the file.
        try Data().write(to: URL(filePath: "\(path).\(getpid()).tmp"))
        try store("a.example \"20990101 00:00:00\"").save(to: URL(filePath: path))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let later = store()
        try later.load(from: URL(filePath: path))
        #expect(later.text == text)
        #expect(throws: ImageError.request(.fileNotFound(path: "/nowhere/hsts"))) {
            try later.load(from: URL(filePath: "/nowhere/hsts"))
        }
        #expect(throws: ImageError.self) { try later.save(to: URL(filePath: "/nowhere/hsts")) }
    }

    @Test(
        "A redirect to HTTP at a host that requires HTTPS uses HTTPS with all header fields",
        .enabled(if: Nginx.missing == nil, Comment(rawValue: Nginx.missing ?? "")))
    func redirect() async throws {
        let body = patternBytes(5_000)
        let server = try Nginx(
            files: ["a": body],
            secureSettings: """
                add_header Strict-Transport-Security "max-age=100" always; add_header X-Seen "$http_x_key" always;
                location = /down { return 302 http://localhost:$server_port/a; }
                """)
        let folder = try TemporaryDirectory()
        func downloader(_ store: HSTSStore?) -> ImageDownloader {
            makeDownloader {
                $0.tls = .authorities(server.certificates.authority)
                $0.hsts = store
                $0.headers["X-Key"] = "secret"
            }
        }
        let url = server.secureURL("/down")
        #expect(await downloader(nil).failure(url)?.network?.reason == .redirectNotAllowed)
        // The redirect response itself carries the policy.
        let store = HSTSStore()
        let response = try await downloader(store).load(url)
        #expect(response.body == body && response.url == server.secureURL("/a"))
        #expect(response.httpResponse?.headers["X-Seen"] == "secret")
        try store.save(to: URL(filePath: folder.file("hsts")))
        let later = HSTSStore()
        try later.load(from: URL(filePath: folder.file("hsts")))
        var parts = try #require(URLComponents(url: server.secureURL("/a"), resolvingAgainstBaseURL: false))
        parts.scheme = "http"
        let plain = try #require(parts.url)
        let secured = try await downloader(later).load(plain)
        #expect(secured.body == body && secured.url.scheme == "https")
        // nginx responds with 400 to a request without TLS.
        #expect(await downloader(nil).failure(plain)?.network?.statusCode == 400)
    }

    @Test("A redirect to another host that requires HTTPS uses HTTPS and is cross-origin")
    func otherHost() throws {
        let head = HTTPResponseHead(
            statusCode: 302, headers: HTTPHeaderFields([.init(name: "Location", value: "http://b.example:80/x")]))
        let url = try #require(URL(string: "https://a.example/"))
        let redirect = try RedirectRules(
            head, method: "GET", from: url, allowsDowngrade: false,
            strictTransport: store("b.example \"20990101 00:00:00\""))
        #expect(redirect.url.absoluteString == "https://b.example/x" && redirect.isCrossOrigin)
    }
}
