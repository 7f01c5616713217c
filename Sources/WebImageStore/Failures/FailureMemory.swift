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

    private let policy: FailurePolicy
    private let limit: Int
    private let now: @Sendable () -> Date
    private let failures = Lock<[CacheKey: RememberedFailure]>([:])

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

    /// What is remembered of `key`; nil where nothing is, or no longer.
    public func failure(for key: CacheKey) -> RememberedFailure? {
        failures.withLock { failures in
            guard let failure = failures[key] else { return nil }
            if failure.isValid(at: now()) { return failure }
            failures[key] = nil
            return nil
        }
    }

    /// Remembers `error`, where the policy wants that. What is cancelled, and what was answered from this memory, is not.
    public func note(_ error: ImageError, for key: CacheKey) {
        guard !error.isCancelled, error.remembered == nil, let seconds = policy.lifetime(error), seconds > 0,
            limit > 0
        else { return }
        let time = now()
        failures.withLock { failures in
            failures[key] = RememberedFailure(
                key: key, error: error, since: time, until: time.addingTimeInterval(min(seconds, Self.longest)))
            guard failures.count > limit else { return }
            failures = failures.filter { $0.value.isValid(at: time) }
            // An eighth leaves at once, so that a flood of failures is not sorted for each of them.
            guard failures.count > limit else { return }
            let leaving = failures.values.sorted { $0.until < $1.until }.prefix(failures.count - limit + limit / 8)
            for failure in leaving { failures[failure.key] = nil }
        }
    }

    /// Forgets what is remembered of `key`, after a success or at the owner's wish.
    public func forget(_ key: CacheKey) { failures.withLock { _ = $0.removeValue(forKey: key) } }

    /// Forgets everything.
    public func removeAll() { failures.withLock { $0.removeAll() } }

    /// All that is remembered, the newest first.
    public var all: [RememberedFailure] {
        let time = now()
        return failures.withLock { Array($0.values) }.filter { $0.isValid(at: time) }.sorted { $0.since > $1.since }
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
