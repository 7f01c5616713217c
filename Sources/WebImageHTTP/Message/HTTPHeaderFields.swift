// SPDX-License-Identifier: MIT

import WebImageCore

/// A collection of header fields in the order in which they were received, including repeated ones.
///
/// Names are case-insensitive (RFC 9110 5.1). Values are Latin-1 text as received, without surrounding whitespace.
public struct HTTPHeaderFields: Sendable, Hashable, Codable {
    /// One line of a header section.
    package struct Field: Sendable, Hashable, Codable {
        /// The name as written.
        package var name: String
        /// The value without surrounding whitespace.
        package var value: String

        /// Creates a header field.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The lines in order.
    package private(set) var lines: [Field]

    /// Creates a collection without header fields.
    public init() { lines = [] }

    /// Creates a collection from names and values.
    ///
    /// - Parameter fields: The names and the values of the header fields, in order. Names can be repeated.
    public init(_ fields: some Sequence<(name: String, value: String)>) {
        lines = fields.map { Field(name: $0.name, value: $0.value) }
    }

    /// Creates a collection from lines.
    package init(_ lines: [Field]) { self.lines = lines }

    /// The first value of the header field `name`. Setting a value replaces all lines with that name by one line, and
    /// setting `nil` removes them.
    public subscript(name: String) -> String? {
        get { lines.first { Self.same($0.name, name) }?.value }
        set {
            lines.removeAll { Self.same($0.name, name) }
            if let newValue { lines.append(Field(name: name, value: newValue)) }
        }
    }

    /// Returns all values of the header field `name` in order.
    public func values(for name: String) -> [String] {
        var values: [String] = []
        for line in lines where Self.same(line.name, name) { values.append(line.value) }
        return values
    }

    /// Returns all values of the header field `name` joined by `, ` (RFC 9110 5.3), or `nil` if the field is absent.
    package func combined(_ name: String) -> String? {
        guard let first = lines.firstIndex(where: { Self.same($0.name, name) }) else { return nil }
        // Avoid the array, because repeated header fields are rare.
        guard lines[(first + 1)...].contains(where: { Self.same($0.name, name) }) else { return lines[first].value }
        return values(for: name).joined(separator: ", ")
    }

    /// Appends a line.
    public mutating func append(name: String, value: String) {
        lines.append(Field(name: name, value: value))
    }

    static func same(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        var (left, right) = (left, right)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                for index in left.indices
                where left[index] != right[index] && lowered(left[index]) != lowered(right[index]) {
                    return false
                }
                return true
            }
        }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }
}

extension HTTPHeaderFields: RandomAccessCollection {
    /// The name and the value of a header field.
    public typealias Element = (name: String, value: String)

    /// The position of the first header field.
    public var startIndex: Int { 0 }
    /// The position after the last header field.
    public var endIndex: Int { lines.count }

    /// The header field at a position.
    public subscript(position: Int) -> (name: String, value: String) {
        (name: lines[position].name, value: lines[position].value)
    }
}

extension HTTPHeaderFields: ExpressibleByDictionaryLiteral {
    /// Creates a collection from the names and the values of a dictionary literal, in the order of the literal. Names
    /// can be repeated.
    public init(dictionaryLiteral elements: (String, String)...) {
        lines = elements.map { Field(name: $0.0, value: $0.1) }
    }
}

extension HTTPHeaderFields: CustomStringConvertible {
    /// The header fields, one per line. The values of `Authorization`, `Cookie`, `Proxy-Authorization`, `Set-Cookie`,
    /// and other header fields whose names indicate a secret, such as `X-Api-Key`, are replaced, so that they don't
    /// appear in logs.
    public var description: String {
        lines.map { "\($0.name): \(Self.isSecret($0) ? Self.redacted : $0.value)" }.joined(separator: "\n")
    }

    /// The header fields without secrets: the values of the header fields that ``description`` replaces, and the user
    /// information of URLs.
    var withoutSecretValues: [(name: String, value: String)] {
        lines.map { line in
            (name: line.name, value: Self.isSecret(line) ? Self.redacted : URLCredentials.removed(from: line.value))
        }
    }

    private static let redacted = "<redacted>"

    private static func isSecret(_ line: Field) -> Bool { identifiesUser(line.name) }
}

extension HTTPHeaderFields {
    /// Returns whether the name of a header field indicates that its value identifies a user or is a secret.
    ///
    /// Examples are `Authorization`, `Cookie`, `X-Api-Key`, `X-Auth-Token`, and `X-Forwarded-User`.
    package static func identifiesUser(_ name: String) -> Bool {
        let name = name.lowercased()
        guard !publicNames.contains(name), !name.hasPrefix("access-control-") else { return false }
        if SecretNames.contains(name) { return true }
        return name.split { $0 == "-" || $0 == "_" }.contains { userParts.contains(String($0)) }
    }

    /// The names that contain a part of secret names but don't identify a user.
    private static let publicNames: Set<String> = [
        "user-agent", "www-authenticate", "proxy-authenticate", "cache-key", "surrogate-key", "sec-websocket-key",
        "sec-fetch-user",
    ]
    /// Words between separators that indicate a user.
    private static let userParts: Set<String> = [
        "user", "userid", "username", "account", "tenant", "identity", "login",
    ]
}

extension HTTPHeaderFields {
    /// The names of the request header fields that don't select different content, in lowercase.
    ///
    /// They concern the connection, intermediate caches, conditions, or the content coding, which the downloader
    /// removes. `User-Agent` is included because a response that depends on it names it in `Vary`.
    package static let namesWithoutEffectOnData: Set<String> = [
        "accept-encoding", "cache-control", "connection", "if-match", "if-modified-since", "if-none-match", "if-range",
        "if-unmodified-since", "keep-alive", "pragma", "priority", "te", "traceparent", "tracestate",
        "user-agent",
    ]
}
