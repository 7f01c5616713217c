// SPDX-License-Identifier: MIT

/// Method and fields of an HTTP request.
public struct RequestHead: Sendable, Hashable {
    /// Any token, as sent; methods compare with case (RFC 9110 9.1).
    public var method: String
    /// The fields.
    public var fields: HTTPFields

    /// Creates a head.
    public init(method: String = "GET", fields: HTTPFields = HTTPFields()) {
        self.method = method
        self.fields = fields
    }

    /// Methods that change nothing at the server (IANA's registry). All others, unknown ones too, may.
    public static let safeMethods: Set<String> = [
        "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY", "PRI",
    ]

    /// Whether the method changes nothing at the server.
    public var isSafe: Bool { Self.safeMethods.contains(method) }
    /// Whether a stored answer may be given: GET and HEAD.
    public var mayUseStored: Bool { method == "GET" || method == "HEAD" }
    /// Whether the caller brought conditions of its own (RFC 9110 13.1); If-Range is none.
    public var isConditional: Bool { isCacheCondition || needsOrigin }
    /// Whether a cache may judge the caller's conditions (RFC 9111 4.3.2).
    public var isCacheCondition: Bool { fields["If-None-Match"] != nil || fields["If-Modified-Since"] != nil }
    /// Conditions that only the origin may judge (RFC 9111 4.3.2).
    public var needsOrigin: Bool { fields["If-Match"] != nil || fields["If-Unmodified-Since"] != nil }
    /// The Range field of a GET; it means nothing for other methods (RFC 9110 14.2).
    public var range: String? { method == "GET" ? fields.combined("Range") : nil }
}
