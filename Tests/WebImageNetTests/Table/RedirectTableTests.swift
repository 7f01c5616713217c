// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageTestSupport
import WebImageTesting

@Suite("Rows 1–6: redirects", .timeLimit(.minutes(5)))
struct RedirectTableTests {
    let body = patternBytes(1_000)

    /// `/0` leads to `/1` and so on to `/last`, which answers.
    private func chain(_ last: Int) throws -> LoopbackServer {
        let body = body
        return try LoopbackServer { request in
            let number = Int(request.path.dropFirst()) ?? 0
            return number < last ? .redirect(to: "/\(number + 1)") : .ok(body)
        }
    }

    @Test("row 1: a chain of twenty is followed to its end, which is told; twenty-one are too many")
    func chains() async throws {
        let downloader = makeDownloader { $0.maxRedirects = 20 }
        let fine = try chain(20)
        let response = try await downloader.load(fine.url("/0"))
        #expect(response.body == body && response.finalURL == fine.url("/20") && response.metrics.redirects == 20)
        #expect(fine.counters.requests == 21 && fine.counters.connections == 1)
        let long = try chain(21)
        let error = try #require(await downloader.failure(long.url("/0"))?.network)
        #expect(error.reason == .tooManyRedirects && error.code == 2008)
        #expect(long.counters.requests == 21)
    }

    @Test("row 1: no more than twenty are followed, whatever is configured")
    func most() async throws {
        let endless = try chain(.max)
        let downloader = makeDownloader { $0.maxRedirects = 1_000 }
        #expect(await downloader.failure(endless.url("/0"))?.network?.reason == .tooManyRedirects)
        #expect(endless.counters.requests == 21)
    }

    @Test(
        "row 2: a loop of any length ends when a place comes again, and nothing is asked twice", arguments: [1, 2, 5])
    func loops(_ length: Int) async throws {
        let server = try LoopbackServer { request in
            .redirect(to: "/\(((Int(request.path.dropFirst()) ?? 0) + 1) % length)")
        }
        let error = try #require(await makeDownloader { $0.maxRedirects = 20 }.failure(server.url("/0"))?.network)
        #expect(error.reason == .tooManyRedirects && error.detail == "a loop")
        #expect(server.requests.map(\.path) == (0..<length).map { "/\($0)" })
    }

    @Test("row 3: every kind is followed by GET", arguments: [301, 302, 303, 307, 308])
    func kinds(_ status: Int) async throws {
        let body = body
        let server = try LoopbackServer(routes: ["/a": .redirect(status, to: "b"), "/b": .ok(body)])
        let response = try await makeDownloader().load(server.url("/a"))
        #expect(response.body == body && response.finalURL == server.url("/b"))
        #expect(server.requests.map(\.method) == ["GET", "GET"])
    }

    @Test("row 3: other 3xx are status errors, with a Location too", arguments: [300, 304, 305, 306, 399])
    func otherKinds(_ status: Int) async throws {
        let outcome = try await outcome(.redirect(status, to: "/b"))
        #expect(outcome.reason == .status && outcome.network?.status == status && outcome.requests == 1)
    }

    @Test("row 5: from https to http is refused, and followed where it is allowed")
    func downgrade() async throws {
        let folder = try TemporaryFolder()
        let plain = try LoopbackServer(routes: ["/a": .ok(body)])
        let location = plain.url("/a").absoluteString
        let secure = try HTTP2Server(try TestCertificates(in: URL(filePath: folder.path))) { _ in
            [.head(status: 302, fields: [("location", location)], ends: true)]
        }
        let refusing = makeDownloader { $0.tls = .authorities(secure.authority) }
        let error = try #require(await refusing.failure(secure.url("/a"))?.network)
        #expect(error.reason == .redirectRefused && error.code == 2009 && error.status == 302)
        #expect(plain.counters.connections == 0 && secure.requests.count == 1)
        let allowing = makeDownloader {
            $0.tls = .authorities(secure.authority)
            $0.allowsDowngrade = true
        }
        #expect(try await allowing.load(secure.url("/a")).body == body)
    }

    @Test(
        "row 6: a redirect to something else than http and https is refused, and nothing is opened",
        arguments: [
            "file:///etc/passwd", "ftp://127.0.0.1/a", "gopher://127.0.0.1/", "data:image/png;base64,AAAA",
            "javascript:alert(1)", "about:blank",
        ])
    func schemes(_ location: String) async throws {
        let outcome = try await outcome(.redirect(to: location))
        #expect(outcome.reason == .redirectRefused && outcome.network?.status == 302 && outcome.requests == 1)
    }

    @Test(
        "row 6: without a usable Location the answer is a status error",
        arguments: [nil, "", "http://", "http://[::1/"])
    func unusable(_ location: String?) async throws {
        let response = ServerResponse.status(302).with { $0.fields["Location"] = location }
        let outcome = try await outcome(response)
        #expect(outcome.reason == .status || outcome.reason == .redirectRefused)
        #expect(outcome.network?.status == 302 && outcome.requests == 1)
    }

    @Test(
        "row 6: what is encoded in a Location is not encoded again beside what is not; bytes stay bytes",
        arguments: [
            ([0x2f, 0x61, 0x25, 0x32, 0x30, 0x62, 0x2f, 0xc3, 0xbc] as [UInt8], "/a%20b/%C3%BC"),
            (Array("/a%2Fb c?d=[e]|f%26".utf8), "/a%2Fb%20c?d=%5Be%5D%7Cf%26"), ([0x2f, 0xfc], "/%FC"),
            (Array("?q=\u{65e5}#x y".utf8), "/?q=%E6%97%A5"),
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

    @Test("row 6: of two Location lines the first counts; blanks and raw UTF-8 in it are encoded")
    func oddLocations() async throws {
        let body = body
        let two = rawAnswer(
            ["HTTP/1.1 302 Found", "Location: /a b/\u{65e5}?q=\u{fc}", "Location: /c", "Content-Length: 0"],
            ending: .keepAlive)
        let server = try LoopbackServer { $0.index == 0 ? two : .ok(body) }
        #expect(try await makeDownloader().load(server.url("/")).body == body)
        #expect(server.requests.last?.target == "/a%20b/%E6%97%A5?q=%C3%BC")
        let gone = try await outcome(.redirect(to: "http://nobody.invalid/"))
        #expect(gone.reason == .cannotFindHost)
    }
}
