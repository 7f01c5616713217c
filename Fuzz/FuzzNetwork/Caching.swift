// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import WebImageCore

@testable import WebImageHTTP

/// The targets of the cache decisions, which are pure functions of header fields.
enum Caching {
    private static let words = [
        "Cache-Control: ", "max-age=", "s-maxage=", "no-store", "no-cache", "stale-while-revalidate=",
        "stale-if-error=", "immutable", "private", "public", "must-revalidate", "only-if-cached", "max-stale",
        "min-fresh=", "Vary: ", "Accept", "Accept-Language", "Expires: ", "Date: ", "Age: ", "ETag: \"a\"",
        "If-None-Match: ", "If-Modified-Since: ", "If-Range: ", "Last-Modified: ", "Sun, 06 Nov 1994 08:49:37 GMT",
        "Range: bytes=", "Content-Range: bytes ", "Connection: ", "Pragma: no-cache", "Location: ", "===", "\n",
    ]

    static let targets = [
        FuzzTarget(
            text: "cache-decisions",
            seeds: [
                """
                Range: bytes=0-9
                ===Cache-Control: max-age=10, stale-while-revalidate="5"
                ETag: W/"a"
                Vary: Accept, *
                Content-Range: bytes 0-99/200
                ===Age: 5
                """,
                "Accept: a, b\n===Vary: Accept, accept\n===ETag: \"a\"",
            ], dictionary: words, run: decisions),
        FuzzTarget(
            text: "cache-control", maxLength: 256, seeds: ["max-age=10, private=\"a,b\", no-cache, stale-if-error=1"],
            dictionary: words, run: directives),
        FuzzTarget("parts", maxLength: 64, run: parts),
        FuzzTarget(
            text: "ranges", maxLength: 128,
            seeds: ["bytes 0-9/100", "bytes */5", "bytes=0-9", "bytes=-5", "bytes=9223372036854775807-", "120"],
            dictionary: ["bytes", "=", "-", "/", "*", "9223372036854775807"], run: ranges),
        FuzzTarget(
            text: "date", maxLength: 64,
            seeds: [
                "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
                "Tue, 29 Feb 2000 23:59:60 GMT", "Sat, 01 Jan 0000 00:00:00 GMT",
            ], dictionary: ["Feb", "29", "GMT", "9999", "0000", "-00"]
        ) { text in
            guard let date = HTTPDate.parse(text, now: Sample.now) else { return }
            require(
                HTTPDate.parse(HTTPDate.format(date), now: Sample.now) == date, "A written date can't be read.")
        },
        FuzzTarget(
            text: "lists", maxLength: 256, seeds: ["a, \"b,c\\\"\" ;q=0.5, W/\"d\", *", "\"a\", W/\"b\""], run: lists),
    ]

    /// Evaluates every decision for a request, a stored response, and a new response, which `===` separates.
    private static func decisions(_ text: String) {
        let texts = text.components(separatedBy: "===")
        guard texts.count == 3 else { return }
        let request = RequestHead(headers: Sample.fields(texts[0]))
        var response = HTTPResponseHead(statusCode: 200, headers: Sample.fields(texts[1]))
        check(request, response)
        response.statusCode = 206
        check(request, response)
        let stored = StoredResponseHead(
            request: request.headers, response: response, finalURL: Sample.page.absoluteString, requestTime: Sample.now,
            responseTime: Sample.now)
        checkMerging(stored, HTTPResponseHead(statusCode: 304, headers: Sample.fields(texts[2])))
        for target in CacheInvalidation.targets(method: "PUT", url: Sample.page, response: response) {
            require(target.host() == Sample.page.host(), "A response invalidates another host.")
        }
    }

    private static func check(_ request: RequestHead, _ response: HTTPResponseHead) {
        let stored = StoredResponseHead(
            request: request.headers, response: response, finalURL: Sample.page.absoluteString, requestTime: Sample.now,
            responseTime: Sample.now)
        let freshness = stored.freshness(now: Sample.later)
        require(freshness.age >= 0 && freshness.lifetime >= 0 && freshness.remaining.isFinite)
        if !StoredResponseHead.varyNames(response.headers).contains("*") {
            require(stored.matches(request.headers), "A response doesn't match its own request.")
        }
        for mode in HTTPCacheMode.allCases {
            let action = CacheAction.make(request, mode: mode, stored: stored, now: Sample.later)
            guard action == .use else { continue }
            require(freshness.isFresh, "A stale response is used as a fresh one.")
            require(mode == .forceCache || mode == .onlyIfCached || !stored.cacheControl.noCache)
        }
        guard stored.canServe(request) else { return }
        let size = PartialResponse(stored)?.bytes.count ?? 1_000
        let reply = CachedReply.make(to: request, from: stored, size: size, now: Sample.later)
        require(reply.body.lowerBound >= 0 && reply.body.upperBound <= size, "A reply exceeds the stored body.")
        guard reply.head.statusCode == 206 else { return }
        require(reply.head.headers["Content-Length"] == String(reply.body.count))
        guard case .bytes(let first, let last, _)? = reply.head.headers["Content-Range"].flatMap(ContentRange.init)
        else { fatalError("A partial reply has no range.") }
        require(last - first + 1 == reply.body.count, "The range of a reply contradicts its body.")
    }

    private static func checkMerging(_ stored: StoredResponseHead, _ notModified: HTTPResponseHead) {
        func merged(_ head: StoredResponseHead) -> StoredResponseHead {
            head.merging(notModified: notModified, requestTime: Sample.later, responseTime: Sample.later)
        }
        let once = merged(stored)
        require(merged(once).head == once.head, "The same 304 response changes a response twice.")
        for name in ["Content-Length", "Content-Encoding", "Content-Range"] {
            require(once.head.headers[name] == stored.head.headers[name], "A 304 response describes the body.")
        }
        let request = RequestHead(headers: stored.varyHeaders)
        let step = CacheAction.confirmation(of: stored, for: request)
        _ = RevalidationResult.make(
            .response(notModified), request: request, step: step, stored: stored, now: Sample.later)
        _ = HeadResponseEffect.make(notModified, stored: stored)
    }

    private static func directives(_ text: String) {
        let control = CacheControl(text)
        let durations = [
            control.maxAge, control.minFresh, control.maxStale, control.staleIfError, control.staleWhileRevalidate,
        ]
        for case let seconds? in durations {
            require((0...CacheControl.longest).contains(seconds), "A duration is out of range.")
        }
        require(!control.noCache || control.noCacheHeaders.isEmpty)
    }

    /// Joins parts of a body in an arbitrary order, and compares the result with the body.
    private static func parts(_ bytes: UnsafeRawBufferPointer) {
        var choices = FuzzChoices(bytes)
        let body = Data((0..<choices.number(in: 1...200)).map { UInt8($0) })
        func part(_ choices: inout FuzzChoices) -> (PartialResponse, Data)? {
            let first = choices.number(in: 0...(body.count - 1))
            let last = choices.number(in: first...(body.count - 1))
            let total = choices.isTrue() ? "\(body.count)" : "*"
            let head = HTTPResponseHead(
                statusCode: 206, headers: ["ETag": "\"a\"", "Content-Range": "bytes \(first)-\(last)/\(total)"])
            let stored = StoredResponseHead(
                head: head, finalURL: Sample.page.absoluteString, requestTime: Sample.now, responseTime: Sample.now)
            let size = choices.number(in: 1...(last - first + 1))
            return PartialResponse(storing: stored, range: "bytes=\(first)-\(last)", size: size)
                .map { ($0, body[first..<(first + size)]) }
        }
        guard var (joined, data) = part(&choices) else { fatalError("A valid part is rejected.") }
        for _ in 0..<6 {
            guard let (next, nextData) = part(&choices), let union = joined.joined(data, with: next, nextData) else {
                continue
            }
            if union.head.head.statusCode == 200 {
                require(union.body == body, "The joined parts differ from the body.")
                return
            }
            guard let whole = PartialResponse(union.head) else { fatalError("A union isn't a part.") }
            require(union.body == body[whole.bytes], "A union contains other bytes than its range.")
            (joined, data) = (whole, union.body)
        }
    }

    private static func ranges(_ text: String) {
        if case .bytes(let first, let last, let total)? = ContentRange(text) {
            require(first >= 0 && first <= last && total.map { last < $0 } ?? true)
        }
        for size in [0, 1, 1_000, Int.max] {
            guard let range = ByteRange(text)?.resolved(in: size) else { continue }
            require(range.upperBound <= size && !range.isEmpty, "A range exceeds the representation.")
        }
        if let seconds = RetryAfter.seconds(text, now: Sample.now) { require(seconds >= 0 && seconds.isFinite) }
    }

    private static func lists(_ text: String) {
        let members = ListHeaderParser.members(text)
        for member in members { _ = ListHeaderParser.unquoted(member) }
        require(ListHeaderParser.members(members.joined(separator: ",")) == members, "A list changes if it's joined.")
        for member in EntityTag.list(text) {
            guard let tag = EntityTag(member) else { continue }
            require(EntityTag(tag.description) == tag && tag.isWeaklyEqual(tag))
        }
        for name in ["accept", "accept-encoding", "x"] {
            let other = StoredResponseHead.normalized(name, members.joined(separator: " ,\t"))
            require(StoredResponseHead.normalized(name, text) == other, "Whitespace changes a normal form.")
        }
    }
}
