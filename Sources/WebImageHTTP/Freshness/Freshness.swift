// SPDX-License-Identifier: MIT

import Foundation

/// How old an answer is, and how old it may become (RFC 9111 4.2).
public struct Freshness: Sendable, Hashable {
    /// Where the lifetime comes from.
    public enum Source: Sendable, Hashable {
        /// `max-age`.
        case maxAge
        /// `Expires`.
        case expires
        /// A tenth of the time since the last modification, at most 7 days.
        case heuristic
        /// ``HTTPCachePolicy/defaultLifetime``.
        case policy
        /// The answer says nothing, and nothing may be guessed: it must be revalidated, but is not useless.
        case none
    }

    /// Seconds since the origin made the answer.
    public var age: Double
    /// Seconds it is fresh.
    public var lifetime: Double
    /// Where the lifetime comes from.
    public var source: Source

    /// True while it may be used without asking.
    public var isFresh: Bool { age < lifetime }
    /// Seconds until it is stale; 0 when it is.
    public var remaining: Double { max(0, lifetime - age) }
    /// Seconds since it became stale; 0 while fresh.
    public var staleness: Double { max(0, age - lifetime) }

    /// A guessed lifetime is at most so many seconds: 7 days.
    public static let longestHeuristic = 7.0 * 86_400
    /// Statuses whose answers may be stored and given a guessed lifetime (RFC 9110 15.1).
    public static let heuristicStatuses: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]
}

extension Freshness {
    /// Seconds for which `answer`, just come, says by itself that it holds; 0 where it forbids to be kept or used unasked;
    /// nil where it says nothing.
    public static func told(by answer: ResponseHead, now: Date) -> Double? {
        let head = StoredHead(
            request: HTTPFields(), response: answer, finalURL: "", requestTime: now, responseTime: now)
        if head.cacheControl.noStore || head.cacheControl.noCache { return 0 }
        let freshness = head.freshness(now: now)
        return [.maxAge, .expires].contains(freshness.source) ? freshness.remaining : nil
    }
}

extension StoredHead {
    /// The directives of the stored answer.
    public var cacheControl: CacheControl { CacheControl(head.fields) }

    /// Age and lifetime at `now`.
    public func freshness(now: Date, policy: HTTPCachePolicy = .standard) -> Freshness {
        let (lifetime, source) = lifetime(policy)
        guard let redirectLifetime else { return Freshness(age: age(now: now), lifetime: lifetime, source: source) }
        let end = age(now: responseTime) + redirectLifetime
        return Freshness(age: age(now: now), lifetime: min(lifetime, end), source: source)
    }

    /// When the answer stops being fresh; nil where it says nothing about it.
    public var expiry: Date? {
        let freshness = freshness(now: responseTime)
        return freshness.source == .none ? nil : responseTime.addingTimeInterval(freshness.lifetime - freshness.age)
    }

    /// Seconds since the origin made the answer (RFC 9111 4.2.3), never negative.
    public func age(now: Date) -> Double {
        let resident = now.timeIntervalSince(responseTime)
        // The clock was set back since: how long it has been here is unknown, and fresh for ever it must not be.
        guard resident > -60 else { return Double(CacheControl.longest) }
        let apparent = max(0, responseTime.timeIntervalSince(date))
        let delay = max(0, responseTime.timeIntervalSince(requestTime))
        return max(apparent, ageValue + delay) + max(0, resident)
    }

    /// The first number of the Age lines; what is no number counts as absent.
    private var ageValue: Double {
        let first = head.fields["Age"].flatMap { FieldList.members($0).first }
        return Double(first.flatMap(FieldList.deltaSeconds) ?? 0)
    }

    /// The Date field, or when the answer came.
    private var date: Date {
        head.fields["Date"].flatMap { HTTPDate.parse($0, now: responseTime) } ?? responseTime
    }

    private func lifetime(_ policy: HTTPCachePolicy) -> (Double, Freshness.Source) {
        let control = cacheControl
        if let seconds = control.maxAge { return (Double(seconds), .maxAge) }
        let expires = head.fields.values(of: "Expires")
        if let first = expires.first {
            // A wrong or ambiguous date is one in the past (RFC 9111 5.3).
            let moment = Set(expires).count == 1 ? HTTPDate.parse(first, now: responseTime) : nil
            return (moment.map { max(0, $0.timeIntervalSince(date)) } ?? 0, .expires)
        }
        let mayGuess = Freshness.heuristicStatuses.contains(head.status) || control.isPublic
        if mayGuess, policy.usesHeuristics, let text = head.fields["Last-Modified"],
            let modified = HTTPDate.parse(text, now: responseTime), modified < date
        {
            let guess = date.timeIntervalSince(modified) * max(0, policy.heuristicFraction)
            return (min(guess, policy.longestHeuristic), .heuristic)
        }
        guard mayGuess, let seconds = policy.defaultLifetime else { return (0, .none) }
        return (max(0, seconds), .policy)
    }
}
