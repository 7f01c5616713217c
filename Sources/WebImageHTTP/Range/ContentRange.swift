// SPDX-License-Identifier: MIT

/// The byte range that a response contains (RFC 9110 14.4).
package enum ContentRange: Sendable, Hashable {
    /// The bytes from `first` through `last`. `total` is `nil` if the server sent `*`.
    case bytes(first: Int, last: Int, total: Int?)
    /// No bytes, as in a 416 response, which contains only the total size.
    case unsatisfied(total: Int)

    /// Parses the value of a `Content-Range` header field. Returns `nil` for other units, reversed ranges, and
    /// contradictory numbers.
    package init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let halves = ListHeaderParser.trimmed(String(parts[1])).split(separator: "/", omittingEmptySubsequences: false)
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
