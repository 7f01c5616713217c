// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP

@Suite("Storing responses")
struct StoringTests {
    private func headers(_ lines: [(String, String)]) -> HTTPHeaderFields {
        HTTPHeaderFields(lines.map { .init(name: $0, value: $1) })
    }

    private func isStorable(
        _ lines: [(String, String)], status: Int = 200, method: String = "GET", request: [(String, String)] = []
    ) -> Bool {
        StoredResponseHead.isStorable(
            method: method, request: headers(request),
            response: HTTPResponseHead(statusCode: status, headers: headers(lines)))
    }

    @Test("A private cache stores the responses that RFC 9111, section 3 allows")
    func storable() {
        #expect(isStorable([]))
        #expect(isStorable([("Cache-Control", "private")], status: 599))
        #expect(isStorable([("Cache-Control", "max-age=5")], status: 299))
        #expect(isStorable([("Expires", "0")], status: 302))
        #expect(isStorable([("Cache-Control", "no-cache")]))
        #expect(isStorable([("Cache-Control", "no-store, must-understand, max-age=5")]))
        #expect(isStorable([], request: [("Authorization", "Basic x")]))
        #expect(!isStorable([("Cache-Control", "no-store, must-understand, max-age=5")], status: 299))
        #expect(!isStorable([("Cache-Control", "no-store, max-age=5")]))
        #expect(!isStorable([], request: [("Cache-Control", "no-store")]))
        #expect(!isStorable([], status: 302))
        #expect(!isStorable([], status: 500))
        #expect(!isStorable([("Cache-Control", "max-age=5")], status: 206))
        #expect(!isStorable([("Cache-Control", "max-age=5")], status: 304))
        #expect(!isStorable([("Cache-Control", "max-age=5")], status: 103))
        #expect(!isStorable([("Vary", "Accept, *")]))
        #expect(!isStorable([], method: "POST"))
        #expect(!isStorable([], method: "HEAD"))
    }

    @Test("A name that Vary repeats selects the response once")
    func repeatedVary() {
        let request = headers([("Accept", "image/webp"), ("X", "1")])
        let stored = StoredResponseHead(
            request: request,
            response: HTTPResponseHead(
                statusCode: 200, headers: headers([("Vary", "Accept, accept, X"), ("Vary", "x")])),
            finalURL: "https://example.org/", requestTime: .distantPast, responseTime: .distantPast)
        #expect(stored.matches(request))
        #expect(!stored.matches(headers([("Accept", "image/webp"), ("X", "2")])))
    }

    @Test("A 304 response replaces the fields that it names, except those that describe the stored body")
    func merging() {
        let old = StoredResponseHead(
            head: HTTPResponseHead(
                statusCode: 200,
                headers: headers([
                    ("Date", "old"), ("Age", "50"), ("X", "1"), ("X", "2"), ("Y", "kept"), ("Content-Length", "9"),
                    ("Content-Encoding", "gzip"), ("Content-Type", "image/png"),
                ])),
            finalURL: "https://example.org/", requestTime: .distantPast, responseTime: .distantPast)
        let time = Date(timeIntervalSince1970: 5)
        let merged = old.merging(
            notModified: HTTPResponseHead(
                statusCode: 304,
                headers: headers([
                    ("x", "3"), ("Content-Length", "0"), ("content-encoding", "br"), ("Content-Range", "bytes 0-1/2"),
                    ("Connection", "Z"), ("Z", "hop"), ("Content-Type", "image/webp"), ("New", "yes"),
                ])), requestTime: time, responseTime: time)
        #expect(merged.head.statusCode == 200)
        #expect(merged.head.headers.values(for: "X") == ["3"])
        #expect(merged.head.headers["Y"] == "kept")
        #expect(merged.head.headers["Content-Length"] == "9")
        #expect(merged.head.headers["Content-Encoding"] == "gzip")
        #expect(merged.head.headers["Content-Range"] == nil)
        #expect(merged.head.headers["Content-Type"] == "image/webp")
        #expect(merged.head.headers["New"] == "yes")
        for name in ["Z", "Connection", "Age", "Date"] { #expect(merged.head.headers[name] == nil, "\(name)") }
        #expect(merged.responseTime == time)
    }

    @Test("Connection fields, the fields they name, and fields listed in no-cache aren't stored, but cookies are")
    func storedFields() {
        let stored = headers([
            ("Connection", "close, Secret"), ("secret", "x"), ("Keep-Alive", "x"), ("Transfer-Encoding", "chunked"),
            ("Set-Cookie", "a=b"), ("Cache-Control", "no-cache=\"Token\""), ("Token", "x"),
        ]).storable
        #expect(stored.lines.map(\.name) == ["Set-Cookie", "Cache-Control"])
    }

    @Test("Variants differ in the fields that Vary names, compared without insignificant whitespace")
    func vary() {
        func head(_ vary: String, _ request: [(String, String)]) -> StoredResponseHead {
            StoredResponseHead(
                request: headers(request),
                response: HTTPResponseHead(statusCode: 200, headers: headers([("Vary", vary)])),
                finalURL: "", requestTime: .distantPast, responseTime: .distantPast)
        }
        let stored = head("Accept, X", [("accept", "image/webp, */*"), ("X", "1"), ("Other", "no")])
        #expect(stored.varyHeaders.lines.map(\.name) == ["accept", "x"])
        #expect(stored.matches(headers([("Accept", "IMAGE/webp ,*/*"), ("x", "1")])))
        #expect(stored.matches(headers([("Accept", "image/webp"), ("Accept", "*/*"), ("x", "1")])))
        #expect(!stored.matches(headers([("Accept", "image/webp,*/*"), ("x", "2")])))
        #expect(!stored.matches(headers([("Accept", "image/webp,*/*")])))
        #expect(!head("*", []).matches(headers([])))
        #expect(head("X", []).matches(headers([])))
        #expect(!head("X", []).matches(headers([("X", "")])))
    }
}
