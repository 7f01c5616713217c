// SPDX-License-Identifier: MIT

import Foundation

/// A parser for the `Retry-After` header field (RFC 9110 10.2.3).
package enum RetryAfter {
    /// Returns the delay from `now` in seconds, which is never negative, or `nil` if the text is neither a number of
    /// seconds nor a date.
    package static func seconds(_ text: String, now: Date) -> Double? {
        let value = ListHeaderParser.trimmed(text)
        if let seconds = ListHeaderParser.deltaSeconds(value) { return Double(seconds) }
        return HTTPDate.parse(value, now: now).map { max(0, $0.timeIntervalSince(now)) }
    }
}
