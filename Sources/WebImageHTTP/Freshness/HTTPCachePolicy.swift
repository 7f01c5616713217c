// SPDX-License-Identifier: MIT

/// What a private cache does where RFC 9111 leaves it a choice. The defaults take every permission that spares a
/// request or saves an answer.
public struct HTTPCachePolicy: Sendable, Hashable {
    /// Whether answers without explicit freshness get a guessed lifetime (RFC 9111 4.2.2). Default true.
    public var usesHeuristics = true
    /// Share of the time since the last modification that is guessed, 0…1. Default 0.1.
    public var heuristicFraction = 0.1
    /// A guess is never longer; seconds. Default 7 days.
    public var longestHeuristic = Freshness.longestHeuristic
    /// Lifetime in seconds of answers that say nothing and of which nothing can be guessed; for the statuses that may
    /// be guessed of only. Default nil: they are asked about each time.
    public var defaultLifetime: Double?
    /// Whether a stale answer is given when the server cannot be reached (RFC 9111 4.2.4), unless the answer or the
    /// request forbids it. Default true.
    public var staleWhenUnreachable = true
    /// Whether `stale-if-error` is followed for 500, 502, 503 and 504 (RFC 5861 4). Default true.
    public var staleOnError = true
    /// Seconds of `stale-if-error` for answers and requests that do not have it. Default nil: none.
    public var defaultStaleIfError: Int?
    /// Whether `stale-while-revalidate` is followed (RFC 5861 3). Default true.
    public var staleWhileRevalidate = true
    /// A Boolean value that indicates whether responses to requests with different credentials are kept apart.
    ///
    /// If it is `true`, `Authorization` and `Cookie` select responses even if `Vary` doesn't name them, so that one
    /// user never receives the response of another. The default is `true`.
    public var separatesCredentials = true

    /// The defaults.
    public init() {}

    /// The defaults.
    public static let standard = HTTPCachePolicy()
}

/// How one request uses the cache; the modes of Fetch (Fetch 2.2.5).
public enum HTTPCacheMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// As RFC 9111 says.
    case `default`
    /// Past the cache: nothing is looked up and nothing stored.
    case noStore = "no-store"
    /// Nothing is looked up; the answer is stored.
    case reload
    /// A stored answer is given only when the server has confirmed it now. One that is fresh and `immutable` needs
    /// no confirmation (RFC 8246).
    case noCache = "no-cache"
    /// Any stored answer will do, however old; else the server is asked.
    case forceCache = "force-cache"
    /// Any stored answer will do, however old; else the answer is a 504 of the cache's own.
    case onlyIfCached = "only-if-cached"
}
