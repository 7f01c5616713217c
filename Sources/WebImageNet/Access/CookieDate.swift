// SPDX-License-Identifier: MIT

import Foundation

/// A parser for the date of an `Expires` attribute, which occurs in many forms (RFC 6265 5.1.1).
enum CookieDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    static func parse(_ text: String) -> Date? {
        var time: (Int, Int, Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.lowercased().split(whereSeparator: isDelimiter) {
            if time == nil, let found = clock(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = months.firstIndex(of: String(token.prefix(3))) {
                month = found + 1
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
            }
        }
        guard let time, let day, let month, let year, year >= 1601, (1...31).contains(day), time.0 <= 23,
            time.1 <= 59, time.2 <= 59
        else { return nil }
        let days = daysFromEpoch(year: year, month: month, day: day)
        return Date(timeIntervalSince1970: Double(days * 86_400 + time.0 * 3600 + time.1 * 60 + time.2))
    }

    private static func isDelimiter(_ character: Character) -> Bool {
        guard let byte = character.asciiValue else { return false }
        return byte == 9 || (0x20...0x2f).contains(byte) || (0x3b...0x40).contains(byte)
            || (0x5b...0x60).contains(byte) || (0x7b...0x7e).contains(byte)
    }

    /// Parses a time in the form `hh:mm:ss`, in which each number has one or two digits.
    private static func clock(_ token: Substring) -> (Int, Int, Int)? {
        let parts = token.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(parts[0], digits: 1...2),
            let minute = number(parts[1], digits: 1...2),
            let second = number(parts[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    /// Parses a number at the beginning of a token if its number of digits is in the range `digits`.
    private static func number(_ token: Substring, digits: ClosedRange<Int>) -> Int? {
        let text = token.prefix { ("0"..."9").contains($0) }
        return digits.contains(text.count) ? Int(text) : nil
    }

    /// Counts from 1970-01-01 in the Gregorian calendar.
    static func daysFromEpoch(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let ofEra = shifted - era * 400
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }
}
