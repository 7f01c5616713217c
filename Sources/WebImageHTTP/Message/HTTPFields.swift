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
        lines.lazy.filter { Self.same($0.name, name) }.map(\.value)
    }

    /// All values of `name` joined by `, ` (RFC 9110 5.3); nil where there is none.
    public func combined(_ name: String) -> String? {
        let all = values(of: name)
        return all.isEmpty ? nil : all.joined(separator: ", ")
    }

    /// Adds a line after the others.
    public mutating func append(name: String, value: String) {
        lines.append(Field(name: name, value: value))
    }

    /// ASCII comparison without case.
    static func same(_ left: String, _ right: String) -> Bool {
        let a = left.utf8
        let b = right.utf8
        guard a.count == b.count else { return false }
        return zip(a, b).allSatisfy { lowered($0) == lowered($1) }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }
}
