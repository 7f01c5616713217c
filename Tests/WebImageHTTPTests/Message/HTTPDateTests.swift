// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP

@Suite("HTTP dates")
struct HTTPDateTests {
    private let example = Date(timeIntervalSince1970: 784_111_777)
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    @Test(
        "All three formats are parsed in any case",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "sun, 06 nov 1994 08:49:37 gmt", "SUN, 06 NOV 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT", "sunday, 06-nov-94 08:49:37 gmt", "Sun Nov  6 08:49:37 1994",
        ])
    func valid(_ text: String) {
        #expect(HTTPDate.parse(text, now: now) == example)
    }

    @Test(
        "Text that violates the format isn't parsed",
        arguments: [
            "", "0", "-1", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 PST",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 94 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
            "Sun,  06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994  08:49:37 GMT",
            "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
            "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 29 Feb 1995 08:49:37 GMT",
            "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
            "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
            " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "06 Nov 1994 08:49:37 GMT",
            "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37GMT",
        ])
    func invalid(_ text: String) {
        #expect(HTTPDate.parse(text, now: now) == nil)
    }

    @Test("A two-digit year more than 50 years in the future is in the past century")
    func century() {
        func year(_ text: String) -> Int? {
            HTTPDate.parse(text, now: now).map { Calendar(identifier: .gregorian).component(.year, from: $0) }
        }
        #expect(year("Friday, 01-Jul-76 12:00:00 GMT") == 2076)
        #expect(year("Friday, 01-Jul-99 12:00:00 GMT") == 1999)
    }

    @Test("Formatted dates in all centuries are parsed back to the same date")
    func roundTrip() {
        var seconds = -62_167_219_200.0
        while seconds < 253_402_300_799 {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(HTTPDate.parse(HTTPDate.format(date)) == date)
            seconds += 86_400 * 97 + 3_607
        }
        #expect(HTTPDate.format(example) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.format(Date(timeIntervalSince1970: .nan)).hasSuffix("GMT"))
        #expect(HTTPDate.format(.distantFuture).hasPrefix("Mon, 01 Jan 4001"))
    }
}
