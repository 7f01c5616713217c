// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP
import WebImageTestBasics

private let now = Date(timeIntervalSince1970: 1_800_000_000)

private func headers(_ lines: [(String, String)]) -> HTTPHeaderFields {
    HTTPHeaderFields(lines.map { .init(name: $0, value: $1) })
}

private func stored(_ lines: [(String, String)], status: Int = 200, ago: Double = 0) -> StoredResponseHead {
    let time = now.addingTimeInterval(-ago)
    return StoredResponseHead(
        head: HTTPResponseHead(statusCode: status, headers: headers(lines)), finalURL: "http://example.org/",
        requestTime: time, responseTime: time)
}

@Suite("Steps of a private cache")
struct CacheActionTests {
    private func step(
        _ stored: StoredResponseHead?, method: String = "GET", mode: HTTPCacheMode = .default
    ) -> CacheAction {
        .make(RequestHead(method: method), mode: mode, stored: stored, now: now)
    }

    @Test("Each mode takes its own step for a fresh response, a stale response, and a cache miss")
    func modes() {
        let fresh = stored([("Cache-Control", "max-age=60"), ("ETag", "\"a\"")])
        let stale = stored([("Cache-Control", "max-age=60"), ("ETag", "\"a\"")], ago: 70)
        let condition = headers([("If-None-Match", "\"a\"")])
        let refresh = headers([("Cache-Control", "max-age=0"), ("If-None-Match", "\"a\"")])
        let reload = headers([("Pragma", "no-cache"), ("Cache-Control", "no-cache")])
        #expect(step(fresh) == .use)
        #expect(step(stale) == .revalidate(condition))
        #expect(step(nil) == .fetch(HTTPHeaderFields()))
        for copy in [fresh, stale] {
            #expect(step(copy, mode: .noCache) == .revalidate(refresh))
            #expect(step(copy, mode: .reload) == .fetch(reload))
            #expect(step(copy, mode: .noStore) == .fetch(reload))
        }
        #expect(step(nil, mode: .noCache) == .fetch(headers([("Cache-Control", "max-age=0")])))
        #expect(step(fresh, mode: .forceCache) == .use)
        #expect(step(stale, mode: .forceCache) == .useStale(revalidatesInBackground: false))
        #expect(step(nil, mode: .forceCache) == .fetch(HTTPHeaderFields()))
        #expect(step(stale, mode: .onlyIfCached) == .useStale(revalidatesInBackground: false))
        #expect(step(nil, mode: .onlyIfCached) == .gatewayTimeout)
    }

    @Test("Cached responses serve only GET and HEAD, and a forwarded HEAD request has no conditions")
    func methods() {
        let fresh = stored([("Cache-Control", "max-age=60"), ("ETag", "\"a\"")])
        #expect(step(fresh, method: "HEAD") == .use)
        #expect(step(fresh, method: "POST") == .fetch(HTTPHeaderFields()))
        #expect(step(fresh, method: "OPTIONS") == .fetch(HTTPHeaderFields()))
        #expect(step(stored([("ETag", "\"a\"")]), method: "HEAD") == .fetch(HTTPHeaderFields()))
    }

    @Test("Cache directives of the caller are sent unchanged in every mode")
    func callersWord() {
        let said = [("Cache-Control", "foo")]
        for mode in HTTPCacheMode.allCases { #expect(mode.sent(headers(said)) == headers(said)) }
    }

    @Test("The directives of the cached response determine the result of a failed request")
    func outcomes() {
        let request = RequestHead()
        func outcome(_ event: RevalidationResult.ServerResult, _ control: String) -> RevalidationResult {
            .make(
                event, request: request, step: .fetch(HTTPHeaderFields()),
                stored: stored([("Cache-Control", "max-age=60, \(control)")], ago: 70), now: now)
        }
        #expect(outcome(.unreachable, "x") == .useStale)
        #expect(outcome(.unreachable, "must-revalidate") == .fail)
        #expect(outcome(.response(HTTPResponseHead(statusCode: 503)), "stale-if-error=20") == .useStale)
        #expect(
            outcome(.response(HTTPResponseHead(statusCode: 503)), "stale-if-error=5")
                == .useResponse(updatesStored: false))
        #expect(
            outcome(.response(HTTPResponseHead(statusCode: 404)), "stale-if-error=20")
                == .useResponse(updatesStored: false))
    }
}

@Suite("Byte ranges")
struct ByteRangeTests {
    @Test(
        "A single range resolves to its bytes within the whole body",
        arguments: [
            ("bytes=0-3", 10, 0..<4), ("BYTES=2-", 10, 2..<10), ("bytes=-3", 10, 7..<10), ("bytes=-30", 10, 0..<10),
            ("bytes=9-99", 10, 9..<10), ("bytes = 1-1", 10, 1..<2), ("bytes=0-0", 1, 0..<1),
            ("bytes=0-9223372036854775807", 10, 0..<10),
        ])
    func resolved(_ text: String, _ size: Int, _ expected: Range<Int>) {
        #expect(ByteRange(text)?.resolved(in: size) == expected)
    }

    @Test("A range past the end of the body resolves to nil", arguments: ["bytes=10-", "bytes=10-20", "bytes=-0"])
    func beyond(_ text: String) throws {
        #expect(try #require(ByteRange(text)).resolved(in: 10) == nil)
        #expect(try #require(ByteRange(text)).resolved(in: 0) == nil)
    }

    @Test(
        "Multiple ranges, other units, and invalid ranges aren't parsed",
        arguments: ["bytes=0-1,3-4", "items=0-1", "bytes=3-1", "bytes=-", "bytes=", "bytes", "bytes=a-b", "bytes=+1-2"])
    func unread(_ text: String) {
        #expect(ByteRange(text) == nil)
    }

    @Test("Random text never crashes the parser, and every resolved range lies within the body")
    func fuzz() {
        var generator = SeededGenerator(seed: 9)
        let alphabet = Array("bytes=-0123456789, ,\t*x")
        for _ in 0..<5_000 {
            let tail = (0..<Int.random(in: 0..<30, using: &generator)).compactMap { _ in
                alphabet.randomElement(using: &generator)
            }
            let size = Int.random(in: 0..<50, using: &generator)
            guard let part = ByteRange("bytes=" + String(tail))?.resolved(in: size) else { continue }
            #expect(!part.isEmpty && part.lowerBound >= 0 && part.upperBound <= size)
        }
    }
}

@Suite("Variants and invalidation")
struct VariantTests {
    private func variant(_ id: String, _ names: [String], _ request: HTTPHeaderFields, at time: Double)
        -> VaryIndex.Variant
    {
        let head = StoredResponseHead(
            request: request, response: HTTPResponseHead(statusCode: 200, headers: headers(names.map { ("Vary", $0) })),
            finalURL: "", requestTime: now, responseTime: now.addingTimeInterval(time))
        return VaryIndex.Variant(id: id, stored: head)
    }

    @Test("A variant list behaves like a plain list of all responses")
    func model() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<200 {
            var list = VaryIndex()
            var plain: [(id: String, variant: VaryIndex.Variant)] = []
            for number in 0..<30 {
                let request = headers(
                    ["A", "B"].compactMap { name in
                        Bool.random(using: &generator) ? (name, "\(Int.random(in: 0..<3, using: &generator))") : nil
                    })
                let names = ["A", "B"].filter { _ in Bool.random(using: &generator) }
                let new = variant("\(number)", names, request, at: Double(number))
                let leaving = list.insert(new, request: request)
                let gone = plain.filter { $0.variant.matches(request) }.map(\.id)
                #expect(Set(leaving) == Set(gone))
                plain.removeAll { gone.contains($0.id) }
                plain.append((new.id, new))
                #expect(list.matching(request).first?.id == new.id)
                #expect(Set(list.variants.map(\.id)) == Set(plain.map(\.id)))
            }
        }
    }

    @Test("When the limit is exceeded, the oldest variant is removed")
    func limit() {
        var list = VaryIndex()
        for number in 0...VaryIndex.limit {
            let request = headers([("A", "\(number)")])
            let leaving = list.insert(variant("\(number)", ["A"], request, at: Double(number)), request: request)
            #expect(leaving == (number == VaryIndex.limit ? ["0"] : []))
        }
        #expect(list.variants.count == VaryIndex.limit)
        #expect(list.remove("1") && !list.remove("1"))
    }

    @Test("Invalidation targets the URL and the same-origin URLs that the response names")
    func invalidation() throws {
        let url = try #require(URL(string: "http://Example.org/a/b"))
        func targets(_ method: String, _ status: Int, _ lines: [(String, String)] = []) -> [String] {
            CacheInvalidation.targets(
                method: method, url: url, response: HTTPResponseHead(statusCode: status, headers: headers(lines))
            )
            .map(\.absoluteString)
        }
        #expect(targets("GET", 200).isEmpty && targets("POST", 400).isEmpty && targets("POST", 199).isEmpty)
        #expect(targets("BREW", 204) == ["http://Example.org/a/b"])
        #expect(
            targets("POST", 201, [("Location", "c"), ("Content-Location", "http://example.org:80/d")]).dropFirst()
                == ["http://Example.org/a/c", "http://example.org:80/d"])
        #expect(targets("POST", 201, [("Location", "https://example.org/c"), ("Content-Location", "//x/")]).count == 1)
        #expect(targets("POST", 201, [("Location", "\\c%20d e")]).contains("http://Example.org/c%20d%20e"))
        // A stored URL can contain the character as it is or encoded.
        #expect(
            targets("POST", 201, [("Location", "?'")]).dropFirst()
                == ["http://Example.org/a/b?'", "http://Example.org/a/b?%27"])
    }
}
