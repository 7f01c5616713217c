// SPDX-License-Identifier: MIT

import WebImageHTTP
import WebImageNet

/// Rules for freshness lifetimes and ages (RFC 9111, section 4.2).
let freshnessCases: [CacheCase] =
    [
        CacheCase(
            "max-age is the freshness lifetime",
            [
                .get(.network, "200 | Cache-Control: max-age=60"), .get(.cache, after: 59), .get(.network, after: 1),
            ]),
        CacheCase(
            "max-age=0 is stale immediately",
            [
                .get(.network, "200 | Cache-Control: max-age=0"), .get(.network),
            ]),
        CacheCase(
            "max-age overrides an Expires in the past",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Expires: 0"), .get(.cache),
            ]),
        CacheCase(
            "max-age=0 overrides an Expires in the future",
            [
                .get(.network, "200 | Cache-Control: max-age=0 | @Expires: 500"), .get(.network),
            ]),
        CacheCase(
            "s-maxage has no effect in a private cache",
            [
                .get(.network, "200 | Cache-Control: s-maxage=60"), .get(.network),
            ]),
        CacheCase(
            "s-maxage doesn't shorten max-age",
            [
                .get(.network, "200 | Cache-Control: s-maxage=1, max-age=60"), .get(.cache, after: 30),
            ]),
        CacheCase(
            "A private response is stored",
            [
                .get(.network, "200 | Cache-Control: private, max-age=60"), .get(.cache),
            ]),
        CacheCase(
            "Expires in the future is fresh",
            [
                .get(.network, "200 | @Expires: 100 | @Date: 0"), .get(.cache, after: 99), .get(.network, after: 1),
            ]),
        CacheCase(
            "Expires is relative to Date",
            [
                .get(.network, "200 | @Expires: 100 | @Date: -50"), .get(.cache, after: 99), .get(.network, after: 2),
            ]),
        CacheCase(
            "Expires equal to Date is stale",
            [
                .get(.network, "200 | @Expires: 0 | @Date: 0"), .get(.network),
            ]),
        CacheCase(
            "Age reduces the freshness lifetime",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Age: 50"), .get(.cache, after: 9),
                .get(.network, after: 1),
            ]),
        CacheCase(
            "An old Date counts as age",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | @Date: -55"), .get(.cache, after: 4),
                .get(.network, after: 1),
            ]),
        CacheCase(
            "A Date in the future doesn't reduce the age",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | @Date: 500"), .get(.cache, after: 59),
                .get(.network, after: 1),
            ]),
        CacheCase(
            "The heuristic lifetime is a tenth of the time since Last-Modified",
            [
                .get(.network, "200 | @Last-Modified: -1000 | @Date: 0"), .get(.cache, after: 99),
                .get(.revalidated, "304", after: 1),
            ]),
        CacheCase(
            "The heuristic lifetime is at most seven days",
            [
                .get(.network, "200 | @Last-Modified: -1000000000"), .get(.cache, after: 604_799),
                .get(.revalidated, "304", after: 2),
            ]),
        CacheCase("Without Last-Modified, there's no heuristic freshness", [.get(.network, "200"), .get(.network)]),
        CacheCase(
            "Heuristic freshness can be disabled", policy: with { $0.usesHeuristicFreshness = false },
            [
                .get(.network, "200 | @Last-Modified: -1000000"), .get(.revalidated, "304"),
            ]),
        CacheCase(
            "A default lifetime applies if the response specifies none",
            policy: with { $0.defaultLifetime = .seconds(30) },
            [
                .get(.network, "200"), .get(.cache, after: 29), .get(.network, after: 1),
            ]),
        CacheCase(
            "Responses from the cache have an increasing Age",
            [
                .get(.network, "200 | Cache-Control: max-age=600"), .get(.cache, after: 10, has: "Age: 10"),
                .get(.cache, after: 20, has: "Age: 30"),
            ]),
        CacheCase(
            "The generated Age includes the received Age once",
            [
                .get(.network, "200 | Cache-Control: max-age=600 | Age: 100"), .get(.cache, after: 10, has: "Age: 110"),
            ]),
        CacheCase(
            "Date isn't changed",
            [
                .get(.network, "200 | Cache-Control: max-age=600 | Date: Fri, 15 Jan 2027 08:00:00 GMT"),
                .get(.cache, after: 10, has: "Date: Fri, 15 Jan 2027 08:00:00 GMT"),
            ]),
        CacheCase(
            "URLs with different queries have different responses",
            [
                .get(.network, "200 | Cache-Control: max-age=60", path: "/q?a=1"),
                .get(.network, "200 | Cache-Control: max-age=60", path: "/q?a=2"), .get(.cache, path: "/q?a=1"),
                .get(.network, path: "/q"),
            ]),
        CacheCase(
            "URLs that differ only in their fragments have the same response",
            [
                .get(.network, "200 | Cache-Control: max-age=60", path: "/f#a"),
                .get(.cache, path: "/f#b", body: "answer 0"),
            ]),
        CacheCase(
            "Directives are case-insensitive",
            [
                .get(.network, "200 | cache-control: MaX-aGe=60"), .get(.cache),
            ]),
        CacheCase(
            "Unknown directives have no effect",
            [
                .get(.network, "200 | Cache-Control: foo, bar=\"max-age=0, no-store\", max-age=60"), .get(.cache),
            ]),
        CacheCase(
            "Directives on several lines are combined",
            [
                .get(.network, "200 | Cache-Control: foo | Cache-Control: max-age=60"), .get(.cache),
            ]),
        CacheCase(
            "The shorter of contradictory max-age values applies",
            [
                .get(.network, "200 | Cache-Control: max-age=60, max-age=1"), .get(.network, after: 2),
            ]),
    ]
    + [
        "abc", "-7200", "7200.0", "", "7200x", "\"7200\"",
    ].map { age in
        CacheCase(
            "An Age that isn't a number is ignored: \(age)",
            [
                .get(.network, "200 | Cache-Control: max-age=3600 | Age: \(age)"),
                .get(.cache, after: 10, has: "Age: 10"),
            ])
    }
    + [
        ("7200", false), ("0, 7200", true), ("7200, 0", false), ("2147483648", false), ("99999999999999999999", false),
        ("0", true),
    ].map { age, isFresh in
        CacheCase(
            "The first number of Age applies: \(age)",
            [
                .get(.network, "200 | Cache-Control: max-age=3600 | Age: \(age)"), .get(isFresh ? .cache : .network),
            ])
    }
    + ["60, max-age", "x", "", "-60", "1.5", "'60'", "60s"].map { value in
        CacheCase(
            "A max-age that isn't a number is stale: \(value)",
            [
                .get(.network, "200 | Cache-Control: max-age=\(value) | @Expires: 500"), .get(.network),
            ])
    }
    + [
        "0", "-1", "Thu, 18 Aug 2050 02:01:18 PST", "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 50 02:01:18 GMT",
        "Thu 18 Aug 2050 02:01:18 GMT", "Thu,  18  Aug  2050 02:01:18 GMT", "Thu, 18-Aug-2050 02:01:18 GMT",
        "Thu, 18 Aug 2050 02.01.18 GMT", "Thu, 18 Aug 2050 2:01:18 GMT", "Thu, 18 Aug 2050 02:01:18", "",
        "Thu, 18 Aug 2050 02:01:18 GMT | Expires: Thu, 18 Aug 2050 02:01:19 GMT",
    ].map { date in
        CacheCase(
            "An invalid Expires is in the past: \(date)",
            [
                .get(.network, "200 | Expires: \(date)"), .get(.network),
            ])
    }
    + [
        "Thu, 18 Aug 2050 02:01:18 GMT", "thu, 18 aug 2050 02:01:18 gmt", "THU, 18 AUG 2050 02:01:18 GMT",
        "Thursday, 18-Aug-50 02:01:18 GMT", "Thu Aug 18 02:01:18 2050",
    ].map { date in
        CacheCase(
            "An Expires in one of the three forms is parsed, regardless of case: \(date)",
            [
                .get(.network, "200 | Expires: \(date)"), .get(.cache),
            ])
    }
    + [200, 203, 204, 299, 300, 301, 302, 303, 307, 308, 400, 404, 410, 414, 499, 500, 501, 502, 503, 504, 599].map {
        (status: Int) in
        CacheCase(
            "Status \(status) is stored with explicit freshness and isn't used when it's stale",
            [
                .get(.network, "\(status) | Cache-Control: max-age=60"),
                .get(.cache, after: 59, status: status, body: status == 204 ? "" : "answer 0"),
                .get(.network, after: 2),
            ])
    }
    + [200, 203, 300, 301, 308, 404, 405, 410, 414, 501].map { (status: Int) in
        CacheCase(
            "Status \(status) has heuristic freshness",
            [
                .get(.network, "\(status) | @Last-Modified: -10000"),
                .get(.cache, after: 10, status: status, body: "answer 0"),
            ])
    }
    + [201, 299, 302, 303, 307, 400, 403, 499, 500, 502, 503, 504, 599].map { (status: Int) in
        CacheCase(
            "Status \(status) has no heuristic freshness",
            [
                .get(.network, "\(status) | @Last-Modified: -10000"), .get(.network),
            ])
    }
    + [201, 302, 403, 599].map { (status: Int) in
        CacheCase(
            "Status \(status) with public has heuristic freshness",
            [
                .get(.network, "\(status) | @Last-Modified: -10000 | Cache-Control: public"),
                .get(.cache, status: status, body: "answer 0"),
            ])
    }

/// Returns the default policy with a change applied.
func with(_ change: (inout HTTPCachePolicy) -> Void) -> HTTPCachePolicy {
    var policy = HTTPCachePolicy()
    change(&policy)
    return policy
}
