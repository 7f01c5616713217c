// SPDX-License-Identifier: MIT

import Foundation

/// A decision about the use of a stored response for a request (RFC 9111 4, RFC 5861).
package enum FreshnessDecision: Sendable, Hashable {
    /// A fresh response, which may be used. Its age is in seconds.
    case fresh(age: Double)
    /// A stale response. It needs revalidation, except for the uses that the associated value allows.
    case stale(StaleUse)
    /// A response that must not be used without successful revalidation, even if the server fails. Its age is in
    /// seconds.
    case mustRevalidate(age: Double)

    /// The permitted uses of a stale response.
    package struct StaleUse: Sendable, Hashable {
        /// The time since the origin server generated the response, in seconds.
        package var age: Double
        /// The time since the response became stale, in seconds.
        package var seconds: Double
        /// Whether the request accepts the stale response without revalidation (`max-stale`).
        package var isAccepted: Bool
        /// Whether the response may be used immediately while it's revalidated in the background
        /// (`stale-while-revalidate`).
        package var mayServeWhileRevalidating: Bool
        /// Whether the response may be used if the server responds with status 500, 502, 503, or 504
        /// (`stale-if-error`).
        package var mayServeOnError: Bool
        /// Whether the response may be used if the server can't be reached (RFC 9111
        /// 4.2.4).
        package var mayServeOffline: Bool
    }
}

extension StoredResponseHead {
    /// Returns how the stored response may be used for a request with the header fields `request`.
    ///
    /// The caller has already checked that the response matches the request according to `Vary`.
    package func decision(
        for request: HTTPHeaderFields, now: Date, policy: HTTPCachePolicy = HTTPCachePolicy()
    ) -> FreshnessDecision {
        let freshness = freshness(now: now, policy: policy)
        let wanted = CacheControl(request)
        let control = cacheControl
        let pragma = request["Cache-Control"] == nil && Self.hasPragma(request)
        if control.noCache || wanted.noCache || pragma || wanted.maxAge.map({ freshness.age > Double($0) }) == true {
            return .mustRevalidate(age: freshness.age)
        }
        if freshness.isFresh {
            let isLongEnough = freshness.remaining >= Double(wanted.minFresh ?? 0)
            return isLongEnough ? .fresh(age: freshness.age) : .mustRevalidate(age: freshness.age)
        }
        // Such a response isn't served stale even if the server can't be reached (RFC 9111 5.2.2.2).
        if control.mustRevalidate { return .mustRevalidate(age: freshness.age) }
        let seconds = freshness.staleness
        let errorWindow =
            // The request can permit it, too (RFC 5861 4).
            [control.staleIfError, wanted.staleIfError].compactMap { $0 }.max().map { Double($0) }
            ?? policy.defaultStaleIfError.map { $0 / .seconds(1) }
        let isWithinErrorWindow = errorWindow.map { seconds <= $0 }
        return .stale(
            .init(
                age: freshness.age, seconds: seconds,
                isAccepted: wanted.maxStale.map { seconds <= Double($0) } ?? false,
                // `stale-while-revalidate` applies to the response but not to the redirects that led to it.
                mayServeWhileRevalidating: policy.servesStaleWhileRevalidating && !isOutlivingRedirects(now: now)
                    && control.staleWhileRevalidate.map { seconds <= Double($0) } ?? false,
                mayServeOnError: isWithinErrorWindow ?? false, mayServeOffline: isWithinErrorWindow ?? true))
    }

    /// Returns whether the header fields contain `Pragma: no-cache`, which applies only without `Cache-Control` (RFC 9111
    /// 5.4).
    static func hasPragma(_ fields: HTTPHeaderFields) -> Bool {
        (fields.combined("Pragma").map(ListHeaderParser.members) ?? []).contains { $0.lowercased() == "no-cache" }
    }

    /// Returns the header fields of a conditional request that revalidates the stored response (RFC 9110 13.1).
    ///
    /// The result is empty if the response has no validator.
    package func conditionalHeaders() -> HTTPHeaderFields {
        var fields = HTTPHeaderFields()
        // Send the entity tag exactly as received. Servers that omit the quotes expect it back without them.
        if let tag = head.headers["ETag"], !tag.isEmpty { fields.append(name: "If-None-Match", value: tag) }
        if let modified = head.headers["Last-Modified"], HTTPDate.parse(modified, now: responseTime) != nil {
            fields.append(name: "If-Modified-Since", value: modified)
        }
        return fields
    }

    /// The entity tag, or `nil` if it's absent or malformed.
    package var entityTag: EntityTag? { head.headers["ETag"].flatMap(EntityTag.init) }
}
