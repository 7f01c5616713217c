// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP
import WebImageTestBasics

private let now = Date(timeIntervalSince1970: 1_800_000_000)

private func part(
    _ contentRange: String, range: String = "bytes=0-0", size: Int, tag: String? = "\"a\"", status: Int = 206
) -> PartialResponse? {
    var fields = HTTPHeaderFields([.init(name: "Content-Range", value: contentRange)])
    fields["ETag"] = tag
    let head = StoredResponseHead(
        head: HTTPResponseHead(statusCode: status, headers: fields), finalURL: "http://example.org/", requestTime: now,
        responseTime: now)
    return PartialResponse(storing: head, range: range, size: size)
}

private func request(range: String) -> RequestHead {
    RequestHead(headers: HTTPHeaderFields([.init(name: "Range", value: range)]))
}

@Suite("Stored parts")
struct PartialResponseTests {
    @Test("A response is a part only if its bytes have a known position in the whole body")
    func places() {
        #expect(part("bytes 4-9/10", size: 6)?.bytes == 4..<10)
        #expect(part("bytes 4-9/10", size: 3)?.bytes == 4..<7)
        #expect(part("bytes 4-9/*", size: 6)?.total == nil)
        #expect(part("bytes 4-9/10", size: 0) == nil)
        #expect(part("bytes 4-9/10", size: 7) == nil)
        #expect(part("bytes 4-9/10", size: 6, status: 200) == nil)
        #expect(part("bytes 0-\(Int.max)/*", size: 6) == nil)
        #expect(part("bytes */10", size: 6) == nil)
    }

    @Test("A stored part records its actual bytes and is read back unchanged")
    func readsBack() throws {
        let stored = try #require(part("bytes 4-9/10", size: 3))
        #expect(stored.head.head.headers["Content-Range"] == "bytes 4-6/10")
        #expect(stored.head.head.headers["Content-Length"] == "3")
        #expect(PartialResponse(stored.head) == stored)
    }

    @Test("An identical Range value finds the part again, even with multiple ranges")
    func sameQuestion() throws {
        let stored = try #require(part("bytes 4-9/10", range: "bytes=-6,-6", size: 6))
        #expect(stored.offsets(for: request(range: "bytes=-6,-6")) == 0..<6)
        #expect(stored.offsets(for: request(range: "bytes=-6,-5")) == nil)
        #expect(stored.offsets(for: RequestHead()) == nil)
    }

    @Test("A part that covers the whole body is complete")
    func complete() {
        #expect(part("bytes 0-9/10", size: 10)?.completed?.head.statusCode == 200)
        #expect(part("bytes 0-9/10", size: 9)?.completed == nil)
        #expect(part("bytes 0-9/*", size: 10)?.completed == nil)
    }

    @Test("Joined parts always contain the bytes of the whole body", arguments: 1...20)
    func model(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let whole = Data((0..<Int.random(in: 1...40, using: &random)).map { UInt8($0) })
            func any() -> (PartialResponse, Data)? {
                let first = Int.random(in: 0..<whole.count, using: &random)
                let last = Int.random(in: first..<whole.count, using: &random)
                let tells = Bool.random(using: &random)
                let body = whole[first...last]
                return part("bytes \(first)-\(last)/\(tells ? "\(whole.count)" : "*")", size: body.count).map {
                    ($0, Data(body))
                }
            }
            var (current, body) = try #require(any())
            for _ in 0..<6 {
                let (newer, newerBody) = try #require(any())
                let touches =
                    current.bytes.lowerBound <= newer.bytes.upperBound
                    && newer.bytes.lowerBound <= current.bytes.upperBound
                guard let joined = current.joined(body, with: newer, newerBody) else {
                    #expect(!touches)
                    continue
                }
                #expect(touches)
                guard joined.head.head.statusCode == 206 else {
                    #expect(joined.body == whole)
                    break
                }
                current = try #require(PartialResponse(joined.head))
                body = joined.body
                #expect(body == whole[current.bytes])
                let first = Int.random(in: 0..<whole.count, using: &random)
                let last = Int.random(in: first..<whole.count, using: &random)
                let offsets = current.offsets(for: request(range: "bytes=\(first)-\(last)"))
                let holds = current.bytes.lowerBound <= first && last < current.bytes.upperBound
                #expect((offsets != nil) == holds)
                if let offsets { #expect(Data(Array(body)[offsets]) == whole[first...last]) }
            }
        }
    }

    @Test("Parts are joined only up to the size limit")
    func longest() throws {
        let limit = PartialResponse.longestJoined
        let first = try #require(part("bytes 0-\(limit - 2)/*", size: limit - 1))
        let last = try #require(part("bytes \(limit - 1)-\(limit - 1)/*", size: 1))
        let tooMuch = try #require(part("bytes \(limit - 1)-\(limit)/*", size: 2))
        let body = Data(count: limit - 1)
        #expect(first.joined(body, with: last, Data(count: 1))?.body.count == limit)
        #expect(first.joined(body, with: tooMuch, Data(count: 2)) == nil)
    }

    @Test("Parts with weak, different, or missing entity tags aren't joined", arguments: ["W/\"a\"", "\"b\"", nil])
    func tags(tag: String?) throws {
        let first = try #require(part("bytes 0-3/10", size: 4))
        let second = try #require(part("bytes 4-7/10", size: 4, tag: tag))
        #expect(first.joined(Data(count: 4), with: second, Data(count: 4)) == nil)
        #expect(second.joined(Data(count: 4), with: first, Data(count: 4)) == nil)
        #expect(first.joined(Data(count: 3), with: first, Data(count: 4)) == nil)
    }
}

@Suite("Responses to POST")
struct PostTests {
    private func serves(
        _ lines: [(String, String)], status: Int = 200, url text: String = "http://example.org/a?b"
    ) throws -> Bool {
        let url = try #require(URL(string: text))
        return StoredResponseHead.canServeGet(
            post: url,
            response: HTTPResponseHead(
                statusCode: status, headers: HTTPHeaderFields(lines.map { .init(name: $0, value: $1) })))
    }

    @Test("Only a 200 response with a lifetime and a Content-Location equal to the URL serves GET")
    func rule() throws {
        for location in ["http://example.org/a?b", "/a?b", "a?b", "?b", "//example.org/a?b"] {
            #expect(try serves([("Content-Location", location), ("Cache-Control", "max-age=5")]))
        }
        #expect(try serves([("Content-Location", "/a?b"), ("Expires", "0")]))
        for location in ["/a", "/a?c", "https://example.org/a?b", "http://example.com/a?b", "\u{1}"] {
            #expect(try !serves([("Content-Location", location), ("Cache-Control", "max-age=5")]))
        }
        #expect(try !serves([("Content-Location", "/a?b")]))
        #expect(try !serves([("Cache-Control", "max-age=5")]))
        #expect(try !serves([("Content-Location", "/a?b"), ("Cache-Control", "max-age=5")], status: 201))
        for (location, url) in [("/a%20b c?d", "http://example.org/a%20b%20c?d"), ("/a?'", "http://example.org/a?'")] {
            #expect(try serves([("Content-Location", location), ("Cache-Control", "max-age=5")], url: url), "\(url)")
        }
    }
}
