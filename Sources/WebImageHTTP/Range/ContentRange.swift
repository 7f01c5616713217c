// SPDX-License-Identifier: MIT

/// Which bytes of the whole an answer carries (RFC 9110 14.4).
public enum ContentRange: Sendable, Hashable {
    /// Bytes `first…last`; `total` is nil where the server wrote `*`.
    case bytes(first: Int, last: Int, total: Int?)
    /// None, as in a 416: only the whole's size is told.
    case unsatisfied(total: Int)

    /// Reads the field's value; nil for other units, wrong order and numbers that contradict each other.
    public init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let halves = FieldList.trimmed(String(parts[1])).split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let total = Self.number(halves[1])
        if halves[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            halves[1] == "*" || total.map({ last < $0 }) == true
        else { return nil }
        self = .bytes(first: first, last: last, total: total)
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }
}
