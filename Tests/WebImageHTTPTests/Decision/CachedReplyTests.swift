// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP

private let now = Date(timeIntervalSince1970: 1_800_000_000)

private func fields(_ lines: [(String, String)]) -> HTTPHeaderFields {
    HTTPHeaderFields(lines.map { .init(name: $0, value: $1) })
}

private func stored(_ lines: [(String, String)], status: Int = 200) -> StoredResponseHead {
    StoredResponseHead(
        head: HTTPResponseHead(statusCode: status, headers: fields(lines)), finalURL: "http://example.org/",
        requestTime: now, responseTime: now)
}

@Suite("Replies from cached responses")
struct CachedReplyTests {
    private func reply(
        _ stored: StoredResponseHead, method: String = "GET", _ request: [(String, String)] = [], after: Double = 0
    ) -> CachedReply {
        .make(
            to: RequestHead(method: method, headers: fields(request)), from: stored, size: 10,
            now: now.addingTimeInterval(after))
    }

    @Test("A complete reply has a single Age in whole seconds, limited to the largest value")
    func age() {
        let head = stored([("Age", "5"), ("age", "9"), ("X", "1")])
        #expect(reply(head, after: 1.9).head.headers.values(for: "Age") == ["6"])
        #expect(reply(head).body == 0..<10)
        #expect(reply(head, after: 1e12).head.headers["Age"] == String(CacheControl.longest))
        #expect(reply(head, after: -1e12).head.headers["Age"] == String(CacheControl.longest))
    }

    @Test("A 304 reply keeps the fields that caches need and drops those that describe a body")
    func notModified() {
        let head = stored([
            ("ETag", "\"a\""), ("Cache-Control", "max-age=5"), ("Vary", "X"), ("Content-Type", "a/b"),
            ("Content-Length", "10"), ("Content-Location", "/x"),
        ])
        let reply = reply(head, [("If-None-Match", "\"a\"")])
        #expect(reply.head.statusCode == 304 && reply.body.isEmpty)
        #expect(
            reply.head.headers.lines.map(\.name) == ["ETag", "Cache-Control", "Vary", "Content-Location", "Age"])
    }

    @Test("Conditions and ranges apply only to responses with status 200")
    func otherStatuses() {
        let head = stored([("ETag", "\"a\"")], status: 404)
        #expect(reply(head, [("If-None-Match", "\"a\"")]).head.statusCode == 404)
        #expect(reply(head, [("Range", "bytes=0-1")]).body == 0..<10)
        #expect(!head.canServe(RequestHead(headers: fields([("Range", "bytes=0-1")]))))
    }

    @Test("Conditions take precedence over ranges, and replies to HEAD have no body")
    func precedence() {
        let head = stored([("ETag", "\"a\"")])
        #expect(reply(head, [("If-None-Match", "\"a\""), ("Range", "bytes=0-1")]).head.statusCode == 304)
        #expect(reply(head, [("If-None-Match", "\"b\""), ("Range", "bytes=0-1")]).body == 0..<2)
        #expect(reply(head, method: "HEAD", [("Range", "bytes=0-1")]).head.statusCode == 200)
        #expect(reply(head, method: "HEAD").body.isEmpty)
    }

    @Test("A HEAD response updates or outdates the cached response, depending on validators and length")
    func headEffect() {
        let copy = stored([("ETag", "\"a\""), ("Content-Length", "10")])
        func effect(_ lines: [(String, String)], status: Int = 200) -> HeadResponseEffect {
            .make(HTTPResponseHead(statusCode: status, headers: fields(lines)), stored: copy)
        }
        #expect(effect([("ETag", "\"a\""), ("Content-Length", "10")]) == .freshens)
        #expect(effect([]) == .freshens)
        #expect(effect([("ETag", "\"b\"")]) == .outdates)
        #expect(effect([("Content-Length", "11")]) == .outdates)
        #expect(effect([("Last-Modified", "x")]) == .outdates)
        #expect(effect([("ETag", "\"b\"")], status: 404) == .none)
        #expect(
            HeadResponseEffect.make(
                HTTPResponseHead(statusCode: 200, headers: fields([("Content-Length", "5")])), stored: stored([]))
                == .freshens)
    }
}
