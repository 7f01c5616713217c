// SPDX-License-Identifier: MIT

import Foundation

/// The names of query parameters and header fields whose values are secrets.
package enum SecretNames {
    /// Words that indicate a secret anywhere in a name.
    private static let words = [
        "cookie", "token", "apikey", "secret", "session", "passw", "credential", "signature", "jwt", "hmac",
    ]
    /// Words that indicate a secret between separators.
    private static let parts: Set<String> = ["auth", "key", "sig", "sign", "pwd"]
    /// The beginnings of words that indicate a secret between separators.
    private static let prefixes = ["authoriz", "authoris", "authent"]

    /// Returns whether a name indicates that its value is a secret, such as `X-Api-Key` or `X-Amz-Signature`.
    ///
    /// The case of the name doesn't matter.
    package static func contains(_ name: String) -> Bool {
        let name = name.lowercased()
        if containsWord(name) { return true }
        return name.split { "-_.".contains($0) }.contains { part in
            parts.contains(String(part)) || prefixes.contains(where: part.hasPrefix)
        }
    }

    /// Returns whether a lowercase name contains one of the words.
    ///
    /// This comparison is part of a hot path. A search by Foundation would convert both strings for each word.
    private static func containsWord(_ name: String) -> Bool {
        let name = Array(name.utf8)
        return name.indices.contains { start in
            words.contains { name[start...].starts(with: $0.utf8) }
        }
    }

    /// Returns a text in which URLs contain neither user information nor the values of secret parameters.
    ///
    /// The parameters are those of queries and fragments. An ellipsis replaces each value.
    package static func removed(from text: String) -> String {
        let text = URLCredentials.removed(from: text)
        guard text.utf8.contains(UInt8(ascii: "=")) else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(where: { "?&;#".contains($0) }) {
            let afterStart = rest.index(after: start)
            let name = rest[afterStart...].prefix { $0 != "=" && !endsParameter($0) }
            result += rest[..<name.endIndex]
            rest = rest[name.endIndex...]
            guard rest.first == "=", contains(String(name).removingPercentEncoding ?? String(name)) else { continue }
            result += "=…"
            rest = rest.dropFirst().drop { !endsValue($0) }
        }
        return result + rest
    }

    /// Returns whether a character ends a value of a URL in running text.
    private static func endsValue(_ character: Character) -> Bool {
        character.isWhitespace || "&#\"<>[]“”".contains(character)
    }

    private static func endsParameter(_ character: Character) -> Bool {
        endsValue(character) || "?;".contains(character)
    }
}
