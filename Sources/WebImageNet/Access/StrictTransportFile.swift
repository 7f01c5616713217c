// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The format of curl's `--hsts` files: host and end in UTC on each line, with a dot before hosts whose subdomains
/// are meant too.
extension StrictTransport {
    private static let unlimited = "unlimited"
    /// Most bytes that are read.
    private static let mostBytes = 1 << 20

    /// The store's text: hosts whose time is not over, in the order of their names.
    public var text: String {
        var text = "# Hosts that want https alone, in the format of curl's HSTS cache\n"
        for (host, rule) in known.sorted(by: { $0.key < $1.key }) {
            text += "\(rule.includesSubdomains ? "." : "")\(host) \"\(Self.stamp(rule.end))\"\n"
        }
        return text
    }

    /// Puts in the hosts of a text in that format. Lines that are none are skipped, as are hosts whose time is over;
    /// what the store knows of a host already stays.
    public func add(text: String) {
        var rules: [String: Rule] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard !line.hasPrefix("#"), parts.count == 2,
                let end = Self.end(parts[1].trimmingCharacters(in: CharacterSet(charactersIn: " \t\"")))
            else { continue }
            var host = parts[0].lowercased()[...]
            let includesSubdomains = host.hasPrefix(".")
            if includesSubdomains { host = host.dropFirst() }
            if host.hasSuffix(".") { host = host.dropLast() }
            guard !host.isEmpty, host.utf8.count <= 253, IPAddress(host: String(host)) == nil else { continue }
            rules[String(host)] = Rule(end: end, includesSubdomains: includesSubdomains)
        }
        add(rules)
    }

    /// Writes the store into a file that only this user may read: it tells where one has been. A file of that name is
    /// replaced in one step.
    ///
    /// - Throws: ``CacheError/system(operation:path:errno:)``.
    public func write(to path: String) throws(ImageError) {
        do {
            try PrivateFile.write(Data(text.utf8), to: path)
        } catch {
            throw .cache(.system(operation: "write", path: path, errno: error.code))
        }
    }

    /// Puts in the hosts of a file; of what is longer than 1 MiB, those of the first MiB.
    ///
    /// - Throws: ``RequestError/fileNotFound(path:)``.
    public func read(from path: String) throws(ImageError) {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw .request(.fileNotFound(path: path))
        }
        add(text: String(decoding: bytes.prefix(Self.mostBytes), as: UTF8.self))
    }

    private static func stamp(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func padded(_ number: Int32, _ count: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        let day = padded(parts.tm_year + 1900, 4) + padded(parts.tm_mon + 1, 2) + padded(parts.tm_mday, 2)
        return "\(day) \(padded(parts.tm_hour, 2)):\(padded(parts.tm_min, 2)):\(padded(parts.tm_sec, 2))"
    }

    /// `YYYYMMDD HH:MM:SS` in UTC, or no end; nil for anything else.
    private static func end(_ text: String) -> Date? {
        if text == unlimited { return .distantFuture }
        let bytes = Array(text.utf8)
        guard bytes.count == 17, bytes[8] == 32, bytes[11] == 58, bytes[14] == 58 else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            guard bytes[range].allSatisfy({ (48...57).contains($0) }) else { return nil }
            return bytes[range].reduce(0) { $0 * 10 + Int($1) - 48 }
        }
        guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8), let hour = number(9..<11),
            let minute = number(12..<14), let second = number(15..<17), (1...12).contains(month),
            (1...31).contains(day), hour < 24, minute < 60, second < 61
        else { return nil }
        return Date(
            timeIntervalSince1970: Double(
                CookieDate.daysFromEpoch(year: year, month: month, day: day) * 86_400 + hour * 3_600 + minute * 60
                    + second))
    }
}
