// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The file format of curl's `--hsts` option. Each line contains a host and the expiration date in UTC. A leading dot
/// means that the policy includes subdomains.
extension HSTSStore {
    private static let unlimited = "unlimited"
    /// The maximum size of a file, in bytes. A full store fits.
    private static let fileSizeLimit = 1 << 20

    /// The unexpired policies in the format of curl, sorted by host.
    package var text: String {
        var text = "# Hosts that require HTTPS, in the format of curl's HSTS cache\n"
        for (host, rule) in known.sorted(by: { $0.key < $1.key }) {
            text += "\(rule.includesSubdomains ? "." : "")\(host) \"\(Self.stamp(rule.end))\"\n"
        }
        return text
    }

    /// Adds the policies of a text in the format of curl.
    ///
    /// Invalid lines and expired policies are skipped. Policies that are already in the store take precedence.
    package func add(text: String) {
        var rules: [String: Rule] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard !line.hasPrefix("#"), parts.count == 2,
                let end = Self.end(parts[1].trimmingCharacters(in: CharacterSet(charactersIn: " \t\"")))
            else { continue }
            let includesSubdomains = parts[0].hasPrefix(".")
            guard let host = HostName(String(includesSubdomains ? parts[0].dropFirst() : parts[0])),
                host.text.utf8.count <= 253, host.addressBytes == nil
            else { continue }
            rules[host.text] = Rule(end: end, includesSubdomains: includesSubdomains)
        }
        add(rules)
    }

    /// Writes the store to a file that only the current user may read, because it reveals visited hosts.
    ///
    /// An existing file is replaced atomically.
    ///
    /// - Throws: ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)`` if the file can't be written.
    public func save(to file: URL) throws(ImageError) {
        try OwnerOnlyFile.write(Data(text.utf8), to: file.absoluteURL.path(percentEncoded: false))
    }

    /// Adds the policies of a file of up to 1 MiB.
    ///
    /// - Throws: ``ImageError/RequestFailure/fileNotFound(path:)``,
    ///   ``ImageError/RequestFailure/fileUnreadable(path:errno:)``, or an ``ImageError/LimitFailure`` of the kind
    ///   ``ImageError/LimitFailure/Kind/encodedSize`` if the file is too large.
    public func load(from file: URL) throws(ImageError) {
        let bytes = try ImageFile.contents(of: file.absoluteURL.path(percentEncoded: false), limit: Self.fileSizeLimit)
        add(text: String(decoding: bytes, as: UTF8.self))
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

    /// Parses `YYYYMMDD HH:MM:SS` in UTC or `unlimited`. Returns `nil` if the text has another form.
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
