// SPDX-License-Identifier: MIT

/// Header fields in the order they came, repeats kept. Names compare without case (RFC 9110 5.1); values are
/// Latin-1 text as received, without surrounding blanks.
public struct HTTPFields: Sendable, Hashable, Codable {
    /// One line of a header.
    public struct Field: Sendable, Hashable, Codable {
        /// The name as written.
        public var name: String
        /// The value without surrounding blanks.
        public var value: String

        /// Creates a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The lines in order.
    public private(set) var lines: [Field]

    /// Creates fields from lines.
    public init(_ lines: [Field] = []) { self.lines = lines }

    /// The first value of `name`; setting replaces all lines of that name by one, nil removes them.
    public subscript(name: String) -> String? {
        get { lines.first { Self.same($0.name, name) }?.value }
        set {
            lines.removeAll { Self.same($0.name, name) }
            if let newValue { lines.append(Field(name: name, value: newValue)) }
        }
    }

    /// All values of `name` in order.
    public func values(of name: String) -> [String] {
        var values: [String] = []
        for line in lines where Self.same(line.name, name) { values.append(line.value) }
        return values
    }

    /// All values of `name` joined by `, ` (RFC 9110 5.3); nil where there is none.
    public func combined(_ name: String) -> String? {
        guard let first = lines.firstIndex(where: { Self.same($0.name, name) }) else { return nil }
        // Nearly always the only one.
        guard lines[(first + 1)...].contains(where: { Self.same($0.name, name) }) else { return lines[first].value }
        return values(of: name).joined(separator: ", ")
    }

    /// Adds a line after the others.
    public mutating func append(name: String, value: String) {
        lines.append(Field(name: name, value: value))
    }

    /// ASCII comparison without case.
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

extension HTTPFields {
    /// The names of the request header fields that don't select other content, in lowercase.
    ///
    /// They concern the connection, caches on the way, conditions, or the content coding, which the downloader removes.
    /// `User-Agent` is one of them because a response that depends on it names it in `Vary`.
    public static let namesWithoutEffectOnData: Set<String> = [
        "accept-encoding", "cache-control", "connection", "if-match", "if-modified-since", "if-none-match", "if-range",
        "if-unmodified-since", "keep-alive", "pragma", "priority", "te", "user-agent",
    ]
}
