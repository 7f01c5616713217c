// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

@Suite("Redirect policies, filters, and cookies of loads", .timeLimit(.minutes(5)))
struct HookTests {
    private let body = Data("picture".utf8)

    @Test("A redirect policy is called once for each redirect and decides on it")
    func policy() async throws {
        let second = try LoopbackServer(routes: ["/b": .ok(body)])
        let far = second.url("/b")
        let first = try LoopbackServer(routes: [
            "/1": .redirect(301, to: "/2"), "/2": .redirect(to: far.absoluteString),
        ])
        let seen = Shared<[Redirect]>([])
        let downloader = makeDownloader {
            $0.headers = HTTPHeaderFields([.init(name: "X-Api-Key", value: "s")])
            $0.redirectHandler = { proposal in
                seen.update { $0.append(proposal) }
                var fields = proposal.headers
                fields.append(name: "X-Hop", value: "\(proposal.number)")
                return .followWithHeaders(fields)
            }
        }
        #expect(try await downloader.load(first.url("/1")).body == body)
        #expect(seen.value.map(\.statusCode) == [301, 302] && seen.value.map(\.isCrossOrigin) == [false, true])
        #expect(seen.value.map(\.destination) == [first.url("/2"), far] && seen.value.map(\.number) == [1, 2])
        #expect(seen.value.map { $0.headers["X-Api-Key"] } == ["s", nil])
        #expect(first.requests.map { $0.headers["X-Hop"] } == [nil, "1"])
        #expect(second.requests.first?.headers.values(for: "X-Hop") == ["2"])
    }

    @Test("A policy can refuse a redirect or return it as the response, but can't override the rules")
    func decisions() async throws {
        let server = try LoopbackServer(routes: [
            "/1": .redirect(307, to: "/2"), "/2": .ok(body), "/f": .redirect(to: "file:///a"),
        ])
        let downloader = makeDownloader()
        let refused = await downloader.failure(server.url("/1")) {
            $0.network.redirectPolicy = { _ in .refuse(reason: "no") }
        }
        #expect(refused?.network?.reason == .redirectNotAllowed && refused?.network?.details == "no")
        let response = try await downloader.load(server.url("/1")) {
            $0.network.redirectPolicy = { _ in .returnResponse }
        }
        #expect(response.httpResponse?.statusCode == 307 && response.body.isEmpty && response.url == server.url("/1"))
        #expect(response.httpResponse?.headers["Location"] == "/2")
        let file = await downloader.failure(server.url("/f")) { $0.network.redirectPolicy = { _ in .follow } }
        #expect(file?.network?.reason == .redirectNotAllowed)
    }

    @Test("The accepted statuses can be set for all requests or for one")
    func statuses() async throws {
        let server = try LoopbackServer { [body] in
            LoopbackServer.Response(statusCode: $0.path == "/a" ? 404 : 200, body: body)
        }
        let downloader = makeDownloader { $0.acceptableStatusCodes = [200] }
        #expect(await downloader.failure(server.url("/a"))?.network?.reason == .unacceptableStatusCode)
        let response = try await downloader.load(server.url("/a")) {
            $0.network.acceptableStatusCodes = [404]
        }
        #expect(response.body == body && response.httpResponse?.statusCode == 404)
        let none = await downloader.failure(server.url("/b")) { $0.network.acceptableStatusCodes = [] }
        #expect(none?.network?.reason == .unacceptableStatusCode && none?.network?.statusCode == 200)
    }

    @Test(
        "Content types are compared without case and parameters",
        arguments: [
            ("image/png", ["image/*"], true), ("Image/PNG; q=1", ["image/png"], true),
            ("text/html", ["image/*"], false),
            ("", ["image/*"], false), ("", ["*/*"], true), ("", [], true), ("imagex/png", ["image/*"], false),
            ("image/png", ["image/jpeg", "image/png"], true), ("text/html", [], true),
        ])
    func types(type: String, patterns: [String], expected: Bool) {
        let head = HTTPResponseHead(
            statusCode: 200, headers: HTTPHeaderFields([.init(name: "Content-Type", value: type)]))
        #expect(ContentTypeFilter.accepts(head, patterns) == expected)
    }

    @Test("A content type that isn't accepted throws before the body arrives")
    func contentTypes() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { [body] request in
            request.path == "/p"
                ? .ok(body, contentType: "image/png") : .ok(body, contentType: "text/html").with { $0.bodyGate = gate }
        }
        let downloader = makeDownloader { $0.acceptableContentTypes = ["image/*"] }
        #expect(try await downloader.load(server.url("/p")).body == body)
        let error = await downloader.failure(server.url("/h"))?.network
        #expect(error?.reason == .unacceptableContentType && error?.details == "text/html" && error?.statusCode == 200)
        gate.open()
        #expect(try await downloader.load(server.url("/h")) { $0.network.acceptableContentTypes = [] }.body == body)
    }

    @Test("Cookies are sent and stored at every redirect, but not by default")
    func cookies() async throws {
        let server = try LoopbackServer { [body] request in
            if request.path == "/wall", request.headers["Cookie"] == nil {
                return .redirect(to: "/wall").with { $0.headers.append(name: "Set-Cookie", value: "pass=1; Path=/") }
            }
            return .ok(body)
        }
        #expect(await makeDownloader().failure(server.url("/wall"))?.network?.reason == .tooManyRedirects)
        let jar = CookieJar()
        let downloader = makeDownloader { $0.cookieJar = jar }
        #expect(try await downloader.load(server.url("/wall")).body == body)
        #expect(jar.cookies.map(\.name) == ["pass"])
        _ = try await downloader.load(server.url("/x")) { $0.network.cookieJar = .disabled }
        _ = try await downloader.load(server.url("/x")) {
            $0.headers = HTTPHeaderFields([.init(name: "Cookie", value: "own=1")])
        }
        _ = try await downloader.load(server.url("/x"))
        #expect(server.requests.suffix(3).map { $0.headers["Cookie"] } == [nil, "own=1", "pass=1"])
    }
}
