// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP

@Suite("Freshness of responses after redirects")
struct RedirectFreshnessTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func head(_ status: Int, _ lines: [(String, String)] = []) -> StoredResponseHead {
        StoredResponseHead(
            head: HTTPResponseHead(
                statusCode: status, headers: HTTPHeaderFields(lines.map { .init(name: $0.0, value: $0.1) })),
            finalURL: "", requestTime: now, responseTime: now)
    }

    private func image(_ redirects: StoredResponseHead...) -> StoredResponseHead {
        var head = head(200, [("Cache-Control", "max-age=600, stale-while-revalidate=600"), ("ETag", "\"a\"")])
        head.limitFreshness(byRedirects: redirects)
        return head
    }

    private func isFresh(_ head: StoredResponseHead, after seconds: Double) -> Bool {
        head.freshness(now: now.addingTimeInterval(seconds)).isFresh
    }

    @Test("A temporary redirect without explicit freshness limits the lifetime to zero", arguments: [302, 303, 307])
    func temporary(_ status: Int) {
        let head = image(head(status))
        #expect(!isFresh(head, after: 0) && head.redirectLifetime == 0)
        let step = CacheAction.make(RequestHead(method: "GET", headers: HTTPHeaderFields()), stored: head, now: now)
        guard case .revalidate = step else {
            Issue.record("\(step)")
            return
        }
    }

    @Test("A permanent redirect limits the lifetime only if its directives do", arguments: [301, 308])
    func permanent(_ status: Int) {
        #expect(isFresh(image(head(status)), after: 599) && image(head(status)).redirectLifetime == nil)
        #expect(!isFresh(image(head(status, [("Cache-Control", "no-store")])), after: 0))
        #expect(!isFresh(image(head(status, [("Cache-Control", "max-age=5")])), after: 5))
    }

    @Test("The shortest lifetime among all redirects and the response applies")
    func shortest() {
        let long = head(302, [("Cache-Control", "max-age=900")])
        let short = head(302, [("Cache-Control", "max-age=60"), ("Age", "20")])
        #expect(isFresh(image(long), after: 599) && !isFresh(image(long), after: 600))
        #expect(isFresh(image(long, short), after: 39) && !isFresh(image(long, short), after: 40))
        #expect(!isFresh(image(long, head(302, [("Cache-Control", "max-age=60, no-cache")])), after: 0))
        #expect(isFresh(image(), after: 599))
    }

    @Test("A response that outlives its redirects is served stale only if the server can't be reached")
    func stale() throws {
        guard case .stale(let staleness) = image(head(302)).decision(for: HTTPHeaderFields(), now: now) else {
            Issue.record("the response isn't stale")
            return
        }
        #expect(!staleness.mayServeWhileRevalidating && staleness.mayServeOffline)
    }

    @Test("A 304 response replaces the redirect lifetime with that of its own redirects")
    func merging() {
        var notModified = head(304)
        notModified.limitFreshness(byRedirects: [head(302, [("Cache-Control", "max-age=60")])])
        var merged = image(head(302)).merging(notModified: notModified.head, requestTime: now, responseTime: now)
        merged.limitFreshness(likeNotModified: notModified)
        #expect(merged.redirectLifetime == 60)
        let direct = merged.merging(notModified: head(304).head, requestTime: now, responseTime: now)
        #expect(direct.redirectLifetime == nil)
    }

    @Test("The redirect lifetime isn't among the header fields of the response, and encoding preserves it")
    func separateValue() throws {
        let limited = image(head(302, [("Cache-Control", "max-age=60")]))
        #expect(limited.redirectLifetime == 60)
        #expect(limited.head == image().head)
        #expect(limited != image())
        let copy = try JSONDecoder().decode(StoredResponseHead.self, from: JSONEncoder().encode(limited))
        #expect(copy == limited)
        #expect(limited.headersForFile["x-webimage-redirect-lifetime"] == "60")
    }

    @Test("A redirect lifetime that's encoded as a header field is read and removed from the header fields")
    func encodedAsField() throws {
        let limited = image(head(302, [("Cache-Control", "max-age=60")]))
        var asField = image()
        asField.head.headers = limited.headersForFile
        let copy = try JSONDecoder().decode(StoredResponseHead.self, from: JSONEncoder().encode(asField))
        #expect(copy == limited)
    }

    @Test("An invalid encoded redirect lifetime is clamped", arguments: [("1e300", "2147483648"), ("-5", "0")])
    func clampedLifetime(encoded: String, expected: String) throws {
        let limited = image(head(302, [("Cache-Control", "max-age=60")]))
        let text = String(decoding: try JSONEncoder().encode(limited), as: UTF8.self)
        let changed = text.replacing("\"redirectLifetime\":60", with: "\"redirectLifetime\":\(encoded)")
        #expect(changed != text)
        let copy = try JSONDecoder().decode(StoredResponseHead.self, from: Data(changed.utf8))
        #expect(copy.headersForFile["x-webimage-redirect-lifetime"] == expected)
    }

    @Test("A 304 response of a server can't set the redirect lifetime")
    func spoofedNotModified() {
        let notModified = head(304, [("X-WebImage-Redirect-Lifetime", "900")]).head
        let merged = image(head(302)).merging(notModified: notModified, requestTime: now, responseTime: now)
        #expect(merged.redirectLifetime == nil)
        #expect(merged.head.headers["X-WebImage-Redirect-Lifetime"] == nil)
    }

    @Test("A server's field with the name of the internal redirect field isn't stored")
    func spoofed() {
        let response = head(200, [("X-WebImage-Redirect-Lifetime", "0"), ("Cache-Control", "max-age=60")]).head
        let stored = StoredResponseHead(
            request: HTTPHeaderFields(), response: response, finalURL: "", requestTime: now, responseTime: now)
        #expect(stored.redirectLifetime == nil)
    }
}
