// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A failure in the negative cache, which fails requests for a limited time without a new attempt.
package struct RememberedFailure: Sendable, Hashable {
    /// The key of the data that couldn't be loaded.
    package var key: CacheKey
    /// The error that occurred.
    package var error: ImageError
    /// The date of the failure.
    package var since: Date
    /// The date at which the failure expires.
    package var until: Date
}

/// The negative cache, which remembers failures and their errors.
///
/// The cache is limited in time and number and exists only in memory. This class is thread-safe, and no method blocks.
package final class FailureCache: Sendable {
    /// The default maximum number of negative cache entries.
    package static let defaultLimit = 1_024

    private struct Entry {
        let context: FailureContext?
        let failure: RememberedFailure
    }

    private struct State {
        var entries: [CacheKey: [Entry]] = [:]
        var count = 0

        mutating func filter(_ key: CacheKey, _ isKept: (Entry) -> Bool) {
            guard let before = entries[key] else { return }
            let after = before.filter(isKept)
            count += after.count - before.count
            entries[key] = after.isEmpty ? nil : after
        }

        mutating func add(_ entry: Entry) {
            filter(entry.failure.key) { $0.context != entry.context }
            entries[entry.failure.key, default: []].append(entry)
            count += 1
        }

        /// Removes entries that have expired at `time`, and then, if necessary, the entries that expire first.
        mutating func shrink(to limit: Int, at time: Date) {
            for key in Array(entries.keys) { filter(key) { $0.failure.isValid(at: time) } }
            // Remove an additional eighth of the limit, so that a burst of failures doesn't sort the entries for each
            // failure.
            guard count > limit else { return }
            let ends = entries.values.joined().map(\.failure.until).sorted()
            let last = ends[min(count - limit + limit / 8, ends.count) - 1]
            for key in Array(entries.keys) { filter(key) { $0.failure.until > last } }
        }
    }

    private let policy: FailurePolicy
    private let limit: Int
    private let now: @Sendable () -> Date
    private let state = Lock(State())

    /// Creates an empty negative cache. Beyond `limit`, the entries that expire first are removed. The default is
    /// 1,024.
    package init(
        policy: FailurePolicy = .standard, limit: Int = FailureCache.defaultLimit,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.policy = policy
        self.limit = max(0, limit)
        self.now = now
    }

    /// Returns the most recent failure of a key, regardless of the request that failed.
    ///
    /// - Returns: The failure, or `nil` if no failure is remembered or if it has expired.
    package func failure(for key: CacheKey) -> RememberedFailure? { failure(for: key) { _ in true } }

    /// Returns the most recent failure of a key that occurred in one of the given contexts or without a context.
    package func failure(for key: CacheKey, in contexts: [FailureContext]) -> RememberedFailure? {
        failure(for: key) { context in context.map(contexts.contains) ?? true }
    }

    private func failure(for key: CacheKey, _ answers: (FailureContext?) -> Bool) -> RememberedFailure? {
        let time = now()
        return state.withLock { state in
            guard state.entries[key] != nil else { return nil }
            state.filter(key) { $0.failure.isValid(at: time) }
            return state.entries[key]?.last { answers($0.context) }?.failure
        }
    }

    /// Remembers a failure for all requests with a key, if the policy allows it.
    ///
    /// This method ignores errors that can't be remembered, and errors that come from the negative cache.
    package func record(_ error: ImageError, for key: CacheKey) { record(error, for: key, in: nil) }

    /// Remembers a failure for requests in the same context, or for all requests if the context is `nil`.
    package func record(_ error: ImageError, for key: CacheKey, in context: FailureContext?) {
        guard error.isRememberable, error.rememberedUntil == nil, let seconds = policy.lifetime(error), seconds > 0,
            limit > 0
        else { return }
        let time = now()
        let failure = RememberedFailure(
            key: key, error: error, since: time, until: time.addingTimeInterval(min(seconds, Self.longest)))
        state.withLock { state in
            state.add(Entry(context: context, failure: failure))
            if state.count > limit { state.shrink(to: limit, at: time) }
        }
    }

    /// Removes all failures of a key.
    package func remove(_ key: CacheKey) { state.withLock { $0.filter(key) { _ in false } } }

    /// Removes the failures of a key that occurred in one of the given contexts or without a context.
    ///
    /// Call this method after a request succeeds in these contexts.
    package func remove(_ key: CacheKey, in contexts: [FailureContext]) {
        state.withLock { state in
            guard state.entries[key] != nil else { return }
            state.filter(key) { entry in entry.context.map { !contexts.contains($0) } ?? false }
        }
    }

    /// Removes all failures.
    package func removeAll() { state.withLock { $0 = State() } }

    /// The negative cache entries, beginning with the newest.
    package var all: [RememberedFailure] {
        let time = now()
        return state.withLock { $0.entries.values.joined().map(\.failure) }.filter { $0.isValid(at: time) }
            .sorted { $0.since > $1.since }
    }

    /// The number of negative cache entries.
    package var count: Int { all.count }

    /// The maximum lifetime of a failure in seconds (one day). It overrides longer lifetimes that a response states.
    private static let longest = 86_400.0
}

extension RememberedFailure {
    /// If the clock was set back to before the failure, the failure is invalid. Otherwise it could last indefinitely.
    fileprivate func isValid(at time: Date) -> Bool { since <= time && time < until }

    /// The error with which requests fail because of this failure.
    package var rememberedError: ImageError { error.remembered(until: until) }
}

/// The circumstances of a failure. The failure doesn't apply to requests that are sent or accepted differently.
package struct FailureContext: Hashable, Sendable {
    private let value: any Hashable & Sendable

    /// Creates a context. Contexts with equal values are equal.
    package init(_ value: any Hashable & Sendable) { self.value = value }

    package static func == (left: FailureContext, right: FailureContext) -> Bool {
        AnyHashable(left.value) == AnyHashable(right.value)
    }

    package func hash(into hasher: inout Hasher) { AnyHashable(value).hash(into: &hasher) }
}
