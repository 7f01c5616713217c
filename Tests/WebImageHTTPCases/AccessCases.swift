// SPDX-License-Identifier: MIT

/// Responses of one user must never reach another user, even if Vary doesn't name the header field that distinguishes
/// the users.
let accessCases: [CacheCase] = [
    CacheCase(
        "A response for one Cookie doesn't serve requests with another or no Cookie",
        [
            .get(.network, "200 | Cache-Control: max-age=60", with: "Cookie: user=1"),
            .get(.cache, with: "Cookie: user=1"), .get(.network, "200 | Cache-Control: max-age=60"), .get(.cache),
            .get(.network, "200 | Cache-Control: max-age=60", with: "Cookie: user=2"),
            .get(.cache, with: "Cookie: user=1", of: 0), .get(.cache, of: 2),
        ]),
    CacheCase(
        "A response without a Cookie doesn't serve a request with one",
        [
            .get(.network, "200 | Cache-Control: max-age=60"),
            .get(.network, "200 | Cache-Control: max-age=60", with: "Cookie: user=1"),
        ]),
    CacheCase(
        "A user's stale response isn't revalidated for another user",
        [
            .get(.network, "200 | Cache-Control: max-age=1 | ETag: \"a\"", with: "Cookie: user=1"),
            .get(.network, "200 | Cache-Control: max-age=1", after: 5, with: "Cookie: user=2", saw: "!If-None-Match"),
        ]),
]
