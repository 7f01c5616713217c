// SPDX-License-Identifier: MIT

import WebImageHTTP
import WebImageNet

private let tagged = "206 | Cache-Control: max-age=60 | ETag: \"a\""

/// Rules for storing and combining partial responses (RFC 9111, sections 3.3 and 3.4).
let partCases: [CacheCase] = [
    CacheCase(
        "A part serves the same range again",
        [
            .get(
                .network, "206 | Cache-Control: max-age=60 | Content-Range: bytes 6-9/10", with: "Range: bytes=-4",
                sends: "6789"),
            .get(.cache, after: 5, with: "Range: bytes=-4", status: 206, body: "6789", has: "Age: 5"),
            .get(.network, "200", after: 56, with: "Range: bytes=-4"),
        ]),
    CacheCase(
        "A part that is shorter than its range serves the same range again",
        [
            .get(
                .network, "206 | Cache-Control: max-age=60 | Content-Range: bytes 2-9/10", with: "Range: bytes=-8",
                sends: "2345"),
            .get(.cache, after: 5, with: "Range: bytes=-8", status: 206, body: "2345", has: "Age: 5"),
        ]),
    CacheCase(
        "A part serves ranges within it",
        [
            .get(
                .network, "206 | Cache-Control: max-age=60 | Content-Range: bytes 4-9/10", with: "Range: bytes=4-",
                sends: "456789"),
            .get(
                .cache, with: "Range: bytes=5-7", status: 206, body: "567",
                has: "Content-Range: bytes 5-7/10 | Content-Length: 3"),
            .get(.cache, with: "Range: bytes=6-", status: 206, body: "6789", has: "Content-Range: bytes 6-9/10"),
            .get(.cache, with: "Range: bytes=-1", status: 206, body: "9", has: "Content-Range: bytes 9-9/10"),
        ]),
    CacheCase(
        "A part serves no range that extends past it",
        [
            .get(
                .network, "206 | Cache-Control: max-age=60 | Content-Range: bytes 4-6/10", with: "Range: bytes=4-6",
                sends: "456"),
            .get(.network, "206", with: "Range: bytes=3-5", saw: "Range: bytes=3-5"),
            .get(.network, "206", with: "Range: bytes=5-7"), .get(.network, "206", with: "Range: bytes=5-"),
            .get(.network, "206", with: "Range: bytes=-2"), .get(.network, "206", with: "Range: bytes=4-4,6-6"),
        ]),
    CacheCase(
        "A part doesn't serve complete requests or HEAD",
        [
            .get(
                .network, "206 | Cache-Control: max-age=60 | Content-Range: bytes 0-3/10", with: "Range: bytes=0-3",
                sends: "0123"),
            .get(.network, "200", saw: "!Range | !If-Range"), .request("HEAD", .network),
        ]),
    CacheCase(
        "A part of a body of unknown size serves its bytes",
        [
            .get(
                .network, "206 | Cache-Control: max-age=60 | Content-Range: bytes 4-6/*", with: "Range: bytes=4-6",
                sends: "456"),
            .get(.cache, with: "Range: bytes=5-6", status: 206, body: "56", has: "Content-Range: bytes 5-6/*"),
            .get(.network, "206", with: "Range: bytes=5-"), .get(.network, "206", with: "Range: bytes=-1"),
            .get(.network, "206", with: "Range: bytes=5-99999999999999999999"),
        ]),
    CacheCase(
        "A part with fewer bytes than its range contains the first bytes",
        [
            .get(
                .network, "206 | Cache-Control: max-age=60 | Content-Range: bytes 4-9/10", with: "Range: bytes=4-9",
                sends: "456"),
            .get(.cache, with: "Range: bytes=5-6", status: 206, body: "56"),
            .get(.network, "206", with: "Range: bytes=5-7"),
        ]),
    CacheCase(
        "Parts without a known position aren't stored",
        ["bytes 4-6/10", "bytes 6-4/10", "bytes 4-7/7", "items 0-3/10", "bytes */10", "4-7/10"].map { range in
            .get(
                .network, "206 | Cache-Control: max-age=60 | Content-Range: \(range)", with: "Range: bytes=4-7",
                sends: "4567")
        } + [
            .get(
                .network, "206 | Cache-Control: max-age=60 | Content-Encoding: foo | Content-Range: bytes 4-7/10",
                with: "Range: bytes=4-7", sends: "4567"),
            .get(.network, "206 | Cache-Control: max-age=60 | Content-Range: bytes 4-7/10", sends: "4567"),
            .get(
                .network, "206 | Cache-Control: no-store | Content-Range: bytes 4-7/10", with: "Range: bytes=4-7",
                sends: "4567"),
            .get(.network, "206", with: "Range: bytes=4-7"),
        ]),
    CacheCase(
        "Parts with the same strong entity tag are joined, with the newer fields",
        [
            .get(
                .network, "\(tagged) | Content-Range: bytes 0-3/12 | X-A: 1 | X-B: 1", with: "Range: bytes=0-3",
                sends: "0123"),
            .get(
                .network, "\(tagged) | Content-Range: bytes 3-7/12 | X-B: 2", with: "Range: bytes=3-7", sends: "34567"),
            .get(
                .cache, with: "Range: bytes=1-6", status: 206, body: "123456",
                has: "X-A: 1 | X-B: 2 | Content-Range: bytes 1-6/12"),
        ]),
    CacheCase(
        "Parts that cover the body form the complete response",
        [
            .get(.network, "\(tagged) | Content-Range: bytes 5-9/10", with: "Range: bytes=5-", sends: "56789"),
            .get(.network, "\(tagged) | Content-Range: bytes 0-5/10", with: "Range: bytes=0-5", sends: "012345"),
            .get(.cache, body: "0123456789", has: "Content-Length: 10 | !Content-Range | ETag: \"a\""),
            .get(.cache, with: "Range: bytes=4-5", status: 206, body: "45"),
        ]),
    CacheCase(
        "A part that covers the body is the complete response",
        [
            .get(
                .network, "206 | Cache-Control: max-age=60 | Content-Range: bytes 0-9/10", with: "Range: bytes=0-",
                sends: "0123456789"),
            .get(.cache, body: "0123456789"),
        ]),
    CacheCase(
        "The newer part replaces a part with another or weak entity tag, another size, or a gap",
        [
            (#""b""#, "4-7/10"), (#"W/"a""#, "4-7/10"), (#""a""#, "4-7/11"), (#""a""#, "5-8/10"),
        ].flatMap { tag, range -> [CacheCase.Step] in
            let path = "/\(tag.utf8.count)\(range)"
            return [
                .get(
                    .network, "\(tagged) | Content-Range: bytes 0-3/10", with: "Range: bytes=0-3", path: path,
                    sends: "0123"),
                .get(
                    .network, "206 | Cache-Control: max-age=60 | ETag: \(tag) | Content-Range: bytes \(range)",
                    with: "Range: bytes=\(range.prefix(3))", path: path, sends: "4567"),
                .get(.network, "206", with: "Range: bytes=0-3", path: path),
                .get(.cache, with: "Range: bytes=\(range.prefix(3))", path: path, status: 206, body: "4567"),
            ]
        }),
    CacheCase(
        "A complete response that is newer than the part serves requests",
        [
            .get(
                .network, "206 | Cache-Control: max-age=60 | Content-Range: bytes 0-3/10", with: "Range: bytes=0-3",
                sends: "0123"),
            .get(.network, "200 | Cache-Control: max-age=10", after: 1, sends: "abcdefghij"),
            .get(.cache, with: "Range: bytes=0-3", status: 206, body: "abcd"),
            .get(.network, "206", after: 20, with: "Range: bytes=0-3"),
        ]),
    CacheCase(
        "If-Range also applies to parts",
        [
            .get(.network, "\(tagged) | Content-Range: bytes 0-3/10", with: "Range: bytes=0-3", sends: "0123"),
            .get(.cache, with: "Range: bytes=1-2 | If-Range: \"a\"", status: 206, body: "12"),
            .get(.network, with: "Range: bytes=1-2 | If-Range: \"b\""),
        ]),
    CacheCase(
        "Conditions for a part are sent to the server",
        [
            .get(.network, "\(tagged) | Content-Range: bytes 0-3/10", with: "Range: bytes=0-3", sends: "0123"),
            .get(.network, "304", with: "Range: bytes=0-3 | If-None-Match: \"a\"", saw: "If-None-Match: \"a\""),
        ]),
    CacheCase(
        "Parts are also variants, and invalidation removes them",
        [
            .get(
                .network, "206 | Cache-Control: max-age=60 | Vary: X | Content-Range: bytes 0-3/10",
                with: "X: 1 | Range: bytes=0-3", sends: "0123"),
            .get(.network, "206", with: "X: 2 | Range: bytes=0-3"),
            .get(.cache, with: "X: 1 | Range: bytes=0-3", status: 206, body: "0123"), .request("PUT"),
            .get(.network, "206", with: "X: 1 | Range: bytes=0-3"),
        ]),
    CacheCase(
        "A stale part is requested again, without conditions",
        [
            .get(
                .network,
                "206 | Cache-Control: max-age=9, stale-while-revalidate=60 | ETag: \"a\" | Content-Range: bytes 0-3/10",
                with: "Range: bytes=0-3", sends: "0123"),
            .get(.network, "206", after: 10, with: "Range: bytes=0-3", saw: "!If-None-Match"),
        ]),
]
