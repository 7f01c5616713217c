// SPDX-License-Identifier: MIT

import WebImageHTTP
import WebImageNet

private let retainedHeaders = [
    "X-A", "Content-Foo", "X-Content-Foo", "Content-MD5", "Content-Security-Policy", "Content-Location",
    "X-Frame-Options",
    "X-XSS-Protection", "Clear-Site-Data", "Public-Key-Pins", "Content-Type",
    "Content-Language",
    "Content-Disposition",
]

private func lines(_ names: [String], _ value: String) -> String {
    names.map { "\($0): \(value)" }.joined(separator: " | ")
}

/// Rules for parsing, storing, and negotiating header fields.
let headerCases: [CacheCase] =
    [
        CacheCase(
            "Known and unknown response fields are stored, and a 304 that contains them replaces them",
            [
                .get(.network, "200 | Cache-Control: max-age=9 | ETag: \"a\" | \(lines(retainedHeaders, "one"))"),
                .get(.cache, has: lines(retainedHeaders, "one")),
                .get(.revalidated, "304", after: 10, has: lines(retainedHeaders, "one")),
                .get(
                    .revalidated, "304 | \(lines(retainedHeaders, "two"))", after: 10,
                    has: lines(retainedHeaders, "two")),
                .get(.cache, of: 0, has: lines(retainedHeaders, "two")),
            ]),
        CacheCase(
            "A 304 can change Cache-Control and Expires",
            [
                .get(.network, "200 | Cache-Control: max-age=1 | ETag: \"a\" | Expires: Fri, 01 Jan 2038 01:01:01 GMT"),
                .get(
                    .revalidated, "304 | Cache-Control: max-age=60 | Expires: Mon, 11 Jan 2038 11:11:11 GMT", after: 5,
                    has: "Cache-Control: max-age=60 | Expires: Mon, 11 Jan 2038 11:11:11 GMT"), .get(.cache, after: 50),
            ]),
        CacheCase(
            "A 304 never changes Content-Length",
            [
                .get(.network, "200 | Cache-Control: max-age=1 | ETag: \"a\" | Content-Length: 8", sends: "eight by"),
                .get(.revalidated, "304 | Content-Length: 99", after: 5, has: "Content-Length: 8"),
            ]),
        CacheCase(
            "Connection header fields for proxies and transfer aren't stored",
            [
                .get(
                    .network,
                    "200 | Cache-Control: max-age=60 | Proxy-Connection: x | Proxy-Authorization: x | Proxy-Authentication-Info: x | Trailer: x | Transfer-Encoding: chunked"
                ),
                .get(
                    .cache,
                    has:
                        "!Proxy-Connection | !Proxy-Authorization | !Proxy-Authentication-Info | !Trailer | !Transfer-Encoding"
                ),
            ]),
        CacheCase(
            "no-cache withholds all fields that it names",
            [
                .get(
                    .network,
                    "200 | Cache-Control: no-cache=\"X-A, X-B\" | Cache-Control: max-age=60 | X-A: 1 | X-B: 2 | X-C: 3"),
                .get(.cache, has: "!X-A | !X-B | X-C: 3"),
            ]),
        CacheCase(
            "must-understand with no-store and an unknown status isn't stored",
            [.get(.network, "599 | Cache-Control: max-age=60, no-store, must-understand"), .get(.network)]),
        CacheCase(
            "s-maxage on another line doesn't extend max-age",
            [.get(.network, "200 | Cache-Control: s-maxage=600 | Cache-Control: max-age=1"), .get(.network, after: 2)]),
        CacheCase(
            "An attachment is stored and has heuristic freshness",
            [
                .get(.network, "200 | @Last-Modified: -10000 | Content-Disposition: attachment; filename=a.png"),
                .get(.cache, after: 10),
            ]),
        CacheCase(
            "Stale responses have no Warning, which is obsolete",
            [
                .get(.network, "200 | Cache-Control: max-age=1"),
                .get(.staleAfterFailure, "lost", after: 5, has: "!Warning"),
            ]),
        CacheCase(
            "Expires isn't changed",
            [
                .get(.network, "200 | Expires: Fri, 01 Jan 2038 01:01:01 GMT"),
                .get(.cache, after: 50, has: "Expires: Fri, 01 Jan 2038 01:01:01 GMT"),
            ]),
        CacheCase(
            "Expires applies although Date isn't valid",
            [.get(.network, "200 | @Expires: 20 | Date: foo"), .get(.cache, after: 19), .get(.network, after: 1)]),
        CacheCase(
            "Expires before Date is stale, even if both are in the future",
            [.get(.network, "200 | @Expires: 300 | @Date: 400"), .get(.network)]),
        CacheCase(
            "Age reduces the lifetime of Expires, with a slow and with a fast Date",
            [
                .get(.network, "200 | @Expires: 10 | @Date: -10 | Age: 25"), .get(.network),
                .get(.network, "200 | @Expires: 20 | @Date: 10 | Age: 15", path: "/f"), .get(.network, path: "/f"),
            ]),
        CacheCase(
            "A POST response with the URL as its Content-Location serves GET",
            [
                .request("POST", .network, "200 | Cache-Control: max-age=60 | Content-Location: /a", sends: "posted"),
                .get(.cache, after: 5, body: "posted", has: "Age: 5"), .request("HEAD", .cache),
                .request("POST", .network, "200 | @Expires: 60 | Content-Location: ?", path: "/a?", sends: "again"),
                .get(.cache, path: "/a?", body: "again"),
            ]),
        CacheCase(
            "A stored response never serves POST",
            [
                .request("POST", .network, "200 | Cache-Control: max-age=60 | Content-Location: /a"), .request("POST"),
                .get(.network),
            ]),
        CacheCase(
            "Other POST responses serve no request",
            [
                "200 | Cache-Control: max-age=60", "200 | Cache-Control: max-age=60 | Content-Location: /b",
                "200 | Content-Location: /a | @Last-Modified: -1000",
                "201 | Cache-Control: max-age=60 | Content-Location: /a",
                "200 | Cache-Control: max-age=60, no-store | Content-Location: /a",
                "200 | Cache-Control: max-age=60 | Content-Location: http://other.example/a",
            ].flatMap { [CacheCase.Step.request("POST", .network, $0), .get(.network)] }),
        CacheCase(
            "Responses to other methods serve no request",
            ["PUT", "PATCH", "QUERY"].flatMap {
                [
                    .request($0, .network, "200 | Cache-Control: max-age=60 | Content-Location: /a"),
                    CacheCase.Step.get(.network),
                ]
            }),
        CacheCase(
            "The order of accepted values and the notation of weights don't matter",
            [
                .get(
                    .network, "200 | Cache-Control: max-age=60 | Vary: Accept-Language",
                    with: "Accept-Language: en, de;q=0.5, fr;q=1.0"),
                .get(.cache, with: "Accept-Language: FR, EN;q=1, de ; q=0.500"),
                .get(.network, with: "Accept-Language: en;q=0.5, de, fr"),
                .get(.network, with: "Accept-Language: en, de;q=0.5"),
            ]),
        CacheCase(
            "The order in fields of unknown meaning matters",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Vary: X", with: "X: 1, 2"),
                .get(.network, with: "X: 2, 1"),
            ]),
        CacheCase(
            "An entity tag is sent only with the fields that selected its response",
            [
                .get(.network, "200 | Cache-Control: max-age=1 | Vary: X | ETag: \"a\"", with: "X: 1"),
                .get(.network, "200 | Vary: X", after: 5, with: "X: 2", saw: "X: 2 | !If-None-Match"),
                .get(.revalidated, "304", with: "X: 1", of: 0, saw: "X: 1 | If-None-Match: \"a\""),
            ]),
        CacheCase(
            "Invalid entity tags match only their own text",
            ["abc", "w/\"a\"", "W\\\"a\"", "W\"a\""].enumerated().flatMap { index, tag -> [CacheCase.Step] in
                [
                    .get(.network, "200 | Cache-Control: max-age=60 | ETag: \(tag)", path: "/\(index)"),
                    .get(.cache, with: "If-None-Match: \(tag)", path: "/\(index)", status: 304, body: ""),
                    .get(.cache, with: "If-None-Match: \"abc\"", path: "/\(index)"),
                ]
            }),
    ]
    + ["2147483647", "2147483648", "2147483649", "99999999999", "99999999999999999999", "0060", "\"60\""].map { value in
        CacheCase(
            "max-age can be large, padded, or quoted: \(value)",
            [.get(.network, "200 | Cache-Control: max-age=\(value)"), .get(.cache, after: 59)])
    }
    + ["max-age =60", "max-age= 60", "foo=\"max-age=60\", max-age=1", "max-age=1, foo=\"max-age=60\""].map { value in
        CacheCase(
            "A directive that only resembles max-age=60 has no effect: \(value)",
            [.get(.network, "200 | Cache-Control: \(value)"), .get(.network, after: 2)])
    }
    + [
        ("7200 | Age: 0", false), ("0 | Age: 7200", true), ("0 | Age: 0", true), ("0, 0", true),
        ("1800 | Age: 1800", true),
        ("2147483647", false), ("7200;a=b", true),
    ].map { age, isFresh in
        CacheCase(
            "The first of several Age lines applies: \(age)",
            [.get(.network, "200 | Cache-Control: max-age=3600 | Age: \(age)"), .get(isFresh ? .cache : .network)])
    }
    + ["Tue, 19 Jan 2038 14:14:08 GMT", "Sun, 21 Nov 2286 04:46:39 GMT", "Thu Aug  8 02:01:18 2050"].map { date in
        CacheCase(
            "An Expires in the far future is parsed: \(date)", [.get(.network, "200 | Expires: \(date)"), .get(.cache)])
    }
    + ["Thu, 18 Aug 2050 02:01:18 AEST", "Thu, 18 Aug 2050 02:01:18 +0000"].map { date in
        CacheCase(
            "An Expires in another time zone is in the past: \(date)",
            [.get(.network, "200 | Expires: \(date)"), .get(.network)])
    }
