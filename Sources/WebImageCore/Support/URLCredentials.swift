// SPDX-License-Identifier: MIT

/// User names and passwords in URLs (RFC 3986 3.2.1). They never leave the process: output shows URLs without them, and files
/// hold a hash at most.
package enum URLCredentials {
    /// The URL that `text` begins with, without its user information, and the user information.
    ///
    /// The result is `nil` if the text isn't a URL with an authority, or has no user information.
    package static func split(_ text: String) -> (url: String, credentials: String)? {
        // Nearly no URL has any.
        guard text.utf8.contains(at), let mark = schemeEnd(text.utf8[...]), isScheme(text.utf8[..<mark]),
            let range = userInformation(text.utf8[...], after: mark, isEnd: endsAuthority)
        else { return nil }
        let rest = text[text.utf8.index(after: range.upperBound)...]
        return (String(text[..<range.lowerBound] + rest), String(text[range]))
    }

    /// The text without the user information of the URLs in it.
    package static func removed(from text: String) -> String {
        guard text.utf8.contains(at) else { return text }
        var result = ""
        var rest = text.utf8[...]
        while let mark = schemeEnd(rest) {
            let start = rest.index(mark, offsetBy: 3)
            result += text[rest.startIndex..<start]
            // In running text a URL ends where one can't go on.
            let range = userInformation(rest, after: mark) { endsAuthority($0) || $0 <= 32 || "\"<>".utf8.contains($0) }
            rest = rest[(range.map { rest.index(after: $0.upperBound) } ?? start)...]
        }
        return result + text[rest.startIndex...]
    }

    private static let at = UInt8(ascii: "@")

    private static func endsAuthority(_ byte: UInt8) -> Bool { "/?#".utf8.contains(byte) }

    /// Where the next `://` begins.
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

    /// The bytes before the last `@` of the authority that follows `mark`.
    private static func userInformation(
        _ text: Substring.UTF8View, after mark: Substring.Index, isEnd: (UInt8) -> Bool
    ) -> Range<Substring.Index>? {
        let start = text.index(mark, offsetBy: 3)
        let authority = text[start...].prefix { !isEnd($0) }
        return authority.lastIndex(of: at).map { start..<$0 }
    }
}
