// SPDX-License-Identifier: MIT

import Foundation

/// What may be done with a stored answer for a request (RFC 9111 4, RFC 5861).
public enum CacheDecision: Sendable, Hashable {
    /// It may be used; `age` in seconds.
    case fresh(age: Double)
    /// It is stale: ask, and see what it may serve for meanwhile.
    case stale(Staleness)
    /// It must not be used before the server has confirmed it, whatever happens; `age` in seconds.
    case mustRevalidate(age: Double)

    /// What a stale answer may serve for.
    public struct Staleness: Sendable, Hashable {
        /// Seconds since the origin made the answer.
        public var age: Double
        /// Seconds since it became stale.
        public var seconds: Double
        /// The request accepts it as it is (`max-stale`); nothing need be asked.
        public var isAccepted: Bool
        /// May be given at once while it is revalidated behind (`stale-while-revalidate`).
        public var mayServeWhileRevalidating: Bool
        /// May be given when the server answers 500, 502, 503 or 504 (`stale-if-error`).
        public var mayServeOnError: Bool
        /// May be given when the server cannot be reached (RFC 9111 4.2.4).
        public var mayServeOffline: Bool
    }
}

extension StoredHead {
    /// What may be done with the answer for a request with the fields `request`, which Vary has found to match.
    public func decision(
        for request: HTTPFields, now: Date, policy: HTTPCachePolicy = .standard
    ) -> CacheDecision {
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
        if control.mustRevalidate { return .mustRevalidate(age: freshness.age) }
        let seconds = freshness.staleness
        let errorWindow =
            [control.staleIfError, wanted.staleIfError].compactMap { $0 }.max() ?? policy.defaultStaleIfError
        let isWithinErrorWindow = errorWindow.map { seconds <= Double($0) }
        return .stale(
            .init(
                age: freshness.age, seconds: seconds,
                isAccepted: wanted.maxStale.map { seconds <= Double($0) } ?? false,
                // The response allows it for itself and not for the redirects that led to it.
                mayServeWhileRevalidating: policy.staleWhileRevalidate && !isOutlivingRedirects(now: now)
                    && control.staleWhileRevalidate.map { seconds <= Double($0) } ?? false,
                mayServeOnError: isWithinErrorWindow ?? false, mayServeOffline: isWithinErrorWindow ?? true))
    }

    /// `Pragma: no-cache`, for requests that know no Cache-Control (RFC 9111 5.4).
    private static func hasPragma(_ request: HTTPFields) -> Bool {
        (request.combined("Pragma").map(FieldList.members) ?? []).contains { $0.lowercased() == "no-cache" }
    }

    /// Fields that ask the server whether the stored answer still holds (RFC 9110 13.1); empty where it has no
    /// validator.
    public func conditionalFields() -> HTTPFields {
        var fields = HTTPFields()
        // As received: a server that sends tags without quotes wants them back so.
        if let tag = head.fields["ETag"], !tag.isEmpty { fields.append(name: "If-None-Match", value: tag) }
        if let modified = head.fields["Last-Modified"], HTTPDate.parse(modified, now: responseTime) != nil {
            fields.append(name: "If-Modified-Since", value: modified)
        }
        return fields
    }

    /// The entity tag, where it is well-formed.
    public var entityTag: EntityTag? { head.fields["ETag"].flatMap(EntityTag.init) }
}
