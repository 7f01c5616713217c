// SPDX-License-Identifier: MIT

import WebImageHTTP
import WebImageHTTPClient

/// Rules for directives of responses and requests (RFC 9111, sections 5.2 and 5.4; RFC 5861; RFC 8246) and for stale
/// responses (RFC 9111, section 4.2.4).
let directiveCases: [CacheCase] =
    [
        CacheCase(
            "A no-store response isn't stored",
            [.get(.network, "200 | Cache-Control: max-age=60, no-store"), .get(.network)]),
        CacheCase(
            "A No-Store response isn't stored, regardless of case",
            [
                .get(.network, "200 | Cache-Control: No-Store | @Expires: 500"), .get(.network),
            ]),
        CacheCase(
            "A newer no-store response removes the stored response",
            [
                .get(.network, "200 | Cache-Control: max-age=60"),
                .get(.network, "200 | Cache-Control: no-store", mode: .reload),
                .get(.network),
            ]),
        CacheCase(
            "A no-cache response is stored and revalidated for each request",
            [
                .get(.network, "200 | Cache-Control: max-age=60, no-cache | ETag: \"a\""), .get(.revalidated, "304"),
                .get(.revalidated, "304"),
            ]),
        CacheCase(
            "no-cache with field names withholds only those fields",
            [
                .get(.network, "200 | Cache-Control: max-age=60, no-cache=\"X-A\" | X-A: 1 | X-B: 2"),
                .get(.cache, has: "!X-A | X-B: 2"),
            ]),
        CacheCase(
            "must-understand with an understood status overrides no-store",
            [
                .get(.network, "200 | Cache-Control: max-age=60, no-store, must-understand"), .get(.cache),
            ]),
        CacheCase(
            "must-understand with an unknown status isn't stored",
            [
                .get(.network, "599 | Cache-Control: max-age=60, must-understand"), .get(.network),
            ]),
        CacheCase(
            "A must-revalidate response is used while it's fresh",
            [
                .get(.network, "200 | Cache-Control: max-age=60, must-revalidate"), .get(.cache),
            ]),
        CacheCase(
            "Pragma in a response has no effect",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Pragma: no-cache"), .get(.cache),
            ]),
        CacheCase(
            "Refreshing sends conditions and max-age=0",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | ETag: \"a\""),
                .get(.revalidated, "304", mode: .noCache, saw: "If-None-Match: \"a\" | Cache-Control: max-age=0"),
            ]),
        CacheCase(
            "Refreshing without a stored response sends max-age=0",
            [
                .get(.network, "200 | Cache-Control: max-age=60", mode: .noCache, saw: "Cache-Control: max-age=0"),
                .get(.cache),
            ]),
        CacheCase(
            "Refreshing a fresh and immutable response needs no request",
            [
                .get(.network, "200 | Cache-Control: max-age=60, immutable | ETag: \"a\""),
                .get(.cache, mode: .noCache),
                .get(.revalidated, "304", after: 61, mode: .noCache),
            ]),
        CacheCase(
            "Reloading requests the complete body and stores it",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | ETag: \"a\""),
                .get(
                    .network, "200 | Cache-Control: max-age=60", mode: .reload,
                    saw: "Cache-Control: no-cache | Pragma: no-cache | !If-None-Match"),
                .get(.cache, of: 1),
            ]),
        CacheCase(
            "The mode no-store neither reads nor writes the cache",
            [
                .get(.network, "200 | Cache-Control: max-age=60", mode: .noStore),
                .get(.network, "200 | Cache-Control: max-age=60"),
                .get(.network, "200 | Cache-Control: max-age=60", mode: .noStore), .get(.cache, of: 1),
            ]),
        CacheCase(
            "The mode force-cache uses any stored response",
            [
                .get(.network, "200 | Cache-Control: max-age=1, must-revalidate", mode: .forceCache),
                .get(.stale, after: 500, mode: .forceCache),
            ]),
        CacheCase(
            "The mode only-if-cached returns any stored response or status 504",
            [
                .get(.cache, mode: .onlyIfCached, status: 504), .get(.network, "200 | Cache-Control: max-age=1"),
                .get(.stale, after: 500, mode: .onlyIfCached),
            ]),
        CacheCase(
            "A request's no-store neither reads nor writes the cache",
            [
                .get(.network, "200 | Cache-Control: max-age=60", with: "Cache-Control: no-store"),
                .get(.network, "200 | Cache-Control: max-age=60"), .get(.network, with: "Cache-Control: no-store"),
            ]),
        CacheCase(
            "A request's no-cache revalidates the stored response",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | ETag: \"a\""),
                .get(
                    .revalidated, "304", with: "Cache-Control: no-cache",
                    saw: "If-None-Match: \"a\" | Cache-Control: no-cache"),
            ]),
        CacheCase(
            "A request's max-age=0 revalidates the stored response",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | ETag: \"a\""),
                .get(.revalidated, "304", after: 1, with: "Cache-Control: max-age=0"),
            ]),
        CacheCase(
            "A request's max-age limits the age",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Age: 30"),
                .get(.cache, with: "Cache-Control: max-age=30"),
                .get(.network, with: "Cache-Control: max-age=29"),
            ]),
        CacheCase(
            "A request's min-fresh requires remaining freshness",
            [
                .get(.network, "200 | Cache-Control: max-age=60"),
                .get(.cache, after: 30, with: "Cache-Control: min-fresh=30"),
                .get(.network, with: "Cache-Control: min-fresh=31"),
            ]),
        CacheCase(
            "A request's max-stale accepts a stale response",
            [
                .get(.network, "200 | Cache-Control: max-age=10"),
                .get(.stale, after: 20, with: "Cache-Control: max-stale"),
                .get(.stale, with: "Cache-Control: max-stale=10"), .get(.network, with: "Cache-Control: max-stale=9"),
            ]),
        CacheCase(
            "max-stale doesn't override must-revalidate",
            [
                .get(.network, "200 | Cache-Control: max-age=10, must-revalidate"),
                .get(.network, after: 20, with: "Cache-Control: max-stale"),
            ]),
        CacheCase(
            "A request's only-if-cached returns 504 without a fresh response",
            [
                .get(.cache, with: "Cache-Control: only-if-cached", status: 504),
                .get(.network, "200 | Cache-Control: max-age=10"),
                .get(.cache, with: "Cache-Control: only-if-cached", of: 1),
                .get(.cache, after: 20, with: "Cache-Control: only-if-cached", status: 504),
            ]),
        CacheCase(
            "A request's Pragma: no-cache applies without Cache-Control",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | ETag: \"a\""),
                .get(.revalidated, "304", with: "Pragma: no-cache"),
                .get(.cache, with: "Pragma: no-cache | Cache-Control: max-age=60"), .get(.cache, with: "Pragma: foo"),
            ]),
        CacheCase(
            "stale-while-revalidate responds immediately and revalidates in the background",
            [
                .get(.network, "200 | Cache-Control: max-age=10, stale-while-revalidate=30"),
                .get(.stale, "200 | Cache-Control: max-age=60", after: 20, of: 0, settles: true),
                .get(.cache, body: "answer 1"),
            ]),
        CacheCase(
            "stale-while-revalidate accepts a 304 in the background",
            [
                .get(.network, "200 | Cache-Control: max-age=10, stale-while-revalidate=30 | ETag: \"a\""),
                .get(.stale, "304", after: 20, saw: "If-None-Match: \"a\"", settles: true), .get(.cache, after: 5),
            ]),
        CacheCase(
            "stale-while-revalidate ends with its window",
            [
                .get(.network, "200 | Cache-Control: max-age=10, stale-while-revalidate=5"), .get(.network, after: 16),
            ]),
        CacheCase(
            "stale-while-revalidate can be disabled", policy: with { $0.servesStaleWhileRevalidating = false },
            [
                .get(.network, "200 | Cache-Control: max-age=10, stale-while-revalidate=30"), .get(.network, after: 20),
            ]),
        CacheCase(
            "A failed background revalidation preserves the stored response",
            [
                .get(.network, "200 | Cache-Control: max-age=10, stale-while-revalidate=30"),
                .get(.stale, "lost", after: 12, settles: true), .get(.stale, "lost", after: 1, settles: true),
            ]),
        CacheCase(
            "stale-if-error applies to a lost connection",
            [
                .get(.network, "200 | Cache-Control: max-age=10, stale-if-error=60"),
                .get(.staleAfterFailure, "lost", after: 20),
            ]),
        CacheCase(
            "stale-if-error ends with its window",
            [
                .get(.network, "200 | Cache-Control: max-age=10, stale-if-error=5"), .get(.network, "503", after: 20),
                .get(.failure, "lost"),
            ]),
        CacheCase(
            "A request's stale-if-error also applies",
            [
                .get(.network, "200 | Cache-Control: max-age=10"),
                .get(.staleAfterFailure, "503", after: 20, with: "Cache-Control: stale-if-error=60"),
            ]),
        CacheCase(
            "A default stale-if-error can be set", policy: with { $0.defaultStaleIfError = .seconds(60) },
            [
                .get(.network, "200 | Cache-Control: max-age=10"), .get(.staleAfterFailure, "503", after: 20),
                .get(.network, "503", after: 60),
            ]),
        CacheCase(
            "stale-if-error can be disabled", policy: with { $0.servesStaleOnError = false },
            [
                .get(.network, "200 | Cache-Control: max-age=10, stale-if-error=60"), .get(.network, "503", after: 20),
            ]),
        CacheCase(
            "Without stale-if-error, a server error is the response",
            [
                .get(.network, "200 | Cache-Control: max-age=10"), .get(.network, "503", after: 20),
            ]),
        CacheCase(
            "must-revalidate forbids stale-if-error",
            [
                .get(.network, "200 | Cache-Control: max-age=10, stale-if-error=60, must-revalidate"),
                .get(.network, "503", after: 20),
            ]),
        CacheCase(
            "A stale response is used after a lost connection",
            [
                .get(.network, "200 | Cache-Control: max-age=10"),
                .get(.staleAfterFailure, "lost", after: 20, has: "Age: 20"),
            ]),
        CacheCase(
            "Stale responses after a lost connection can be disabled",
            policy: with { $0.servesStaleWhenUnreachable = false },
            [
                .get(.network, "200 | Cache-Control: max-age=10"), .get(.failure, "lost", after: 20),
            ]),
        CacheCase(
            "must-revalidate forbids stale responses after a lost connection",
            [
                .get(.network, "200 | Cache-Control: max-age=10, must-revalidate"), .get(.failure, "lost", after: 20),
            ]),
        CacheCase(
            "no-cache forbids stale responses after a lost connection",
            [
                .get(.network, "200 | Cache-Control: max-age=10, no-cache"), .get(.failure, "lost", after: 20),
            ]),
        CacheCase(
            "A request's no-cache forbids stale responses after a lost connection",
            [
                .get(.network, "200 | Cache-Control: max-age=10"),
                .get(.failure, "lost", after: 20, with: "Cache-Control: no-cache"),
                .get(.failure, "lost", mode: .noCache), .get(.failure, "lost", mode: .reload),
            ]),
        CacheCase("A lost connection without a stored response is an error", [.get(.failure, "lost")]),
        CacheCase(
            "Connection header fields and the fields that they name aren't stored",
            [
                .get(
                    .network,
                    "200 | Cache-Control: max-age=60 | Connection: X-Hop | X-Hop: 1 | Keep-Alive: x | Proxy-Authenticate: Basic | TE: x | Upgrade: y | X-End: 1"
                ),
                .get(
                    .cache,
                    has:
                        "!Connection | !X-Hop | !Keep-Alive | !Proxy-Authenticate | !TE | !Upgrade | X-End: 1"
                ),
            ]),
        CacheCase(
            "Latin-1 values and repeated fields are returned unchanged",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | X-A: caf\u{e9} | X-A: 2"),
                .get(.cache, has: "X-A: caf\u{e9}, 2"),
            ]),
        CacheCase(
            "Unknown content codings are passed on",
            [
                .get(.network, "200 | Cache-Control: max-age=60 | Content-Encoding: foo", has: "Content-Encoding: foo"),
                .get(.cache, has: "Content-Encoding: foo"),
            ]),
        CacheCase(
            "A redirect is stored with its own freshness",
            [
                .get(.network, "302 | Cache-Control: max-age=60 | Location: /b"),
                .get(.cache, status: 302, has: "Location: /b"), .get(.network, "302 | Location: /c", after: 61),
                .get(.network, "302 | Location: /c"),
            ]),
        CacheCase(
            "A followed redirect and its target come from the cache",
            [
                .get(.network, "301 | Cache-Control: max-age=60 | Location: /b"),
                .get(.network, "200 | Cache-Control: max-age=60", path: "/b"),
                .get(.cache, redirect: .follow, status: 200, body: "answer 1"),
            ]),
        CacheCase("Redirects can be an error", [.get(.failure, "302 | Location: /b", redirect: .error)]),
    ]
    + [500, 502, 503, 504].map { (status: Int) in
        CacheCase(
            "stale-if-error applies to status \(status)",
            [
                .get(.network, "200 | Cache-Control: max-age=10, stale-if-error=60"),
                .get(.staleAfterFailure, "\(status)", after: 20),
            ])
    }
    + [404, 501, 599].map { (status: Int) in
        CacheCase(
            "stale-if-error doesn't apply to status \(status)",
            [
                .get(.network, "200 | Cache-Control: max-age=10, stale-if-error=60"),
                .get(.network, "\(status)", after: 20),
            ])
    }
