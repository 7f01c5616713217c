// SPDX-License-Identifier: MIT

import WebImageHTTP
import WebImageNet

/// Rules for validation, 304 responses, and the caller's own conditions (RFC 9111, section 4.3).
let validationCases: [CacheCase] = [
    CacheCase(
        "A stale response with an entity tag is revalidated with If-None-Match",
        [
            .get(.network, "200 | Cache-Control: max-age=1 | ETag: \"a\""),
            .get(.revalidated, "304 | ETag: \"a\"", after: 5, saw: "If-None-Match: \"a\" | !If-Modified-Since"),
        ]),
    CacheCase(
        "A weak entity tag also revalidates",
        [
            .get(.network, "200 | Cache-Control: max-age=1 | ETag: W/\"a\""),
            .get(.revalidated, "304 | ETag: W/\"a\"", after: 5, saw: "If-None-Match: W/\"a\""),
        ]),
    CacheCase(
        "An entity tag without quotes is sent unchanged",
        [
            .get(.network, "200 | Cache-Control: max-age=1 | ETag: abc"),
            .get(.revalidated, "304", after: 5, saw: "If-None-Match: abc"),
        ]),
    CacheCase(
        "Last-Modified revalidates with If-Modified-Since",
        [
            .get(.network, "200 | Cache-Control: max-age=1 | Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"),
            .get(
                .revalidated, "304", after: 5, saw: "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT | !If-None-Match"),
        ]),
    CacheCase(
        "Both validators are sent",
        [
            .get(
                .network, "200 | Cache-Control: max-age=1 | ETag: \"a\" | Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"),
            .get(
                .revalidated, "304", after: 5,
                saw: "If-None-Match: \"a\" | If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
        ]),
    CacheCase(
        "Without validators, the request is unconditional",
        [
            .get(.network, "200 | Cache-Control: max-age=1"),
            .get(.network, after: 5, saw: "!If-None-Match | !If-Modified-Since"),
        ]),
    CacheCase(
        "A 200 to a conditional request replaces the stored response",
        [
            .get(.network, "200 | Cache-Control: max-age=1 | ETag: \"a\""),
            .get(.network, "200 | Cache-Control: max-age=60 | ETag: \"b\"", after: 5),
            .get(.cache, of: 1, has: "ETag: \"b\""),
        ]),
    CacheCase(
        "A 304 makes the stored response fresh again",
        [
            .get(.network, "200 | Cache-Control: max-age=10 | ETag: \"a\""), .get(.revalidated, "304", after: 15),
            .get(.cache, after: 9, has: "Age: 9"), .get(.revalidated, "304", after: 1),
        ]),
    CacheCase(
        "A 304 replaces the fields that it contains and preserves the others",
        [
            .get(.network, "200 | Cache-Control: max-age=1 | ETag: \"a\" | X-A: 1 | X-B: 1 | X-B: 2"),
            .get(.revalidated, "304 | X-B: 3 | X-C: 4", after: 5, has: "X-A: 1 | X-B: 3 | X-C: 4"),
        ]),
    CacheCase(
        "A 304 changes the freshness lifetime",
        [
            .get(.network, "200 | Cache-Control: max-age=1 | ETag: \"a\""),
            .get(.revalidated, "304 | Cache-Control: max-age=100", after: 5), .get(.cache, after: 50),
        ]),
    CacheCase(
        "A 304 never changes the fields that describe the stored body",
        [
            .get(.network, "200 | Cache-Control: max-age=1 | ETag: \"a\" | Content-Length: 8", sends: "eight by"),
            .get(
                .revalidated, "304 | Content-Encoding: br | Content-Range: bytes 0-1/2", after: 5,
                has: "Content-Length: 8 | !Content-Encoding | !Content-Range"),
        ]),
    CacheCase(
        "A 304 can change Content-Type and Set-Cookie",
        [
            .get(.network, "200 | Cache-Control: max-age=1 | ETag: \"a\" | Content-Type: a/b | Set-Cookie: a=1"),
            .get(
                .revalidated, "304 | Content-Type: c/d | Set-Cookie: a=2", after: 5,
                has: "Content-Type: c/d | Set-Cookie: a=2"),
        ]),
    CacheCase(
        "After a 304 with another entity tag and no common date, the request is repeated without conditions",
        [
            .get(.network, "200 | Cache-Control: max-age=1 | ETag: \"a\""),
            .get(.network, "304 | ETag: \"b\"", after: 5, status: 304, saw: "!If-None-Match"),
        ]),
    CacheCase("The caller receives an unexpected 304", [.get(.network, "304")]),
    CacheCase(
        "A fresh response serves the caller's If-None-Match",
        [
            .get(.network, "200 | Cache-Control: max-age=60 | ETag: \"a\" | X-A: 1 | Content-Type: a/b"),
            .get(
                .cache, with: "If-None-Match: \"a\"", status: 304, body: "", has: "ETag: \"a\" | X-A: 1 | !Content-Type"
            ),
            .get(.cache, with: "If-None-Match: \"b\"", of: 0),
        ]),
    CacheCase(
        "The caller's If-None-Match is compared weakly and in lists",
        [
            .get(.network, "200 | Cache-Control: max-age=60 | ETag: W/\"a\""),
            .get(.cache, with: "If-None-Match: \"a\"", status: 304, body: ""),
            .get(.cache, with: "If-None-Match: \"x\", W/\"a\"", status: 304, body: ""),
            .get(.cache, with: "If-None-Match: \"x\" | If-None-Match: \"a\"", status: 304, body: ""),
            .get(.cache, with: "If-None-Match: *", status: 304, body: ""),
        ]),
    CacheCase(
        "A backslash in an entity tag is a character",
        [
            .get(.network, "200 | Cache-Control: max-age=60 | ETag: \"a\\\""),
            .get(.cache, with: "If-None-Match: \"a\\\", \"b\"", status: 304, body: ""),
        ]),
    CacheCase(
        "If-None-Match takes precedence over If-Modified-Since",
        [
            .get(.network, "200 | Cache-Control: max-age=60 | ETag: \"a\" | @Last-Modified: -100"),
            .get(.cache, with: "If-None-Match: \"b\" | @If-Modified-Since: 0", of: 0),
        ]),
    CacheCase(
        "A fresh response serves the caller's If-Modified-Since",
        [
            .get(.network, "200 | Cache-Control: max-age=60 | Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"),
            .get(.cache, with: "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", status: 304, body: ""),
            .get(.cache, with: "If-Modified-Since: Sunday, 06-Nov-94 08:49:38 GMT", status: 304, body: ""),
            .get(.cache, with: "If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT", of: 0),
            .get(.cache, with: "If-Modified-Since: never", of: 0),
        ]),
    CacheCase(
        "Without Last-Modified, Date replaces it",
        [
            .get(.network, "200 | Cache-Control: max-age=60 | @Date: 0"),
            .get(.cache, with: "@If-Modified-Since: 5", status: 304, body: ""),
            .get(.cache, with: "@If-Modified-Since: -5", of: 0),
        ]),
    CacheCase(
        "The caller's conditions are sent to the server if there's no stored response",
        [
            .get(.network, "304", with: "If-None-Match: \"a\"", saw: "If-None-Match: \"a\""),
            .get(.network, "304", with: "If-None-Match: abc", saw: "If-None-Match: abc"),
        ]),
    CacheCase(
        "The caller's conditions are sent unchanged if the stored response is stale",
        [
            .get(.network, "200 | Cache-Control: max-age=1 | ETag: \"a\""),
            .get(.network, "304 | ETag: \"b\"", after: 5, with: "If-None-Match: \"b\"", saw: "If-None-Match: \"b\""),
            .get(.revalidated, "304 | ETag: \"a\"", saw: "If-None-Match: \"a\""),
        ]),
    CacheCase(
        "A 304 to the caller's condition freshens the matching stored response",
        [
            .get(.network, "200 | Cache-Control: max-age=10 | ETag: \"a\""),
            .get(.network, "304 | ETag: \"a\"", after: 15, with: "If-None-Match: \"a\""), .get(.cache, after: 5, of: 0),
        ]),
    CacheCase(
        "A 304 to the caller's condition doesn't change another stored response",
        [
            .get(.network, "200 | Cache-Control: max-age=10 | ETag: \"a\" | X-A: 1"),
            .get(.network, "304 | ETag: \"b\" | X-A: 2", after: 15, with: "If-None-Match: \"b\""),
            .get(.revalidated, "304", has: "X-A: 1"),
        ]),
    CacheCase(
        "Conditions that only the origin can evaluate are sent to it",
        [
            .get(.network, "200 | Cache-Control: max-age=60 | ETag: \"a\""),
            .get(.network, "412", with: "If-Match: \"b\"", saw: "If-Match: \"b\""),
            .get(.network, "412", with: "@If-Unmodified-Since: -5"), .get(.cache, of: 0),
        ]),
    CacheCase(
        "A fresh GET response serves HEAD",
        [
            .get(.network, "200 | Cache-Control: max-age=60 | X-A: 1"),
            .request("HEAD", .cache, after: 5, body: "", has: "X-A: 1 | Age: 5"),
        ]),
    CacheCase(
        "HEAD without a stored response is sent and stores nothing",
        [
            .request("HEAD", .network, "200 | Cache-Control: max-age=60"), .get(.network),
        ]),
    CacheCase(
        "HEAD freshens a stale response with the same validators",
        [
            .get(.network, "200 | Cache-Control: max-age=10 | ETag: \"a\" | X-A: 1"),
            .request("HEAD", .network, "200 | Cache-Control: max-age=10 | ETag: \"a\" | X-A: 2", after: 15),
            .get(.cache, after: 5, of: 0, has: "X-A: 2"),
        ]),
    CacheCase(
        "HEAD with another entity tag invalidates the stored response",
        [
            .get(.network, "200 | Cache-Control: max-age=10 | ETag: \"a\""),
            .request("HEAD", .network, "200 | Cache-Control: max-age=10 | ETag: \"b\"", after: 15), .get(.network),
        ]),
    CacheCase(
        "A failed HEAD doesn't change the stored response",
        [
            .get(.network, "200 | Cache-Control: max-age=10 | ETag: \"a\""),
            .request("HEAD", .network, "410", after: 15),
            .get(.revalidated, "304"),
        ]),
    CacheCase(
        "HEAD for one variant doesn't change another",
        [
            .get(.network, "200 | Cache-Control: max-age=60 | Vary: X | ETag: \"1\"", with: "X: 1"),
            .get(.network, "200 | Cache-Control: max-age=10 | Vary: X | ETag: \"2\"", with: "X: 2"),
            .request("HEAD", .network, "200 | ETag: \"3\"", after: 15, with: "X: 2"), .get(.cache, with: "X: 1", of: 0),
            .get(.network, with: "X: 2"),
        ]),
]
