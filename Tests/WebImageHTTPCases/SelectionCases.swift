// SPDX-License-Identifier: MIT

import WebImageHTTP
import WebImageHTTPClient
import WebImageNet

/// Rules for Vary, invalidation, and ranges (RFC 9111, sections 4.1, 4.4, and 3.3; RFC 9110, section 14).
let selectionCases: [CacheCase] =
    [
        CacheCase(
            "The same selecting fields match the stored response, and others don't",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Vary: X", with: "X: 1"), .get(.cache, with: "X: 1"),
                .get(.network, with: "X: 2"), .get(.network),
            ]),
        CacheCase(
            "An absent selecting field is absent in both",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Vary: X"), .get(.cache), .get(.network, with: "X: 1"),
            ]),
        CacheCase(
            "Several variants can be stored",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Vary: X", with: "X: 1"),
                .get(.network, "200 | Cache-Control: max-age=60 | Vary: X", with: "X: 2"),
                .get(.cache, with: "X: 1", of: 0),
                .get(.cache, with: "X: 2", of: 1),
            ]),
        CacheCase(
            "Each variant is revalidated with its own validator",
            [
                .get(.network, "200 | Cache-Control: max-age=1 | Vary: X | ETag: \"1\"", with: "X: 1"),
                .get(.network, "200 | Cache-Control: max-age=1 | Vary: X | ETag: \"2\"", with: "X: 2"),
                .get(
                    .revalidated, "304 | ETag: \"1\" | X-A: n", after: 5, with: "X: 1", of: 0,
                    saw: "If-None-Match: \"1\""),
                .get(.revalidated, "304 | ETag: \"2\"", with: "X: 2", of: 1, saw: "If-None-Match: \"2\"", has: "!X-A"),
            ]),
        CacheCase(
            "All fields that Vary names must match",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Vary: X, Y", with: "X: 1 | Y: 2"),
                .get(.cache, with: "Y: 2 | X: 1"), .get(.network, with: "X: 1 | Y: 3"), .get(.network, with: "X: 1"),
            ]),
        CacheCase(
            "Three selecting fields on several lines must match",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Vary: X | Vary: Y, Z", with: "X: 1 | Y: 2 | Z: 3"),
                .get(.cache, with: "X: 1 | Y: 2 | Z: 3"), .get(.network, with: "X: 1 | Y: 2 | Z: 4"),
            ]),
        CacheCase(
            "Names in Vary are case-insensitive",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Vary: x-FOO", with: "X-foo: 1"),
                .get(.cache, with: "X-Foo: 1"),
            ]),
        CacheCase(
            "Repeated selecting fields are combined for the comparison",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Vary: X", with: "X: 1, 2"),
                .get(.cache, with: "X: 1 | X: 2"),
            ]),
        CacheCase(
            "Whitespace in selecting fields doesn't matter",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Vary: X", with: "X: 1,2"),
                .get(.cache, with: "X: 1 ,  2"),
            ]),
        CacheCase(
            "Languages are compared without case and whitespace",
            [
                .get(
                    .network, "200 | Cache-Control: max-age=60 | Vary: Accept-Language", with: "Accept-Language: en, de"
                ),
                .get(.cache, with: "Accept-Language: eN,De"), .get(.network, with: "Accept-Language: fr"),
            ]),
        CacheCase(
            "A response without Vary replaces the matching variant",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Vary: X", with: "X: 1"),
                .get(.network, "200 | Cache-Control: max-age=60", with: "X: 1", mode: .reload),
                .get(.cache, with: "X: 1", of: 1),
                .get(.cache, with: "X: 7", of: 1),
            ]),
        CacheCase(
            "Responses for different credentials are separate without Vary",
            [
                .get(.network, "200 | Cache-Control: max-age=60", with: "Authorization: Basic a"),
                .get(.cache, with: "Authorization: Basic a"),
                .get(.network, "200 | Cache-Control: max-age=60", with: "Authorization: Basic b"),
                .get(.network, "200 | Cache-Control: max-age=60"), .get(.cache, with: "Authorization: Basic a", of: 0),
            ]),
        CacheCase(
            "Responses for different credentials are shared if the policy allows it",
            policy: with { $0.separatesCredentials = false },
            [
                .get(.network, "200 | Cache-Control: max-age=60", with: "Authorization: Basic a"),
                .get(.cache, with: "Authorization: Basic b", of: 0),
            ]),
        CacheCase(
            "Cookies select although Vary doesn't name them, and also if it does",
            [
                .get(.network, "200 | Cache-Control: max-age=60", with: "Cookie: a=1"),
                .get(.network, with: "Cookie: a=2"),
                .get(.network, "200 | Cache-Control: max-age=60 | Vary: Cookie", with: "Cookie: a=1", path: "/c"),
                .get(.cache, with: "Cookie: a=1", path: "/c"), .get(.network, with: "Cookie: a=2", path: "/c"),
            ]),
        CacheCase(
            "An unsafe method that fails invalidates nothing",
            [
                .get(.network, "200 | Cache-Control: max-age=60"), .request("POST", .network, "500"),
                .request("DELETE", .network, "403"),
                .get(.cache, of: 0),
            ]),
        CacheCase(
            "A redirect after a POST also invalidates",
            [
                .get(.network, "200 | Cache-Control: max-age=60"), .request("POST", .network, "303 | Location: /x"),
                .get(.network),
            ]),
        CacheCase(
            "Invalidation removes all variants",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Vary: X", with: "X: 1"),
                .get(.network, "200 | Cache-Control: max-age=60 | Vary: X", with: "X: 2"), .request("PUT"),
                .get(.network, with: "X: 1"),
                .get(.network, with: "X: 2"),
            ]),
        CacheCase(
            "Location and Content-Location of the same origin are invalidated",
            [
                .get(.network, "200 | Cache-Control: max-age=60", path: "/l"),
                .get(.network, "200 | Cache-Control: max-age=60", path: "/cl"),
                .request("POST", .network, "200 | Location: /l | Content-Location: cl"), .get(.network, path: "/l"),
                .get(.network, path: "/cl"),
            ]),
        CacheCase(
            "A Location with another origin isn't invalidated",
            [
                .get(.network, "200 | Cache-Control: max-age=60", path: "/l"),
                .request("POST", .network, "200 | Location: http://elsewhere.example/l"), .get(.cache, path: "/l"),
            ]),
        CacheCase(
            "POST responses aren't stored",
            [
                .request("POST", .network, "200 | Cache-Control: max-age=60"), .get(.network),
            ]),
        CacheCase(
            "The Location of a failed response isn't invalidated",
            [
                .get(.network, "200 | Cache-Control: max-age=60", path: "/l"),
                .request("POST", .network, "500 | Location: /l"),
                .get(.cache, path: "/l"),
            ]),
        CacheCase(
            "A 206 is never stored as the complete response",
            [
                .get(
                    .network, "206 | Cache-Control: max-age=60 | Content-Range: bytes 0-3/10", with: "Range: bytes=0-3",
                    sends: "0123"),
                .get(.network),
            ]),
        CacheCase(
            "A 206 doesn't remove the complete response",
            [
                .get(.network, "200 | Cache-Control: max-age=60"),
                .get(
                    .network, "206 | Content-Range: bytes 0-3/10", with: "Range: bytes=0-1,4-5",
                    saw: "Range: bytes=0-1,4-5"),
                .get(.cache, of: 0),
            ]),
        CacheCase(
            "Ranges of a missing response are sent to the server",
            [
                .get(
                    .network, "206 | Content-Range: bytes 2-3/10", with: "Range: bytes=2-3",
                    saw: "Range: bytes=2-3 | Accept-Encoding: identity")
            ]),
        CacheCase(
            "If-Range with the stored strong entity tag returns the part",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | ETag: \"a\"", sends: "0123456789"),
                .get(.cache, with: "Range: bytes=2-3 | If-Range: \"a\"", status: 206, body: "23"),
                .get(.cache, with: "Range: bytes=2-3 | If-Range: \"b\"", body: "0123456789"),
            ]),
        CacheCase(
            "If-Range with a weak entity tag returns the complete body",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | ETag: W/\"a\"", sends: "0123456789"),
                .get(.cache, with: "Range: bytes=2-3 | If-Range: W/\"a\"", body: "0123456789"),
            ]),
        CacheCase(
            "If-Range with the stored date returns the part",
            [
                .get(
                    .network, "200 | Cache-Control: max-age=60 | Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT",
                    sends: "0123456789"),
                .get(
                    .cache, with: "Range: bytes=-2 | If-Range: Sun, 06 Nov 1994 08:49:37 GMT", status: 206, body: "89"),
                .get(.cache, with: "Range: bytes=-2 | If-Range: Sun, 06 Nov 1994 08:49:38 GMT", body: "0123456789"),
            ]),
        CacheCase(
            "A range past the end returns a 416 with the size",
            [
                .get(.network, "200 | Cache-Control: max-age=60", sends: "0123456789"),
                .get(.cache, with: "Range: bytes=10-", status: 416, body: "", has: "Content-Range: bytes */10"),
                .get(.cache, with: "Range: bytes=-0", status: 416, body: ""),
            ]),
        CacheCase(
            "Ranges of coded bodies and of other statuses are sent to the server",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Content-Encoding: foo"),
                .get(.network, "206", with: "Range: bytes=0-1"),
                .get(.network, "404 | Cache-Control: max-age=60", path: "/n"),
                .get(.network, "404", with: "Range: bytes=0-1", path: "/n"),
            ]),
        CacheCase(
            "Ranges in units other than bytes are sent to the server",
            [
                .get(.network, "200 | Cache-Control: max-age=60"),
                .get(.network, with: "Range: lines=0-1", saw: "Range: lines=0-1"),
            ]),
        CacheCase(
            "A response that varies by content coding also serves ranges",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Vary: Accept-Encoding", sends: "0123456789"),
                .get(.cache, with: "Range: bytes=2-3", status: 206, body: "23"),
            ]),
        CacheCase(
            "HEAD ignores Range",
            [
                .get(.network, "200 | Cache-Control: max-age=60"), .request("HEAD", .cache, with: "Range: bytes=0-1"),
            ]),
    ]
    + ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "FOO", "get"].map { method in
        CacheCase(
            "\(method) invalidates",
            [
                .get(.network, "200 | Cache-Control: max-age=60"), .request(method), .get(.network),
            ])
    }
    + ["OPTIONS", "TRACE", "PROPFIND"].map { method in
        CacheCase(
            "\(method) invalidates nothing",
            [
                .get(.network, "200 | Cache-Control: max-age=60"), .request(method), .get(.cache, of: 0),
            ])
    }
    + ["*", ", *", "*, *", "X, *", "*, X", "X | Vary: *"].map { vary in
        CacheCase(
            "Vary with an asterisk never matches: \(vary)",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Vary: \(vary)", with: "X: 1"),
                .get(.network, with: "X: 1"),
            ])
    }
    + [
        ("0-3", "0123", "0-3"), ("4-", "456789", "4-9"), ("-3", "789", "7-9"), ("8-100", "89", "8-9"),
        ("-100", "0123456789", "0-9"), ("9-9", "9", "9-9"), ("0-99999999999999999999999", "0123456789", "0-9"),
    ].map { range, body, reported in
        CacheCase(
            "The complete response serves bytes=\(range)",
            [
                .get(.network, "200 | Cache-Control: max-age=60", sends: "0123456789"),
                .get(
                    .cache, with: "Range: bytes=\(range)", status: 206, body: body,
                    has: "Content-Range: bytes \(reported)/10 | Content-Length: \(body.utf8.count)"),
            ])
    }
    + ["0-1,4-5", "5-2", "a-b", "", "-", "1"].map { range in
        CacheCase(
            "The request for bytes=\(range) is sent to the server",
            [
                .get(.network, "200 | Cache-Control: max-age=60"), .get(.network, with: "Range: bytes=\(range)"),
            ])
    }
