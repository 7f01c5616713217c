// SPDX-License-Identifier: MIT

import Foundation

/// Functions that remove secrets from texts before logging: user names, passwords, queries, and fragments of URLs, and
/// the contents of data URLs.
package enum Redaction {
    /// Returns the text of a URL without its secrets.
    package static func text(of url: URL) -> String { text(url.absoluteString) }

    /// Returns a text in which every URL is shortened to its scheme, host, and path.
    package static func text(_ text: String) -> String {
        var rest = text[...]
        var result = ""
        while let found = next(in: rest) {
            result += rest[..<found.lowerBound]
            let url = shortened(rest[found])
            result += url
            rest = rest[found.upperBound...]
            // The text can already be redacted, as in `data:image/png,…`.
            if url.hasSuffix("…") {
                let mark = rest.first == "," ? rest.dropFirst() : rest
                if mark.first == "…" { rest = mark.drop { $0 == "…" } }
            }
        }
        return result + rest
    }

    /// Returns the range of the next URL, from its scheme to the first character that ends a URL in running text.
    private static func next(in text: Substring) -> Range<Substring.Index>? {
        let authority = text.range(of: "://")
        let data = text.range(of: "data:", options: .caseInsensitive)
        guard let mark = [authority, data].compactMap({ $0 }).min(by: { $0.lowerBound < $1.lowerBound }) else {
            return nil
        }
        let start = mark == data ? mark.lowerBound : schemeStart(in: text, before: mark.lowerBound)
        let end = text[mark.upperBound...].firstIndex { $0.isWhitespace || "\"“”<>".contains($0) } ?? text.endIndex
        return start..<contentEnd(of: text[mark.upperBound..<end])
    }

    /// Returns the position of the punctuation at the end of a URL that belongs to the sentence around the URL, or the
    /// end of the URL. A closing bracket belongs to the URL if the URL contains its opening bracket.
    private static func contentEnd(of url: Substring) -> Substring.Index {
        var url = url
        // Count the brackets once, because a URL can end with thousands of them.
        var surplus: [Character: Int] = [:]
        while let last = url.last {
            if let opening = openingBrackets[last] {
                let count =
                    surplus[last] ?? url.reduce(0) { $1 == last ? $0 + 1 : $1 == opening ? $0 - 1 : $0 }
                guard count > 0 else { break }
                surplus[last] = count - 1
            } else if !".,:;!'’…".contains(last) {
                break
            }
            url.removeLast()
        }
        return url.endIndex
    }

    private static let openingBrackets: [Character: Character] = [")": "(", "]": "[", "}": "{"]

    private static func schemeStart(in text: Substring, before end: Substring.Index) -> Substring.Index {
        text[..<end].lastIndex { !($0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0))) }
            .map(text.index(after:)) ?? text.startIndex
    }

    private static func shortened(_ url: Substring) -> String {
        guard let mark = url.range(of: "://") else { return String(url.prefix(5)) + "…" }
        let rest = url[mark.upperBound...]
        let end = rest.firstIndex { $0 == "?" || $0 == "#" } ?? rest.endIndex
        let authority = rest[..<end].prefix { $0 != "/" }
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        return url[..<mark.upperBound] + host + rest[authority.endIndex..<end] + (end < rest.endIndex ? "?…" : "")
    }
}
