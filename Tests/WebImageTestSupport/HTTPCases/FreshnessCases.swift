// SPDX-License-Identifier: MIT

import WebImageHTTP
import WebImageNet

/// Rules for freshness lifetimes and ages (RFC 9111, section 4.2).
let freshnessCases: [CacheCase] =
    [
        CacheCase(
            "max-age is the lifetime",
            [
                .get(.network, "200 | Cache-Control: max-age=60"), .get(.cache, after: 59), .get(.network, after: 1),
            ]),
        CacheCase(
            "max-age=0 is stale at once",
            [
                .get(.network, "200 | Cache-Control: max-age=0"), .get(.network),
            ]),
        CacheCase(
            "max-age wins over an Expires in the past",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Expires: 0"), .get(.cache),
            ]),
        CacheCase(
            "max-age=0 wins over an Expires in the future",
            [
                .get(.network, "200 | Cache-Control: max-age=0 | @Expires: 500"), .get(.network),
            ]),
        CacheCase(
            "s-maxage means nothing to a private cache",
            [
                .get(.network, "200 | Cache-Control: s-maxage=60"), .get(.network),
            ]),
        CacheCase(
            "s-maxage does not shorten max-age",
            [
                .get(.network, "200 | Cache-Control: s-maxage=1, max-age=60"), .get(.cache, after: 30),
            ]),
        CacheCase(
            "private answers are stored",
            [
                .get(.network, "200 | Cache-Control: private, max-age=60"), .get(.cache),
            ]),
        CacheCase(
            "Expires in the future is fresh",
            [
                .get(.network, "200 | @Expires: 100 | @Date: 0"), .get(.cache, after: 99), .get(.network, after: 1),
            ]),
        CacheCase(
            "Expires counts from Date",
            [
                .get(.network, "200 | @Expires: 100 | @Date: -50"), .get(.cache, after: 99), .get(.network, after: 2),
            ]),
        CacheCase(
            "Expires equal to Date is stale",
            [
                .get(.network, "200 | @Expires: 0 | @Date: 0"), .get(.network),
            ]),
        CacheCase(
            "Age is used up before",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Age: 50"), .get(.cache, after: 9),
                .get(.network, after: 1),
            ]),
        CacheCase(
            "An old Date is an age",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | @Date: -55"), .get(.cache, after: 4),
                .get(.network, after: 1),
            ]),
        CacheCase(
            "A Date in the future does not make young",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | @Date: 500"), .get(.cache, after: 59),
                .get(.network, after: 1),
            ]),
        CacheCase(
            "A tenth of the time since Last-Modified is guessed",
            [
                .get(.network, "200 | @Last-Modified: -1000 | @Date: 0"), .get(.cache, after: 99),
                .get(.revalidated, "304", after: 1),
            ]),
        CacheCase(
            "A guess ends after seven days",
            [
                .get(.network, "200 | @Last-Modified: -1000000000"), .get(.cache, after: 604_799),
                .get(.revalidated, "304", after: 2),
            ]),
        CacheCase("Nothing is guessed without Last-Modified", [.get(.network, "200"), .get(.network)]),
        CacheCase(
            "Guessing can be off", policy: with { $0.usesHeuristics = false },
            [
                .get(.network, "200 | @Last-Modified: -1000000"), .get(.revalidated, "304"),
            ]),
        CacheCase(
            "A default lifetime holds where nothing is said", policy: with { $0.defaultLifetime = 30 },
            [
                .get(.network, "200"), .get(.cache, after: 29), .get(.network, after: 1),
            ]),
        CacheCase(
            "Answers of the cache have a growing Age",
            [
                .get(.network, "200 | Cache-Control: max-age=600"), .get(.cache, after: 10, has: "Age: 10"),
                .get(.cache, after: 20, has: "Age: 30"),
            ]),
        CacheCase(
            "The generated Age goes on from the received one, once",
            [
                .get(.network, "200 | Cache-Control: max-age=600 | Age: 100"), .get(.cache, after: 10, has: "Age: 110"),
            ]),
        CacheCase(
            "Date stays what the server said",
            [
                .get(.network, "200 | Cache-Control: max-age=600 | Date: Fri, 15 Jan 2027 08:00:00 GMT"),
                .get(.cache, after: 10, has: "Date: Fri, 15 Jan 2027 08:00:00 GMT"),
            ]),
        CacheCase(
            "URLs with different queries are different",
            [
                .get(.network, "200 | Cache-Control: max-age=60", path: "/q?a=1"),
                .get(.network, "200 | Cache-Control: max-age=60", path: "/q?a=2"), .get(.cache, path: "/q?a=1"),
                .get(.network, path: "/q"),
            ]),
        CacheCase(
            "Fragments do not tell URLs apart",
            [
                .get(.network, "200 | Cache-Control: max-age=60", path: "/f#a"),
                .get(.cache, path: "/f#b", body: "answer 0"),
            ]),
        CacheCase(
            "Directives are read in any case",
            [
                .get(.network, "200 | cache-control: MaX-aGe=60"), .get(.cache),
            ]),
        CacheCase(
            "Unknown directives do no harm",
            [
                .get(.network, "200 | Cache-Control: foo, bar=\"max-age=0, no-store\", max-age=60"), .get(.cache),
            ]),
        CacheCase(
            "Directives on several lines count together",
            [
                .get(.network, "200 | Cache-Control: foo | Cache-Control: max-age=60"), .get(.cache),
            ]),
        CacheCase(
            "Of contradicting max-age the shorter counts",
            [
                .get(.network, "200 | Cache-Control: max-age=60, max-age=1"), .get(.network, after: 2),
            ]),
    ]
    + [
        "abc", "-7200", "7200.0", "", "7200x", "\"7200\"",
    ].map { age in
        CacheCase(
            "Age that is no number is as if absent: \(age)",
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
            "The first number of Age counts: \(age)",
            [
                .get(.network, "200 | Cache-Control: max-age=3600 | Age: \(age)"), .get(isFresh ? .cache : .network),
            ])
    }
    + ["60, max-age", "x", "", "-60", "1.5", "'60'", "60s"].map { value in
        CacheCase(
            "max-age that is no number is stale: \(value)",
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
            "An Expires that breaks the rules is in the past: \(date)",
            [
                .get(.network, "200 | Expires: \(date)"), .get(.network),
            ])
    }
    + [
        "Thu, 18 Aug 2050 02:01:18 GMT", "thu, 18 aug 2050 02:01:18 gmt", "THU, 18 AUG 2050 02:01:18 GMT",
        "Thursday, 18-Aug-50 02:01:18 GMT", "Thu Aug 18 02:01:18 2050",
    ].map { date in
        CacheCase(
            "An Expires in one of the three forms, in any case, is read: \(date)",
            [
                .get(.network, "200 | Expires: \(date)"), .get(.cache),
            ])
    }
    + [200, 203, 204, 299, 300, 301, 302, 303, 307, 308, 400, 404, 410, 414, 499, 500, 501, 502, 503, 504, 599].map {
        (status: Int) in
        CacheCase(
            "Status \(status) is stored with explicit freshness, and not used when stale",
            [
                .get(.network, "\(status) | Cache-Control: max-age=60"),
                .get(.cache, after: 59, status: status, body: status == 204 ? "" : "answer 0"),
                .get(.network, after: 2),
            ])
    }
    + [200, 203, 300, 301, 308, 404, 405, 410, 414, 501].map { (status: Int) in
        CacheCase(
            "Of status \(status) a lifetime is guessed",
            [
                .get(.network, "\(status) | @Last-Modified: -10000"),
                .get(.cache, after: 10, status: status, body: "answer 0"),
            ])
    }
    + [201, 299, 302, 303, 307, 400, 403, 499, 500, 502, 503, 504, 599].map { (status: Int) in
        CacheCase(
            "Of status \(status) no lifetime is guessed",
            [
                .get(.network, "\(status) | @Last-Modified: -10000"), .get(.network),
            ])
    }
    + [201, 302, 403, 599].map { (status: Int) in
        CacheCase(
            "Of status \(status) with public a lifetime is guessed",
            [
                .get(.network, "\(status) | @Last-Modified: -10000 | Cache-Control: public"),
                .get(.cache, status: status, body: "answer 0"),
            ])
    }

/// Returns the default policy with a change applied.
func with(_ change: (inout HTTPCachePolicy) -> Void) -> HTTPCachePolicy {
    var policy = HTTPCachePolicy.standard
    change(&policy)
    return policy
}
