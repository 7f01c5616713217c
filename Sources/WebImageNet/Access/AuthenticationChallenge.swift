// SPDX-License-Identifier: MIT

import WebImageHTTP

/// A challenge in a `WWW-Authenticate` header field (RFC 9110 11.6.1).
struct AuthenticationChallenge: Sendable, Equatable {
    var scheme: String
    /// The parameters, with lowercase names and unquoted values.
    var parameters: [String: String] = [:]

    var realm: String { parameters["realm"] ?? "" }

    /// Whether the password was correct and only the nonce has expired (RFC 7616 3.3).
    var isStaleNonce: Bool { scheme == "digest" && parameters["stale"]?.lowercased() == "true" }

    static func all(_ head: HTTPResponseHead) -> [AuthenticationChallenge] {
        head.headers.values(for: "WWW-Authenticate").flatMap(parse)
    }

    /// Returns the challenges of one header field. Unreadable parts are skipped.
    static func parse(_ text: String) -> [AuthenticationChallenge] {
        var scanner = Scanner(text)
        var challenges: [AuthenticationChallenge] = []
        while let word = scanner.word() {
            if scanner.skipEquals() {
                // A token68 can end with any number of `=` characters, but a parameter has a value.
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

        /// Skips to the next run of token characters and consumes it. Returns `nil` at the end.
        mutating func word() -> String? {
            rest = rest.drop { !Self.isWordScalar($0) }
            let word = rest.prefix(while: Self.isWordScalar)
            rest = rest.dropFirst(word.count)
            return word.isEmpty ? nil : String(word)
        }

        /// Consumes `=` and the whitespace around it. Returns `false` if `=` isn't next.
        mutating func skipEquals() -> Bool {
            let next = rest.drop { $0 == " " || $0 == "\t" }
            guard next.first == "=" else { return false }
            rest = next.dropFirst().drop { $0 == " " || $0 == "\t" }
            return true
        }

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
