// SPDX-License-Identifier: MIT

import WebImageHTTP

/// A filter that compares content types with patterns such as `image/png`, `image/*`, and `*/*`.
enum ContentTypeFilter {
    /// Returns whether the content type of `head` matches one of the patterns.
    ///
    /// An empty collection of patterns accepts every response. The comparison ignores parameters and case (RFC 9110
    /// 8.3.1). A response without a content type matches only `*/*`.
    static func accepts(_ head: HTTPResponseHead, _ patterns: some Collection<String>) -> Bool {
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
