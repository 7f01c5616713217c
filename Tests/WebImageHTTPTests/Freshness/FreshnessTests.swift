// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP

private let now = Date(timeIntervalSince1970: 1_800_000_000)

/// Returns a response that arrived `ago` seconds before `now`. The values of `@name` fields are seconds relative to its
/// arrival.
private func stored(_ lines: [(String, String)], status: Int = 200, ago: Double = 0) -> StoredResponseHead {
    let time = now.addingTimeInterval(-ago)
    let fields = lines.map { name, value in
        name.hasPrefix("@")
            ? HTTPHeaderFields.Field(
                name: String(name.dropFirst()),
                value: HTTPDate.format(time.addingTimeInterval(Double(value) ?? 0)))
            : HTTPHeaderFields.Field(name: name, value: value)
    }
    return StoredResponseHead(
        head: HTTPResponseHead(statusCode: status, headers: HTTPHeaderFields(fields)), finalURL: "https://example.org/",
        requestTime: time, responseTime: time)
}

@Suite("Freshness")
struct FreshnessTests {
    @Test(
        "The age is the largest of the known values",
        arguments: [
            ([], 10.0), ([("Age", "100")], 110), ([("Age", "100, 5")], 110), ([("Age", "abc")], 10),
            ([("Age", "-7200")], 10), ([("Age", "7200.0")], 10), ([("Age", "")], 10),
            ([("Age", "2147483648")], 2_147_483_658), ([("Age", "99999999999999999999")], 2_147_483_658),
            ([("@Date", "-50")], 60), ([("@Date", "500")], 10), ([("@Date", "-50"), ("Age", "100")], 110),
            ([("Date", "yesterday")], 10),
        ] as [([(String, String)], Double)])
    func age(_ lines: [(String, String)], _ expected: Double) {
        #expect(stored(lines, ago: 10).age(now: now) == expected)
    }

    @Test("The response delay adds to the age, and a clock that is set back makes a response stale")
    func clocks() {
        var slow = stored([("Age", "5")])
        slow.requestTime = now.addingTimeInterval(-3)
        #expect(slow.age(now: now) == 8)
        #expect(slow.age(now: now.addingTimeInterval(-30)) == 8)
        #expect(
            !stored([("Cache-Control", "max-age=60")]).freshness(now: now.addingTimeInterval(-86_400 * 900)).isFresh)
    }

    @Test(
        "The lifetime is max-age, then Expires, then a tenth of the time since Last-Modified",
        arguments: [
            ([("Cache-Control", "max-age=60"), ("@Expires", "5")], 200, 60.0),
            ([("@Expires", "500")], 200, 500), ([("@Expires", "500"), ("@Date", "-100")], 200, 600),
            ([("Expires", "0")], 200, 0), ([("@Expires", "500"), ("@Expires", "600")], 200, 0),
            ([("@Expires", "500"), ("@Expires", "500")], 200, 500), ([("@Expires", "-500")], 200, 0),
            ([("@Last-Modified", "-1000")], 200, 100), ([("@Last-Modified", "-1000")], 404, 100),
            ([("@Last-Modified", "-1000")], 299, 0), ([("@Last-Modified", "-1000")], 302, 0),
            ([("@Last-Modified", "-1000"), ("Cache-Control", "public")], 299, 100),
            ([("@Last-Modified", "-100000000")], 200, 604_800), ([("@Last-Modified", "1000")], 200, 0),
            ([("@Last-Modified", "-1000"), ("Cache-Control", "max-age=x")], 200, 0), ([], 200, 0),
            ([("Cache-Control", "s-maxage=60")], 200, 0),
        ] as [([(String, String)], Int, Double)])
    func lifetime(_ lines: [(String, String)], _ status: Int, _ expected: Double) {
        #expect(stored(lines, status: status).freshness(now: now).lifetime == expected)
    }

    @Test("A response expires when its age reaches its lifetime")
    func expiry() {
        let head = stored([("Cache-Control", "max-age=60"), ("Age", "20")], ago: 5)
        #expect(head.expiry == now.addingTimeInterval(35))
        #expect(stored([]).expiry == nil)
    }
}

@Suite("Decisions about cached responses")
struct FreshnessDecisionTests {
    private func decision(_ control: String, ago: Double, request: String? = nil) -> FreshnessDecision {
        stored([("Cache-Control", control)], ago: ago).decision(
            for: HTTPHeaderFields(request.map { [.init(name: "Cache-Control", value: $0)] } ?? []), now: now)
    }

    @Test("Fresh responses are used unless a directive requires revalidation")
    func fresh() {
        #expect(decision("max-age=60", ago: 59) == .fresh(age: 59))
        #expect(decision("max-age=60, no-cache", ago: 1) == .mustRevalidate(age: 1))
        #expect(decision("max-age=60", ago: 1, request: "no-cache") == .mustRevalidate(age: 1))
        #expect(decision("max-age=60", ago: 5, request: "max-age=4") == .mustRevalidate(age: 5))
        #expect(decision("max-age=60", ago: 5, request: "max-age=5") == .fresh(age: 5))
        #expect(decision("max-age=60", ago: 50, request: "min-fresh=20") == .mustRevalidate(age: 50))
        #expect(
            stored([("Cache-Control", "max-age=60")]).decision(
                for: HTTPHeaderFields([.init(name: "Pragma", value: "no-cache")]), now: now) == .mustRevalidate(age: 0))
    }

    @Test("Stale responses serve only the cases that the directives allow")
    func stale() {
        func staleness(_ control: String, _ request: String? = nil) -> FreshnessDecision.StaleUse? {
            guard case .stale(let staleness) = decision("max-age=60, \(control)", ago: 70, request: request) else {
                return nil
            }
            return staleness
        }
        #expect(staleness("must-revalidate") == nil)
        #expect(staleness("x")?.seconds == 10)
        #expect(staleness("x")?.mayServeOffline == true)
        #expect(staleness("x")?.mayServeOnError == false)
        #expect(staleness("stale-if-error=9")?.mayServeOffline == false)
        #expect(staleness("stale-if-error=10")?.mayServeOnError == true)
        #expect(staleness("stale-while-revalidate=9")?.mayServeWhileRevalidating == false)
        #expect(staleness("stale-while-revalidate=10")?.mayServeWhileRevalidating == true)
        #expect(staleness("x", "max-stale")?.isAccepted == true)
        #expect(staleness("x", "max-stale=5")?.isAccepted == false)
    }

    @Test("Conditional requests repeat the validators unchanged")
    func conditions() {
        let head = stored([("ETag", "unquoted"), ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")])
        #expect(head.conditionalHeaders()["If-None-Match"] == "unquoted")
        #expect(head.conditionalHeaders()["If-Modified-Since"] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(stored([("Date", "Sun, 06 Nov 1994 08:49:37 GMT")]).conditionalHeaders().lines.isEmpty)
    }
}
