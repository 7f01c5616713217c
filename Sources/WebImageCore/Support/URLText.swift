// SPDX-License-Identifier: MIT

import Foundation

/// A parser for URLs in text form, which follows the URL Standard (WHATWG).
///
/// Every URL that a user, an application, or a server writes as text is parsed here, so all of them mean the same URL as
/// in a browser. Existing escapes remain unchanged, and only the bytes that need escapes are percent-encoded.
/// Whitespace at the ends, tabs, and line breaks are ignored, backslashes in URLs of `http`, `https`, and `file` are
/// slashes, and dot segments are removed.
///
/// The result differs from the serialization of the URL Standard in the following points:
///
/// - Characters that RFC 3986 doesn't allow, such as `[` in a query, are percent-encoded, because a `URL` of Foundation
///   can't contain them. A percent sign that begins no escape becomes `%25`.
/// - The host remains as written, until Foundation converts it to Punycode. ``HostName`` contains the normal form, with
///   which all hosts are compared. A default port and an empty path also remain as written.
/// - Text without a scheme and a base, and `file:` with a relative path, remain relative references.
/// - Drive letters have no special meaning.
package enum URLText {
    /// Returns the URL that a text denotes.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - base: The URL that a relative reference refers to, or `nil` if there is none. The default is `nil`.
    /// - Returns: `nil` if the text is empty or isn't a valid URL. Otherwise, the URL consists of ASCII characters.
    package static func url(_ text: String, relativeTo base: URL? = nil) -> URL? {
        parsed(Array(text.utf8), base)
    }

    /// Returns the URL that the value of a header field denotes.
    ///
    /// - Parameters:
    ///   - value: The value as Latin-1 text, in which each scalar is one byte. The bytes don't need to be valid UTF-8.
    ///   - base: The URL that a relative reference refers to.
    /// - Returns: `nil` if the value is empty or isn't a valid URL. Otherwise, the URL consists of ASCII characters.
    package static func url(field value: String, relativeTo base: URL) -> URL? {
        let scalars = value.unicodeScalars
        guard scalars.allSatisfy({ $0.value < 256 }) else { return url(value, relativeTo: base) }
        return parsed(scalars.map { UInt8(truncatingIfNeeded: $0.value) }, base)
    }

    /// Returns the text of the URL that a text denotes, with the host as written. Returns `nil` if the text is empty or
    /// isn't a valid URL.
    package static func serialized(_ text: String) -> String? { URLTextParts.parse(Array(text.utf8))?.text }

    /// Returns a text without the characters that the URL Standard ignores: whitespace and control characters at the
    /// ends, and tabs and line breaks.
    package static func withoutIgnoredCharacters(_ text: String) -> String {
        String(decoding: URLTextParts.withoutIgnoredBytes(Array(text.utf8)), as: UTF8.self)
    }

    /// Returns the path, the query, and the fragment of a web URL, or the beginning of them, percent-encoded as in the
    /// results of the other functions. Dot segments remain.
    package static func encodedPath(_ text: String) -> String {
        String(decoding: URLTextParts.encodedRest(Array(text.utf8)), as: UTF8.self)
    }

    private static func parsed(_ text: [UInt8], _ base: URL?) -> URL? {
        var baseParts: URLTextParts?
        if let base {
            baseParts = URLTextParts.parse(Array(base.absoluteString.utf8))
            guard baseParts != nil else { return nil }
        }
        return URLTextParts.parse(text, relativeTo: baseParts).flatMap { URL(string: $0.text) }
    }
}
