// SPDX-License-Identifier: MIT

import Foundation

/// When a server wants to be asked again (RFC 9110 10.2.3).
public enum RetryAfter {
    /// Seconds from `now`, never negative; nil for anything that is neither a number of seconds nor a date.
    public static func seconds(_ text: String, now: Date) -> Double? {
        let value = FieldList.trimmed(text)
        if let seconds = FieldList.deltaSeconds(value) { return Double(seconds) }
        return HTTPDate.parse(value, now: now).map { max(0, $0.timeIntervalSince(now)) }
    }
}
