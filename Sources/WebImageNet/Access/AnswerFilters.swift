// SPDX-License-Identifier: MIT

import WebImageHTTP

/// Statuses whose body is the picture.
public struct StatusFilter: Sendable {
    private let accepts: @Sendable (Int) -> Bool

    /// Accepts what `accepts` says. It runs on the network thread and must be quick.
    public init(_ accepts: @escaping @Sendable (Int) -> Bool) { self.accepts = accepts }

    /// Whether `status` is accepted.
    public func contains(_ status: Int) -> Bool { accepts(status) }

    /// 200…299.
    public static let success = StatusFilter.range(200...299)

    /// The statuses of a range.
    public static func range(_ range: ClosedRange<Int>) -> StatusFilter { StatusFilter { range.contains($0) } }

    /// The statuses of a set.
    public static func set(_ statuses: Set<Int>) -> StatusFilter { StatusFilter { statuses.contains($0) } }
}

/// Content types against patterns such as `image/png`, `image/*`, `*/*`.
enum ContentTypeFilter {
    /// Whether `head` has one of the types. No patterns: every answer does. Parameters do not count, nor does case
    /// (RFC 9110 8.3.1); an answer without a type fits only `*/*`.
    static func accepts(_ head: ResponseHead, _ patterns: [String]) -> Bool {
        guard !patterns.isEmpty else { return true }
        let type = essence(head.fields["Content-Type"] ?? "")
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
