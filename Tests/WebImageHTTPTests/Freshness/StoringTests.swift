// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP

@Suite("Storing responses")
struct StoringTests {
    private func fields(_ lines: [(String, String)]) -> HTTPFields {
        HTTPFields(lines.map { .init(name: $0, value: $1) })
    }

    private func isStorable(
        _ lines: [(String, String)], status: Int = 200, method: String = "GET", request: [(String, String)] = []
    ) -> Bool {
        StoredHead.isStorable(
            method: method, request: fields(request), response: ResponseHead(status: status, fields: fields(lines)))
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

    @Test("A 304 response replaces the fields that it names, except those that describe the stored body")
    func merging() {
        let old = StoredHead(
            head: ResponseHead(
                status: 200,
                fields: fields([
                    ("Date", "old"), ("Age", "50"), ("X", "1"), ("X", "2"), ("Y", "kept"), ("Content-Length", "9"),
                    ("Content-Encoding", "gzip"), ("Content-Type", "image/png"),
                ])),
            finalURL: "https://example.org/", requestTime: .distantPast, responseTime: .distantPast)
        let time = Date(timeIntervalSince1970: 5)
        let merged = old.merging(
            notModified: ResponseHead(
                status: 304,
                fields: fields([
                    ("x", "3"), ("Content-Length", "0"), ("content-encoding", "br"), ("Content-Range", "bytes 0-1/2"),
                    ("Connection", "Z"), ("Z", "hop"), ("Content-Type", "image/webp"), ("New", "yes"),
                ])), requestTime: time, responseTime: time)
        #expect(merged.head.status == 200)
        #expect(merged.head.fields.values(of: "X") == ["3"])
        #expect(merged.head.fields["Y"] == "kept")
        #expect(merged.head.fields["Content-Length"] == "9")
        #expect(merged.head.fields["Content-Encoding"] == "gzip")
        #expect(merged.head.fields["Content-Range"] == nil)
        #expect(merged.head.fields["Content-Type"] == "image/webp")
        #expect(merged.head.fields["New"] == "yes")
        for name in ["Z", "Connection", "Age", "Date"] { #expect(merged.head.fields[name] == nil, "\(name)") }
        #expect(merged.responseTime == time)
    }

    @Test("Connection fields, the fields they name, and fields listed in no-cache aren't stored, but cookies are")
    func storedFields() {
        let stored = fields([
            ("Connection", "close, Secret"), ("secret", "x"), ("Keep-Alive", "x"), ("Transfer-Encoding", "chunked"),
            ("Set-Cookie", "a=b"), ("Cache-Control", "no-cache=\"Token\""), ("Token", "x"),
        ]).storable
        #expect(stored.lines.map(\.name) == ["Set-Cookie", "Cache-Control"])
    }

    @Test("Variants differ in the fields that Vary names, compared without insignificant whitespace")
    func vary() {
        func head(_ vary: String, _ request: [(String, String)]) -> StoredHead {
            StoredHead(
                request: fields(request), response: ResponseHead(status: 200, fields: fields([("Vary", vary)])),
                finalURL: "", requestTime: .distantPast, responseTime: .distantPast)
        }
        let stored = head("Accept, X", [("accept", "image/webp, */*"), ("X", "1"), ("Other", "no")])
        #expect(stored.varying.lines.map(\.name) == ["accept", "x"])
        #expect(stored.matches(fields([("Accept", "IMAGE/webp ,*/*"), ("x", "1")])))
        #expect(stored.matches(fields([("Accept", "image/webp"), ("Accept", "*/*"), ("x", "1")])))
        #expect(!stored.matches(fields([("Accept", "image/webp,*/*"), ("x", "2")])))
        #expect(!stored.matches(fields([("Accept", "image/webp,*/*")])))
        #expect(!head("*", []).matches(fields([])))
        #expect(head("X", []).matches(fields([])))
        #expect(!head("X", []).matches(fields([("X", "")])))
    }
}
