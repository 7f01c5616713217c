// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The Netscape cookie file format of curl and wget, with seven fields that are separated by tabs.
extension CookieJar {
    /// The unexpired cookies of the jar in the Netscape format. Session cookies have the expiration time 0.
    ///
    /// Cookies that the format can't represent are omitted, such as those that contain a tab.
    package var netscapeText: String {
        var text = "# Netscape HTTP Cookie File\n"
        for cookie in cookies where Self.isRepresentable(cookie) {
            let fields = [
                (cookie.isHTTPOnly ? "#HttpOnly_" : "") + (cookie.isHostOnly ? "" : ".") + cookie.domain,
                cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE",
                String(cookie.expires.map { Int64(min(max($0.timeIntervalSince1970, 0), 1e15)) } ?? 0), cookie.name,
                cookie.value,
            ]
            text += fields.joined(separator: "\t") + "\n"
        }
        return text
    }

    /// Adds the cookies of a text in the Netscape format. Invalid lines are skipped.
    package func add(netscapeText text: String) {
        // Only LF ends a line. Other characters for which `isNewline` is `true`, such as U+0085, occur in values that
        // servers choose, so they must not begin another cookie.
        for line in text.unicodeScalars.split(separator: "\n") {
            var line = Substring(line.last == "\r" ? line.dropLast() : line)
            let isHTTPOnly = line.hasPrefix("#HttpOnly_")
            if isHTTPOnly { line = line.dropFirst(10) }
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard !line.hasPrefix("#"), fields.count == 7, let end = Double(fields[4]), end.isFinite,
                !fields[5].isEmpty, fields[2].hasPrefix("/"),
                fields[5].utf8.count + fields[6].utf8.count <= CookieParser.mostBytes
            else { continue }
            let domain = fields[0].hasPrefix(".") ? String(fields[0].dropFirst()) : fields[0]
            guard let domain = HostName(domain)?.text else { continue }
            let cookie = Cookie(
                name: fields[5], value: fields[6], domain: domain, isHostOnly: fields[1] != "TRUE",
                path: fields[2], expires: end > 0 ? Date(timeIntervalSince1970: end) : nil,
                isSecure: fields[3] == "TRUE", isHTTPOnly: isHTTPOnly)
            guard Self.isRepresentable(cookie) else { continue }
            set(cookie)
        }
    }

    /// Returns whether a cookie can be a line of the format.
    ///
    /// A control character would end its line or the header field in which it's sent. A domain that begins with a
    /// number sign would be a comment, and one that begins with a dot would become another domain.
    private static func isRepresentable(_ cookie: Cookie) -> Bool {
        guard let first = cookie.domain.unicodeScalars.first, first != ".", first != "#" else { return false }
        return ![cookie.domain, cookie.path, cookie.name, cookie.value].contains { text in
            text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
        }
    }

    /// Writes the cookies to a file that only the current user may read.
    ///
    /// An existing file is replaced atomically. Cookies that the format can't represent aren't written, such as those
    /// that contain a tab.
    ///
    /// - Throws: ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)`` if the file can't be written.
    public func save(to file: URL) throws(ImageError) {
        try OwnerOnlyFile.write(Data(netscapeText.utf8), to: file.absoluteURL.path(percentEncoded: false))
    }

    /// Adds the cookies of a file of up to 16 MiB. Invalid lines and cookies with control characters are skipped.
    ///
    /// - Throws: ``ImageError/RequestFailure/fileNotFound(path:)``,
    ///   ``ImageError/RequestFailure/fileUnreadable(path:errno:)``, or an ``ImageError/LimitFailure`` of the kind
    ///   ``ImageError/LimitFailure/Kind/encodedSize`` if the file is too large.
    public func load(from file: URL) throws(ImageError) {
        let bytes = try ImageFile.contents(of: file.absoluteURL.path(percentEncoded: false), limit: Self.fileSizeLimit)
        add(netscapeText: String(decoding: bytes, as: UTF8.self))
    }

    /// The maximum size of a file, in bytes. A jar with 3,000 cookies of 4 KiB each fits.
    private static let fileSizeLimit = 16 << 20
}
