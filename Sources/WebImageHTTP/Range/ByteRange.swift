// SPDX-License-Identifier: MIT

/// A single byte range of a request (RFC 9110 14.1.2).
package enum ByteRange: Sendable, Hashable {
    /// The bytes from the first position to the last position, or to the end if the last position is `nil`.
    case from(Int, to: Int?)
    /// The given number of bytes at the end.
    case suffix(Int)

    /// Parses a `Range` header field. Returns `nil` for other units, multiple ranges, and invalid values.
    package init?(_ text: String) {
        let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, ListHeaderParser.trimmed(String(halves[0])).lowercased() == "bytes" else { return nil }
        let members = ListHeaderParser.members(String(halves[1]))
        guard members.count == 1 else { return nil }
        let ends = members[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty {
            guard let length = Self.number(ends[1]) else { return nil }
            self = .suffix(length)
            return
        }
        guard let first = Self.number(ends[0]) else { return nil }
        guard !ends[1].isEmpty else {
            self = .from(first, to: nil)
            return
        }
        guard let last = Self.number(ends[1]), first <= last else { return nil }
        self = .from(first, to: last)
    }

    /// Returns the bytes of a representation of `size` bytes, or `nil` if the range is unsatisfiable (416).
    package func resolved(in size: Int) -> Range<Int>? {
        switch self {
        case .from(let first, let last):
            guard first < size else { return nil }
            return first..<(min(last ?? size - 1, size - 1) + 1)
        case .suffix(let length):
            // A suffix of zero bytes isn't satisfiable (RFC 9110 14.1.2).
            guard length > 0, size > 0 else { return nil }
            return max(0, size - length)..<size
        }
    }

    /// Parses a number. Numbers that are too large become `Int.max`.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text) ?? .max
    }
}
