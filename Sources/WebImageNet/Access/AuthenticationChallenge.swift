// SPDX-License-Identifier: MIT

import WebImageHTTP

/// One challenge of a WWW-Authenticate field (RFC 9110 11.6.1).
struct AuthenticationChallenge: Sendable, Equatable {
    /// In lower case.
    var scheme: String
    /// Names in lower case, values without quotes.
    var parameters: [String: String] = [:]

    var realm: String { parameters["realm"] ?? "" }

    /// Whether the password was right and only the nonce is too old (RFC 7616 3.3).
    var isStaleNonce: Bool { scheme == "digest" && parameters["stale"]?.lowercased() == "true" }

    /// All challenges of a head, in order.
    static func all(_ head: ResponseHead) -> [AuthenticationChallenge] {
        head.fields.values(of: "WWW-Authenticate").flatMap(parse)
    }

    /// The challenges of one field. What cannot be read is left out.
    static func parse(_ text: String) -> [AuthenticationChallenge] {
        var scanner = Scanner(text)
        var challenges: [AuthenticationChallenge] = []
        while let word = scanner.word() {
            if scanner.takeEquals() {
                // A token68 ends in any number of `=`; a parameter has a value.
                guard let value = scanner.value(), let last = challenges.indices.last else { continue }
                let name = word.lowercased()
                if challenges[last].parameters[name] == nil { challenges[last].parameters[name] = value }
            } else {
                challenges.append(AuthenticationChallenge(scheme: word.lowercased()))
            }
        }
        return challenges
    }

    private struct Scanner {
        private var rest: Substring.UnicodeScalarView

        init(_ text: String) { rest = Substring(text).unicodeScalars }

        /// The next run of token characters; nil at the end. Anything before it is skipped.
        mutating func word() -> String? {
            rest = rest.drop { !Self.isWordScalar($0) }
            let word = rest.prefix(while: Self.isWordScalar)
            rest = rest.dropFirst(word.count)
            return word.isEmpty ? nil : String(word)
        }

        /// Takes `=` and blanks around it where it is next.
        mutating func takeEquals() -> Bool {
            let next = rest.drop { $0 == " " || $0 == "\t" }
            guard next.first == "=" else { return false }
            rest = next.dropFirst().drop { $0 == " " || $0 == "\t" }
            return true
        }

        /// A quoted string or a token; nil where neither is next.
        mutating func value() -> String? {
            guard rest.first == "\"" else {
                let value = rest.prefix(while: Self.isWordScalar)
                rest = rest.dropFirst(value.count)
                return value.isEmpty ? nil : String(value)
            }
            var text = String.UnicodeScalarView()
            rest = rest.dropFirst()
            while let scalar = rest.popFirst() {
                if scalar == "\"" { return String(text) }
                if scalar != "\\" {
                    text.append(scalar)
                } else if let escaped = rest.popFirst() {
                    text.append(escaped)
                }
            }
            return nil
        }

        private static func isWordScalar(_ scalar: Unicode.Scalar) -> Bool {
            scalar.value > 32 && scalar.value < 127 && scalar != "," && scalar != "=" && scalar != "\""
        }
    }
}
