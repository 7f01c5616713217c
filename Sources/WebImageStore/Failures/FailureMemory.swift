// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A failure that answers for a while without anybody being asked again.
public struct RememberedFailure: Sendable, Hashable {
    /// What identifies the bytes that could not be had.
    public var key: CacheKey
    /// What went wrong.
    public var error: ImageError
    /// When it went wrong.
    public var since: Date
    /// When it is forgotten.
    public var until: Date
}

/// The negative cache: what failed, and why, for a limited time and of a limited number. In memory alone.
/// Thread-safe; nothing blocks.
public final class FailureMemory: Sendable {
    /// Failures remembered by default.
    public static let defaultLimit = 1_024

    private struct Entry {
        let context: FailureContext?
        let failure: RememberedFailure
    }

    private struct State {
        var entries: [CacheKey: [Entry]] = [:]
        var count = 0

        /// Keeps those entries of `key` that `isKept` says.
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

        /// Removes what is no longer valid at `time`, and beyond `limit` those that would be forgotten first.
        mutating func shrink(to limit: Int, at time: Date) {
            for key in Array(entries.keys) { filter(key) { $0.failure.isValid(at: time) } }
            // An eighth leaves at once, so that a flood of failures is not sorted for each of them.
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

    /// Creates an empty memory.
    ///
    /// - Parameters:
    ///   - policy: what is remembered, and how long.
    ///   - limit: failures remembered; beyond, those leave that would be forgotten first. Default 1,024.
    ///   - now: the clock.
    public init(
        policy: FailurePolicy = .standard, limit: Int = FailureMemory.defaultLimit,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.policy = policy
        self.limit = max(0, limit)
        self.now = now
    }

    /// Returns the most recent failure of a key, regardless of the request that failed.
    ///
    /// - Returns: The failure, or `nil` if no failure is remembered or if it has expired.
    public func failure(for key: CacheKey) -> RememberedFailure? { failure(for: key) { _ in true } }

    /// The failure of `key` that one of `contexts`, or nothing in particular, produced.
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
    /// Canceled requests and failures that were remembered before aren't noted.
    public func note(_ error: ImageError, for key: CacheKey) { note(error, for: key, in: nil) }

    /// Remembers `error` for requests in the same context; nil for all requests.
    package func note(_ error: ImageError, for key: CacheKey, in context: FailureContext?) {
        guard !error.isCancelled, error.remembered == nil, let seconds = policy.lifetime(error), seconds > 0,
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
    public func forget(_ key: CacheKey) { state.withLock { $0.filter(key) { _ in false } } }

    /// Forgets what one of `contexts`, or nothing in particular, produced: the same would succeed now.
    package func forget(_ key: CacheKey, in contexts: [FailureContext]) {
        state.withLock { state in
            guard state.entries[key] != nil else { return }
            state.filter(key) { entry in entry.context.map { !contexts.contains($0) } ?? false }
        }
    }

    /// Removes all failures.
    public func removeAll() { state.withLock { $0 = State() } }

    /// All that is remembered, the newest first.
    public var all: [RememberedFailure] {
        let time = now()
        return state.withLock { $0.entries.values.joined().map(\.failure) }.filter { $0.isValid(at: time) }
            .sorted { $0.since > $1.since }
    }

    /// Failures remembered.
    public var count: Int { all.count }

    /// No answer is good for longer than a day in here, whatever it says.
    private static let longest = 86_400.0
}

extension RememberedFailure {
    /// A clock that was set back would make it eternal; then it is forgotten instead.
    fileprivate func isValid(at time: Date) -> Bool { since <= time && time < until }

    /// The error of a request that it answers.
    public var answer: ImageError { .cache(.remembered(cause: error, since: since, until: until)) }
}

/// What produced a failure: it says nothing about a request that would be sent or accepted in another way.
package struct FailureContext: Hashable, Sendable {
    private let value: any Hashable & Sendable

    /// A context that equals those of equal values.
    package init(_ value: any Hashable & Sendable) { self.value = value }

    package static func == (left: FailureContext, right: FailureContext) -> Bool {
        AnyHashable(left.value) == AnyHashable(right.value)
    }

    package func hash(into hasher: inout Hasher) { AnyHashable(value).hash(into: &hasher) }
}
