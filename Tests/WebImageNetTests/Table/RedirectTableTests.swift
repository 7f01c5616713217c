// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

@Suite("Rows 1–6: Redirects", .timeLimit(.minutes(5)))
struct RedirectTableTests {
    let body = patternBytes(1_000)

    /// Returns a server in which `/0` redirects to `/1` and so on, until `last` sends the body.
    private func chain(_ last: Int) throws -> LoopbackServer {
        let body = body
        return try LoopbackServer { request in
            let number = Int(request.path.dropFirst()) ?? 0
            return number < last ? .redirect(to: "/\(number + 1)") : .ok(body)
        }
    }

    @Test("Row 1: A chain of twenty redirects is followed and reported, and twenty-one are too many")
    func chains() async throws {
        let downloader = makeDownloader { $0.maxRedirects = 20 }
        let fine = try chain(20)
        let response = try await downloader.load(fine.url("/0"))
        #expect(response.body == body && response.url == fine.url("/20") && response.metrics.redirectCount == 20)
        #expect(fine.counters.requests == 21 && fine.counters.connections == 1)
        let long = try chain(21)
        let error = try #require(await downloader.failure(long.url("/0"))?.network)
        #expect(error.reason == .tooManyRedirects && error.code == 2008)
        #expect(long.counters.requests == 21)
    }

    @Test("Row 1: At most twenty redirects are followed, regardless of the configuration")
    func most() async throws {
        let endless = try chain(.max)
        let downloader = makeDownloader { $0.maxRedirects = 1_000 }
        #expect(await downloader.failure(endless.url("/0"))?.network?.reason == .tooManyRedirects)
        #expect(endless.counters.requests == 21)
    }

    @Test(
        "Row 2: A redirect loop ends when a URL repeats, and no URL is requested twice", arguments: [1, 2, 5])
    func loops(_ length: Int) async throws {
        let server = try LoopbackServer { request in
            .redirect(to: "/\(((Int(request.path.dropFirst()) ?? 0) + 1) % length)")
        }
        let error = try #require(await makeDownloader { $0.maxRedirects = 20 }.failure(server.url("/0"))?.network)
        #expect(error.reason == .tooManyRedirects && error.details == "redirect loop")
        #expect(server.requests.map(\.path) == (0..<length).map { "/\($0)" })
    }

    @Test("Row 3: Each kind of redirect is followed by GET", arguments: [301, 302, 303, 307, 308])
    func kinds(_ status: Int) async throws {
        let body = body
        let server = try LoopbackServer(routes: ["/a": .redirect(status, to: "b"), "/b": .ok(body)])
        let response = try await makeDownloader().load(server.url("/a"))
        #expect(response.body == body && response.url == server.url("/b"))
        #expect(server.requests.map(\.method) == ["GET", "GET"])
    }

    @Test("Row 3: Other 3xx statuses throw, even with a Location", arguments: [300, 304, 305, 306, 399])
    func otherKinds(_ status: Int) async throws {
        let outcome = try await outcome(.redirect(status, to: "/b"))
        #expect(
            outcome.reason == .unacceptableStatusCode && outcome.network?.statusCode == status && outcome.requests == 1)
    }

    @Test("Row 5: A redirect from HTTPS to HTTP is rejected unless it's allowed")
    func downgrade() async throws {
        let folder = try TemporaryDirectory()
        let plain = try LoopbackServer(routes: ["/a": .ok(body)])
        let location = plain.url("/a").absoluteString
        let secure = try HTTP2Server(try TestCertificates(in: URL(filePath: folder.path))) { _ in
            [.head(status: 302, headers: [("location", location)], ends: true)]
        }
        let refusing = makeDownloader { $0.tls = .authorities(secure.authority) }
        let error = try #require(await refusing.failure(secure.url("/a"))?.network)
        #expect(error.reason == .redirectNotAllowed && error.code == 2009 && error.statusCode == 302)
        #expect(plain.counters.connections == 0 && secure.requests.count == 1)
        let allowing = makeDownloader {
            $0.tls = .authorities(secure.authority)
            $0.allowsInsecureRedirects = true
        }
        #expect(try await allowing.load(secure.url("/a")).body == body)
    }

    @Test(
        "Row 6: A redirect to a scheme other than HTTP or HTTPS is rejected without a connection",
        arguments: [
            "file:///etc/passwd", "ftp://127.0.0.1/a", "gopher://127.0.0.1/", "data:image/png;base64,AAAA",
            "javascript:alert(1)", "about:blank",
        ])
    func schemes(_ location: String) async throws {
        let outcome = try await outcome(.redirect(to: location))
        #expect(outcome.reason == .redirectNotAllowed && outcome.network?.statusCode == 302 && outcome.requests == 1)
    }

    @Test(
        "Row 6: A redirect without a usable Location throws a status error",
        arguments: [nil, "", "http://", "http://[::1/"])
    func unusable(_ location: String?) async throws {
        let response = LoopbackServer.Response.status(302).with { $0.headers["Location"] = location }
        let outcome = try await outcome(response)
        #expect(outcome.reason == .unacceptableStatusCode || outcome.reason == .redirectNotAllowed)
        #expect(outcome.network?.statusCode == 302 && outcome.requests == 1)
    }

    @Test(
        "Row 6: Percent-encoded parts of a Location aren't encoded again, and raw bytes are kept",
        arguments: [
            ([0x2f, 0x61, 0x25, 0x32, 0x30, 0x62, 0x2f, 0xc3, 0xbc] as [UInt8], "/a%20b/%C3%BC"),
            (Array("/a%2Fb c?d=[e]|f%26".utf8), "/a%2Fb%20c?d=%5Be%5D%7Cf%26"), ([0x2f, 0xfc], "/%FC"),
            (Array("?q=\u{65e5}#x y".utf8), "/?q=%E6%97%A5"), (Array("\\a\\.\\%20 b".utf8), "/a/%20%20b"),
            (Array("/100%/a%20b".utf8), "/100%25/a%20b"), (Array("/a\tb/%2E%2e/c".utf8), "/c"),
            (Array("http:c?'".utf8), "/c?%27"),
        ])
    func encodedOnce(location: [UInt8], target: String) async throws {
        let body = body
        let field = Data("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ".utf8) + Data(location)
        let server = try LoopbackServer {
            $0.index == 0 ? .raw(field + Data("\r\n\r\n".utf8), ending: .keepAlive) : .ok(body)
        }
        #expect(try await makeDownloader().load(server.url("/")).body == body)
        #expect(server.requests.last?.target == target)
    }

    @Test("Row 6: The first of two Location fields counts, and its spaces and raw UTF-8 are encoded")
    func oddLocations() async throws {
        let body = body
        let two = rawResponse(
            ["HTTP/1.1 302 Found", "Location: /a b/\u{65e5}?q=\u{fc}", "Location: /c", "Content-Length: 0"],
            ending: .keepAlive)
        let server = try LoopbackServer { $0.index == 0 ? two : .ok(body) }
        #expect(try await makeDownloader().load(server.url("/")).body == body)
        #expect(server.requests.last?.target == "/a%20b/%E6%97%A5?q=%C3%BC")
        let gone = try await outcome(.redirect(to: "http://nobody.invalid/"))
        #expect(gone.reason == .cannotFindHost)
    }
}
