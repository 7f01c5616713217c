// SPDX-License-Identifier: MIT

/// The choices of a private cache that RFC 9111 leaves open.
///
/// The defaults use every permission that avoids a request or makes a response available.
public struct HTTPCachePolicy: Sendable, Hashable {
    /// A Boolean value that indicates whether responses without explicit freshness get a heuristic lifetime (RFC 9111
    /// 4.2.2). The default is `true`.
    public var usesHeuristicFreshness = true
    /// The heuristic lifetime as a fraction of the time since the last modification, from 0 to 1. The default is 0.1.
    public var heuristicFraction = 0.1
    /// The maximum heuristic lifetime. The default is 7 days.
    public var maxHeuristicLifetime = Duration.seconds(7 * 86_400)
    /// The freshness lifetime of responses without an explicit or a heuristic lifetime.
    ///
    /// It applies only to heuristically cacheable responses. The default is `nil`, which means that such responses are
    /// revalidated before each use.
    public var defaultLifetime: Duration?
    /// A Boolean value that indicates whether the cache uses a stale response if the server can't be reached (RFC 9111
    /// 4.2.4).
    ///
    /// The response and the request can forbid it. The default is `true`.
    public var servesStaleWhenUnreachable = true
    /// A Boolean value that indicates whether the cache follows `stale-if-error` for the status codes 500, 502, 503,
    /// and 504 (RFC 5861 4). The default is `true`.
    public var servesStaleOnError = true
    /// The `stale-if-error` period if neither the response nor the request has the directive. The default is `nil`,
    /// which means no period.
    public var defaultStaleIfError: Duration?
    /// A Boolean value that indicates whether the cache follows `stale-while-revalidate` (RFC 5861 3). The default is
    /// `true`.
    public var servesStaleWhileRevalidating = true
    /// A Boolean value that indicates whether the cache separates the responses to requests with different
    /// credentials.
    ///
    /// If it's `true`, `Authorization` and `Cookie` select responses even if `Vary` doesn't name them, so one user
    /// never receives the response of another. In an `HTTPClient`, this also applies to other header fields whose names
    /// indicate a user or a secret, such as `X-Api-Key` and `X-Auth-Token`. The default is `true`.
    public var separatesCredentials = true

    /// Creates a policy with the default values.
    public init() {}
}

/// The way in which one request uses the cache. The modes are those of the Fetch standard (Fetch 2.2.5).
public enum HTTPCacheMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// A mode that follows RFC 9111.
    case `default`
    /// A mode that bypasses the cache: it neither looks up nor stores a response.
    case noStore = "no-store"
    /// A mode that doesn't look up a stored response but stores the response of the server.
    case reload
    /// A mode that uses a stored response only after revalidation. A fresh `immutable` response needs no revalidation
    /// (RFC 8246).
    case noCache = "no-cache"
    /// A mode that uses any stored response, regardless of its age, and sends a request only on a cache miss.
    case forceCache = "force-cache"
    /// A mode that uses any stored response, regardless of its age. On a cache miss, the cache generates a 504
    /// response.
    case onlyIfCached = "only-if-cached"
}
