// SPDX-License-Identifier: MIT

import Foundation

/// The age and the freshness lifetime of a response (RFC 9111 4.2).
package struct Freshness: Sendable, Hashable {
    /// The source of a freshness lifetime.
    package enum Source: Sendable, Hashable {
        /// The `max-age` directive.
        case maxAge
        /// The `Expires` header field.
        case expires
        /// A fraction of the time since the last modification. By default, the fraction is one tenth and the limit is
        /// 7 days.
        case heuristic
        /// The value of ``HTTPCachePolicy/defaultLifetime``.
        case policy
        /// No source. The response has no explicit lifetime and no heuristic applies, so it must be revalidated.
        case none
    }

    /// The time since the origin server generated the response, in seconds.
    package var age: Double
    /// The freshness lifetime, in seconds.
    package var lifetime: Double
    /// The source of the freshness lifetime.
    package var source: Source

    /// Whether the response may be used without revalidation.
    package var isFresh: Bool { age < lifetime }
    /// The time until the response becomes stale, in seconds. The value is 0 if it's already stale.
    package var remaining: Double { max(0, lifetime - age) }
    /// The time since the response became stale, in seconds. The value is 0 while it's fresh.
    package var staleness: Double { max(0, age - lifetime) }

    /// The status codes of responses that are heuristically cacheable (RFC 9110 15.1).
    package static let heuristicStatuses: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]
}

extension Freshness {
    /// Returns the remaining explicit freshness lifetime of a response that was just received, in seconds.
    ///
    /// The result is 0 if the response forbids storing or reusing it without revalidation, and `nil` if it has no
    /// explicit lifetime.
    package static func explicitLifetime(of response: HTTPResponseHead, now: Date) -> Double? {
        let head = StoredResponseHead(
            request: HTTPHeaderFields(), response: response, finalURL: "", requestTime: now, responseTime: now)
        if head.cacheControl.noStore || head.cacheControl.noCache { return 0 }
        let freshness = head.freshness(now: now)
        return [.maxAge, .expires].contains(freshness.source) ? freshness.remaining : nil
    }
}

extension StoredResponseHead {
    /// The `Cache-Control` directives of the stored response.
    package var cacheControl: CacheControl { CacheControl(head.headers) }

    /// Returns the age and the freshness lifetime at the time `now`.
    package func freshness(now: Date, policy: HTTPCachePolicy = HTTPCachePolicy()) -> Freshness {
        let (lifetime, source) = lifetime(policy)
        guard let redirectLifetime else { return Freshness(age: age(now: now), lifetime: lifetime, source: source) }
        let end = age(now: responseTime) + redirectLifetime
        return Freshness(age: age(now: now), lifetime: min(lifetime, end), source: source)
    }

    /// The time at which the response becomes stale, or `nil` if its freshness lifetime is unknown.
    package var expiry: Date? {
        let freshness = freshness(now: responseTime)
        return freshness.source == .none ? nil : responseTime.addingTimeInterval(freshness.lifetime - freshness.age)
    }

    /// Returns the time since the origin server generated the response, in seconds (RFC 9111 4.2.3). It's never
    /// negative.
    package func age(now: Date) -> Double {
        let resident = now.timeIntervalSince(responseTime)
        // The clock was set back, so the resident time is unknown. Assume the maximum age, or the response might stay
        // fresh indefinitely.
        guard resident > -60 else { return Double(CacheControl.longest) }
        let apparent = max(0, responseTime.timeIntervalSince(date))
        let delay = max(0, responseTime.timeIntervalSince(requestTime))
        return max(apparent, ageValue + delay) + max(0, resident)
    }

    /// The first number of the `Age` header field, or 0 if the header field is absent or invalid.
    private var ageValue: Double {
        let first = head.headers["Age"].flatMap { ListHeaderParser.members($0).first }
        return Double(first.flatMap(ListHeaderParser.deltaSeconds) ?? 0)
    }

    /// The time in the `Date` header field, or the time at which the response was received.
    private var date: Date {
        head.headers["Date"].flatMap { HTTPDate.parse($0, now: responseTime) } ?? responseTime
    }

    private func lifetime(_ policy: HTTPCachePolicy) -> (Double, Freshness.Source) {
        let control = cacheControl
        // `max-age` takes precedence over `Expires` (RFC 9111 5.3).
        if let seconds = control.maxAge { return (Double(seconds), .maxAge) }
        let expires = head.headers.values(for: "Expires")
        if let first = expires.first {
            // Treat an invalid or ambiguous date as a date in the past (RFC 9111 5.3).
            let moment = Set(expires).count == 1 ? HTTPDate.parse(first, now: responseTime) : nil
            return (moment.map { max(0, $0.timeIntervalSince(date)) } ?? 0, .expires)
        }
        let mayGuess = Freshness.heuristicStatuses.contains(head.statusCode) || control.isPublic
        if mayGuess, policy.usesHeuristicFreshness, let text = head.headers["Last-Modified"],
            let modified = HTTPDate.parse(text, now: responseTime), modified < date
        {
            // RFC 9111 4.2.2 suggests a fraction of the time since the last modification.
            let guess = date.timeIntervalSince(modified) * max(0, policy.heuristicFraction)
            return (min(guess, policy.maxHeuristicLifetime / .seconds(1)), .heuristic)
        }
        guard mayGuess, let lifetime = policy.defaultLifetime else { return (0, .none) }
        return (max(0, lifetime / .seconds(1)), .policy)
    }
}
