// SPDX-License-Identifier: MIT

import Foundation

/// A parser and formatter for HTTP dates (RFC 9110 5.6.7).
///
/// The parser is strict, because a cache must treat an invalid date as one in the past. It ignores case and also
/// accepts the two obsolete formats.
package enum HTTPDate {
    private static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    private static let longDays = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Returns the date that `text` represents, or `nil` if it's invalid. A two-digit year in the RFC 850 format that
    /// is more than 50 years after `now` belongs to the previous century.
    package static func parse(_ text: String, now: Date = Date()) -> Date? {
        let bytes = text.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }
        var scanner = DateScanner(bytes)
        return imf(scanner) ?? rfc850(&scanner, now: now) ?? asctime(DateScanner(bytes))
    }

    /// Returns the date in the form `Sun, 06 Nov 1994 08:49:37 GMT`. Years outside of 0 to 9999 are clamped.
    package static func format(_ date: Date) -> String {
        let seconds = min(max(date.timeIntervalSince1970.rounded(.down), -62_167_219_200), 253_402_300_799)
        let whole = Int(seconds.isNaN ? 0 : seconds)
        let day = Int((Double(whole) / 86_400).rounded(.down))
        let time = whole - day * 86_400
        let civil = civilDate(day)
        let weekday = ((day + 3) % 7 + 7) % 7
        return "\(days[weekday].capitalized), \(padded(civil.day)) \(months[civil.month - 1].capitalized) "
            + "\(padded(civil.year, 4)) \(padded(time / 3_600)):\(padded(time / 60 % 60)):\(padded(time % 60)) GMT"
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func imf(_ start: DateScanner) -> Date? {
        var scanner = start
        guard scanner.word(days) != nil, scanner.skip(", "), let day = scanner.digits(2), scanner.skip(" "),
            let month = scanner.word(months), scanner.skip(" "), let year = scanner.digits(4), scanner.skip(" "),
            let time = scanner.time(), scanner.skip(" gmt"), scanner.isAtEnd
        else { return nil }
        return moment(year, month + 1, day, time)
    }

    /// Parses `Sunday, 06-Nov-94 08:49:37 GMT`.
    private static func rfc850(_ scanner: inout DateScanner, now: Date) -> Date? {
        guard scanner.word(longDays) != nil, scanner.skip(", "), let day = scanner.digits(2), scanner.skip("-"),
            let month = scanner.word(months), scanner.skip("-"), let short = scanner.digits(2), scanner.skip(" "),
            let time = scanner.time(), scanner.skip(" gmt"), scanner.isAtEnd
        else { return nil }
        let seconds = now.timeIntervalSince1970
        guard abs(seconds) < 1e15 else { return nil }
        let thisYear = civilDate(Int((seconds / 86_400).rounded(.down))).year
        var year = thisYear / 100 * 100 + short
        // A date that appears to be more than 50 years in the future is in the past (RFC 9110 5.6.7).
        if year > thisYear + 50 { year -= 100 }
        return moment(year, month + 1, day, time)
    }

    /// Parses `Sun Nov  6 08:49:37 1994`.
    private static func asctime(_ start: DateScanner) -> Date? {
        var scanner = start
        guard scanner.word(days) != nil, scanner.skip(" "), let month = scanner.word(months), scanner.skip(" "),
            let day = scanner.skip(" ") ? scanner.digits(1) : scanner.digits(2), scanner.skip(" "),
            let time = scanner.time(), scanner.skip(" "), let year = scanner.digits(4), scanner.isAtEnd
        else { return nil }
        return moment(year, month + 1, day, time)
    }

    private static func moment(_ year: Int, _ month: Int, _ day: Int, _ time: Int) -> Date? {
        guard day >= 1, day <= daysIn(month, year) else { return nil }
        return Date(timeIntervalSince1970: Double(dayNumber(year, month, day) * 86_400 + time))
    }

    private static func daysIn(_ month: Int, _ year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Returns the number of days since 1970-01-01 in the Gregorian calendar. Years begin in March here, so the leap
    /// day is the last day.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civilDate(_ number: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = number + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
        return (year, month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
    }

    private static func padded(_ number: Int, _ width: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}

/// A scanner for a lowercase date string.
private struct DateScanner {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    mutating func digits(_ count: Int) -> Int? {
        let part = rest.prefix(count)
        guard part.count == count, part.allSatisfy({ (48...57).contains($0) }) else { return nil }
        rest = rest.dropFirst(count)
        return part.reduce(0) { $0 * 10 + Int($1) - 48 }
    }

    mutating func word(_ words: [String]) -> Int? {
        for (index, word) in words.enumerated() where skip(word) { return index }
        return nil
    }

    /// Consumes a time such as `08:49:37` and returns it in seconds since midnight. Second 60 is a leap second.
    mutating func time() -> Int? {
        guard let hour = digits(2), skip(":"), let minute = digits(2), skip(":"), let second = digits(2),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        return hour * 3_600 + minute * 60 + second
    }
}
