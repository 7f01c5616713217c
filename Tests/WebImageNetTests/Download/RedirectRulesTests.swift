// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting

@testable import WebImageNet

@Suite("Redirects", .timeLimit(.minutes(5)))
struct RedirectRulesTests {
    let body = patternBytes(1_000)

    @Test("All kinds of redirects are followed and reported with the final URL", arguments: [301, 302, 303, 307, 308])
    func kinds(_ status: Int) async throws {
        let server = try LoopbackServer(routes: [
            "/1": .redirect(status, to: "/x/../2?a=b"), "/2": .redirect(status, to: "3#part"), "/3": .ok(body),
        ])
        let log = ReportLog()
        let response = try await makeDownloader().load(LoadRequest(url: server.url("/1")), context: log.context())
        #expect(response.body == body && log.body == body && log.started == 1 && log.status == 200)
        #expect(response.url == server.url("/3#part"))
        #expect(response.metrics.redirectCount == 2)
        #expect(server.requests.map(\.target) == ["/1", "/2?a=b", "/3"])
        #expect(server.counters.connections == 1)
    }

    @Test("A redirect loop and an endless chain of redirects end quickly")
    func loops() async throws {
        let loop = try LoopbackServer(routes: ["/1": .redirect(to: "/2"), "/2": .redirect(to: "/1")])
        #expect(await makeDownloader().failure(loop.url("/1"))?.network?.reason == .tooManyRedirects)
        #expect(loop.counters.requests == 2)
        let endless = try LoopbackServer { .redirect(to: "/\($0.index + 1)") }
        #expect(await makeDownloader().failure(endless.url("/0"))?.network?.reason == .tooManyRedirects)
        #expect(endless.counters.requests == 21)
        let none = makeDownloader { $0.maxRedirects = 0 }
        #expect(await none.failure(endless.url("/x"))?.network?.reason == .tooManyRedirects)
    }

    /// Returns `url` with a user name and a password.
    private func signed(_ url: URL) throws -> URL {
        var parts = try #require(URLComponents(url: url, resolvingAgainstBaseURL: true))
        parts.user = "user"
        parts.password = "secret"
        return try #require(parts.url)
    }

    @Test("A user name and a password in a Location aren't sent to another origin and are never shown")
    func credentialsInLocation() async throws {
        let second = try LoopbackServer(routes: ["/b": .ok(body), "/c": .status(404)])
        let to = (try signed(second.url("/b")).absoluteString, try signed(second.url("/c")).absoluteString)
        let first = try LoopbackServer { [body] request in
            switch request.path {
            case "/far": .redirect(to: to.0)
            case "/missing": .redirect(to: to.1)
            case "/ftp": .redirect(to: "ftp://user:secret@example.org/")
            default: .ok(body)
            }
        }
        #expect(try await makeDownloader().load(first.url("/far")).url == second.url("/b"))
        #expect(second.requests.map { $0.headers["Authorization"] } == [nil])
        let missing = await makeDownloader().failure(first.url("/missing"))?.network
        #expect(missing?.statusCode == 404 && missing?.url.absoluteString == second.url("/c").absoluteString)
        let refused = await makeDownloader().failure(first.url("/ftp"))
        #expect(
            refused?.network?.reason == .redirectNotAllowed && "\(refused?.message ?? "")".contains("secret") == false)
    }

    @Test("The caller's own user name and password are sent and aren't shown")
    func credentialsInURL() async throws {
        let server = try LoopbackServer { [body] request in
            request.path == "/a" ? .redirect(to: "/b") : .ok(body)
        }
        let response = try await makeDownloader().load(try signed(server.url("/a")))
        #expect(response.url == server.url("/b"))
        let sent = "Basic " + Data("user:secret".utf8).base64EncodedString()
        #expect(server.requests.map { $0.headers["Authorization"] } == [sent, sent])
    }

    @Test("The followed redirects are reported so that the cached response doesn't outlive them")
    func reported() async throws {
        let server = try LoopbackServer(routes: [
            "/1": .redirect(302, to: "/2").with { $0.headers.append(name: "Cache-Control", value: "max-age=60") },
            "/2": .redirect(307, to: "/3"), "/3": .ok(body),
        ])
        let redirects = try await makeDownloader().load(server.url("/1")).redirects
        #expect(redirects.map(\.head.statusCode) == [302, 307])
        #expect(redirects.map(\.finalURL) == ["/1", "/2"].map { server.url($0).absoluteString })
        #expect(redirects.first?.head.headers["Cache-Control"] == "max-age=60")
        #expect(try await makeDownloader().load(server.url("/3")).redirects.isEmpty)
    }

    @Test("Secret header fields are sent only to the first origin, and harmless fields to all origins")
    func secrets() async throws {
        let second = try LoopbackServer(routes: ["/b": .ok(body)])
        let first = try LoopbackServer(routes: [
            "/same": .redirect(to: "/a"), "/a": .redirect(to: second.url("/b").absoluteString),
        ])
        let downloader = makeDownloader { $0.headers = HTTPHeaderFields([.init(name: "X-Api-Key", value: "s")]) }
        _ = try await downloader.load(first.url("/same")) {
            $0.headers = HTTPHeaderFields([
                .init(name: "Authorization", value: "s"), .init(name: "Cookie", value: "s"),
                .init(name: "Accept-Language", value: "de"),
            ])
        }
        let secret = ["Authorization", "Cookie", "X-Api-Key"]
        #expect(first.requests.count == 2)
        for request in first.requests { #expect(secret.allSatisfy { request.headers[$0] == "s" }) }
        let far = try #require(second.requests.first)
        #expect(secret.allSatisfy { far.headers[$0] == nil })
        #expect(
            far.headers["Accept-Language"] == "de" && far.headers["User-Agent"] == "WebImage/\(ProductVersion.current)")
    }

    @Test("Other schemes throw", arguments: ["file:///etc/passwd", "ftp://127.0.0.1/a", "data:,a", "gopher://a"])
    func schemes(_ location: String) async throws {
        let server = try LoopbackServer(routes: ["/a": .redirect(to: location)])
        let error = await makeDownloader().failure(server.url("/a"))
        #expect(error?.network?.reason == .redirectNotAllowed && error?.network?.statusCode == 302)
    }

    @Test("A redirect without a Location throws a status error")
    func withoutPlace() async throws {
        let server = try LoopbackServer(routes: ["/a": .status(302), "/b": .redirect(to: ""), "/c": .status(300)])
        for path in ["/a", "/b", "/c"] {
            #expect(await makeDownloader().failure(server.url(path))?.network?.reason == .unacceptableStatusCode)
        }
    }

    @Test("The body of a redirect is ignored and doesn't delay the next request")
    func bodies() async throws {
        let gate = TestGate()
        let server = try LoopbackServer(routes: [
            "/big": .redirect(to: "/a").with { $0.body = Data(count: 1_000_000) },
            "/slow": .redirect(to: "/a").with { $0.bodyGate = gate },
            "/cut": .redirect(to: "/a").with {
                $0.body = patternBytes(1_000)
                $0.truncatesBodyAfter = 10
            },
            "/a": .ok(body),
        ])
        let downloader = makeDownloader()
        for path in ["/big", "/slow", "/cut"] { #expect(try await downloader.load(server.url(path)).body == body) }
        gate.open()
    }

    @Test("A Location with spaces and raw UTF-8 is percent-encoded")
    func rawLocation() async throws {
        let raw = "HTTP/1.1 302 F\r\nLocation: /a b/\u{fc}\u{65e5}\r\nContent-Length: 0\r\n\r\n"
        let server = try LoopbackServer { [body] in $0.index == 0 ? .raw(Data(raw.utf8)) : .ok(body) }
        #expect(try await makeDownloader().load(server.url("/")).body == body)
        #expect(server.requests.last?.target == "/a%20b/%C3%BC%E6%97%A5")
    }

    @Test("A redirect from HTTPS to HTTP is rejected unless allowed, and another port is another origin")
    func downgrade() throws {
        let secure = try #require(URL(string: "https://a.example/x"))
        let head = HTTPResponseHead(
            statusCode: 302, headers: HTTPHeaderFields([.init(name: "Location", value: "http://a.example/x")]))
        #expect(throws: RedirectRules.Refusal.refused("the redirect leads from HTTPS to http://a.example/x")) {
            try RedirectRules(head, method: "GET", from: secure, allowsDowngrade: false)
        }
        let allowed = try RedirectRules(head, method: "GET", from: secure, allowsDowngrade: true)
        #expect(allowed.isCrossOrigin)
        for (location, isCross) in [
            ("https://A.example:443/y", false), ("https://a.example:444/y", true), ("//b.example/", true),
            ("?q", false),
        ] {
            let head = HTTPResponseHead(
                statusCode: 302, headers: HTTPHeaderFields([.init(name: "Location", value: location)]))
            let redirect = try RedirectRules(head, method: "GET", from: secure, allowsDowngrade: false)
            #expect(redirect.isCrossOrigin == isCross, "\(location)")
        }
    }

    @Test("A Location with backslashes or missing slashes leads to the same host as in browsers")
    func unusualSlashes() throws {
        let page = try #require(URL(string: "http://a.example/x/y"))
        func target(_ location: String) throws -> RedirectRules {
            let head = HTTPResponseHead(statusCode: 302, headers: ["Location": location])
            return try RedirectRules(head, method: "GET", from: page, allowsDowngrade: false)
        }
        for (location, expected) in [
            ("\\\\b.example\\c d", "http://b.example/c%20d"), ("/\\b.example/", "http://b.example/"),
            ("///b.example/", "http://b.example/"),
            ("http:\\\\b.example\\@c.example/", "http://b.example/@c.example/"),
            ("https:b.example", "https://b.example"), ("http:b.example", "http://a.example/x/b.example"),
            ("\\b.example", "http://a.example/b.example"), ("//us er:p%40s@b.example/", "http://b.example/"),
            ("//b\u{c3}\u{bc}cher.example/\u{fc}", "http://xn--bcher-kva.example/%FC"),
            ("//127.0.0.1\\@b.example/", "http://127.0.0.1/@b.example/"),
        ] {
            let redirect = try target(location)
            #expect(redirect.url.absoluteString == expected, "\(location)")
            #expect(redirect.isCrossOrigin == (redirect.url.host() != "a.example"), "\(location)")
        }
        for location in ["//", "http://b.example:99999/", "//a b/", "//a\u{7f}b/", " "] {
            #expect(throws: RedirectRules.Refusal.none) { try target(location) }
        }
    }

    @Test("The address policy applies to the host of a Location with backslashes")
    func policy() async throws {
        let second = try LoopbackServer(routes: ["/b": .ok(body)])
        let first = try LoopbackServer { _ in .redirect(to: "\\\\127.0.0.1:\(second.port)\\b") }
        #expect(try await makeDownloader().load(first.url("/a")).url == second.url("/b"))
        var configuration = ImageDownloader.Configuration()
        configuration.addressPolicy = .publicOnly
        let page = try #require(URL(string: "http://a.example/x"))
        for location in ["\\\\127.0.0.1\\@b.example/", "/\\127.1/", "http:\\\\0x7f.1/", "///[::1]/", "//local\thost/"] {
            let head = HTTPResponseHead(statusCode: 302, headers: ["Location": location])
            let redirect = try RedirectRules(head, method: "GET", from: page, allowsDowngrade: false)
            #expect(RequestChecks.refusal(redirect.url, configuration) != nil, "\(location)")
        }
    }

    @Test(
        "A 303 response changes every method to GET, and 301 and 302 change only POST",
        arguments: [
            (301, "POST", true), (302, "POST", true), (303, "POST", true), (303, "PUT", true), (307, "POST", false),
            (308, "POST", false), (302, "PUT", false), (303, "HEAD", false), (303, "GET", false),
        ])
    func methods(status: Int, method: String, becomesGet: Bool) throws {
        let head = HTTPResponseHead(
            statusCode: status, headers: HTTPHeaderFields([.init(name: "Location", value: "/b")]))
        let url = try #require(URL(string: "http://a.example/a"))
        #expect(try RedirectRules(head, method: method, from: url, allowsDowngrade: false).becomesGet == becomesGet)
    }

    @Test("The time for redirects counts against the total timeout")
    func totalTime() async throws {
        let server = try LoopbackServer { .redirect(to: "/\($0.index + 1)").with { $0.bytesPerSecond = 500 } }
        let error = await makeDownloader { $0.maxRedirects = 20 }.failure(server.url("/0")) {
            $0.timeouts = LoadTimeouts(connect: 5, idle: 5, total: 0.4)
        }
        #expect(error?.network?.reason == .timedOut && error?.network?.phase == .total)
    }
}
