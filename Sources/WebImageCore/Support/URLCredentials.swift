// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// User names and passwords in URLs (RFC 3986, section 3.2.1).
///
/// They never leave the process. Output shows URLs without them, and files contain at most a hash.
package enum URLCredentials {
    /// Returns the URL at the start of `text` without its user information, and the user information.
    ///
    /// The result is `nil` if the text isn't a URL with an authority, or has no user information.
    package static func split(_ text: String) -> (url: String, credentials: String)? {
        // Almost no URL has credentials, so check for an at sign first.
        guard hasAt(text), let mark = schemeEnd(text.utf8[...]), isScheme(text.utf8[..<mark]),
            let range = userInformation(text.utf8[...], after: mark, isEnd: endsAuthority)
        else { return nil }
        let rest = text[text.utf8.index(after: range.upperBound)...]
        return (String(text[..<range.lowerBound] + rest), String(text[range]))
    }

    /// Returns the text without the user information of the URLs in it.
    package static func removed(from text: String) -> String {
        guard hasAt(text) else { return text }
        var result = ""
        var rest = text.utf8[...]
        while let mark = schemeEnd(rest) {
            let start = rest.index(mark, offsetBy: 3)
            result += text[rest.startIndex..<start]
            // In running text, a URL ends at a character that URLs can't contain.
            let range = userInformation(rest, after: mark) { endsAuthority($0) || $0 <= 32 || "\"<>".utf8.contains($0) }
            rest = rest[(range.map { rest.index(after: $0.upperBound) } ?? start)...]
        }
        return result + text[rest.startIndex...]
    }

    /// Returns the URL without its user information.
    package static func removed(from url: URL) -> URL {
        let text = url.absoluteString
        guard let parts = split(text) else { return url }
        return URL(string: parts.url) ?? url
    }

    private static let at = UInt8(ascii: "@")

    /// Returns whether `text` contains an at sign. Each request key calls this function, so it searches contiguous
    /// bytes.
    private static func hasAt(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, Int32(at), bytes.count) != nil } ?? false
        } ?? text.utf8.contains(at)
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool { "/?#".utf8.contains(byte) }

    /// Returns the position of the next `://`.
    private static func schemeEnd(_ text: Substring.UTF8View) -> Substring.Index? {
        var rest = text
        while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            if text[colon...].starts(with: "://".utf8) { return colon }
            rest = rest[rest.index(after: colon)...]
        }
        return nil
    }

    private static func isScheme(_ text: Substring.UTF8View) -> Bool {
        !text.isEmpty
            && text.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// Returns the range of the bytes before the last `@` of the authority that follows `mark`.
    private static func userInformation(
        _ text: Substring.UTF8View, after mark: Substring.Index, isEnd: (UInt8) -> Bool
    ) -> Range<Substring.Index>? {
        let start = text.index(mark, offsetBy: 3)
        let authority = text[start...].prefix { !isEnd($0) }
        return authority.lastIndex(of: at).map { start..<$0 }
    }
}
