// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP

@Suite("Ranges and Retry-After")
struct RangeTests {
    @Test(
        "A valid Content-Range is parsed",
        arguments: [
            ("bytes 0-9/100", ContentRange.bytes(first: 0, last: 9, total: 100)),
            ("Bytes 5-5/*", .bytes(first: 5, last: 5, total: nil)), ("bytes */47", .unsatisfied(total: 47)),
        ])
    func valid(_ text: String, _ expected: ContentRange) {
        #expect(ContentRange(text) == expected)
    }

    @Test(
        "An invalid or contradictory Content-Range is rejected",
        arguments: [
            "", "bytes", "bytes 0-9", "items 0-9/10", "bytes 9-0/10", "bytes 0-10/10", "bytes */*", "bytes -5/10",
            "bytes 5-/10", "bytes +1-2/10", "bytes 0-99999999999999999999/*", "bytes 0-9/10/10", "bytes 0-9-9/10",
        ])
    func invalid(_ text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test("Retry-After accepts only seconds or a date")
    func retryAfter() {
        let now = Date(timeIntervalSince1970: 784_111_777)
        #expect(RetryAfter.seconds(" 30 ", now: now) == 30)
        #expect(RetryAfter.seconds("Sun, 06 Nov 1994 08:50:37 GMT", now: now) == 60)
        #expect(RetryAfter.seconds("Sun, 06 Nov 1994 08:48:37 GMT", now: now) == 0)
        #expect(RetryAfter.seconds("99999999999999999999", now: now) == Double(CacheControl.longest))
        for text in ["", "soon", "-5", "1.5", "5s"] { #expect(RetryAfter.seconds(text, now: now) == nil, "\(text)") }
    }
}
