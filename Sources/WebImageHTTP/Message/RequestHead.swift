// SPDX-License-Identifier: MIT

/// The method and the header fields of an HTTP request.
package struct RequestHead: Sendable, Hashable {
    /// The method, which is any token. Methods are case-sensitive (RFC 9110 9.1).
    package var method: String
    /// The header fields.
    package var headers: HTTPHeaderFields

    /// Creates a request head.
    package init(method: String = "GET", headers: HTTPHeaderFields = HTTPHeaderFields()) {
        self.method = method
        self.headers = headers
    }

    /// The methods that don't change state on the server, according to the IANA registry. Any other method, including
    /// an unknown one, may change state.
    package static let safeMethods: Set<String> = [
        "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY", "PRI",
    ]

    /// Whether the method doesn't change state on the server.
    package var isSafe: Bool { Self.safeMethods.contains(method) }
    /// Whether a stored response may serve the request. Only GET and HEAD allow it.
    package var mayUseStored: Bool { method == "GET" || method == "HEAD" }
    /// Whether the request has the caller's own conditions (RFC 9110 13.1). `If-Range` doesn't count.
    package var isConditional: Bool { isCacheCondition || needsOrigin }
    /// Whether the request has conditions that a cache may evaluate (RFC 9111 4.3.2).
    package var isCacheCondition: Bool { headers["If-None-Match"] != nil || headers["If-Modified-Since"] != nil }
    /// Whether the request has conditions that only the origin server may evaluate (RFC 9111 4.3.2).
    package var needsOrigin: Bool { headers["If-Match"] != nil || headers["If-Unmodified-Since"] != nil }
    /// The `Range` header field of a GET request. Other methods ignore it (RFC 9110 14.2).
    package var range: String? { method == "GET" ? headers.combined("Range") : nil }
}
