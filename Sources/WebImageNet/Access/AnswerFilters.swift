// SPDX-License-Identifier: MIT

import WebImageHTTP

/// A filter for the HTTP status codes of responses whose body is the image.
///
/// Filters with equal ranges or sets are equal. A filter with a closure equals only its copies.
public struct StatusFilter: Sendable, Hashable {
    private enum Rule: Sendable, Hashable {
        case range(ClosedRange<Int>)
        case set(Set<Int>)
        case closure(IdentifiedClosure<@Sendable (Int) -> Bool>)
    }

    private let rule: Rule

    /// Creates a filter from a closure.
    ///
    /// - Parameter accepts: A closure that returns whether a status code is accepted. It runs on the network thread, so
    ///   it must be quick and must not block.
    public init(_ accepts: @escaping @Sendable (Int) -> Bool) { rule = .closure(IdentifiedClosure(accepts)) }

    private init(_ rule: Rule) { self.rule = rule }

    /// Returns whether the filter accepts a status code.
    public func contains(_ status: Int) -> Bool {
        switch rule {
        case .range(let range): range.contains(status)
        case .set(let statuses): statuses.contains(status)
        case .closure(let accepts): accepts.closure(status)
        }
    }

    /// The status codes 200 to 299.
    public static let success = StatusFilter.range(200...299)

    /// Returns a filter that accepts the status codes of a range.
    public static func range(_ range: ClosedRange<Int>) -> StatusFilter { StatusFilter(Rule.range(range)) }

    /// Returns a filter that accepts the status codes of a set.
    public static func set(_ statuses: Set<Int>) -> StatusFilter { StatusFilter(Rule.set(statuses)) }
}

/// A filter that compares content types with patterns such as `image/png`, `image/*`, and `*/*`.
enum ContentTypeFilter {
    /// Returns whether the content type of `head` matches one of the patterns.
    ///
    /// An empty array of patterns accepts every response. The comparison ignores parameters and case (RFC 9110 8.3.1).
    /// A response without a content type matches only `*/*`.
    static func accepts(_ head: HTTPResponseHead, _ patterns: [String]) -> Bool {
        guard !patterns.isEmpty else { return true }
        let type = essence(head.headers["Content-Type"] ?? "")
        return patterns.contains { pattern in
            let pattern = essence(pattern)
            if pattern == "*/*" || pattern == "*" { return true }
            guard pattern.hasSuffix("/*") else { return !type.isEmpty && pattern == type }
            return type.hasPrefix(pattern.dropLast())
        }
    }

    private static func essence(_ type: String) -> String {
        String(type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }).lowercased()
    }
}
