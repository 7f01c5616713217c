// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageStore

/// The revalidations that run in the background (RFC 5861 3). Only one of the requests that received the same stale
/// data revalidates it. This class is thread-safe.
final class BackgroundRevalidations: Sendable {
    private struct State {
        var running: Set<Key> = []
        /// The end time of the last revalidation of each key.
        var ended: [Key: ContinuousClock.Instant] = [:]
    }

    /// The key of a revalidation. Requests with equal keys share it.
    struct Key: Hashable, Sendable {
        let data: CacheKey
        /// The header fields, which can select another variant of the same key.
        let headers: HTTPHeaderFields
        let cache: ObjectIdentifier
    }

    /// The maximum number of recorded end times. When it's reached, all are removed, which can cause a redundant
    /// revalidation.
    private static let limit = 1_024

    private let state = Lock(State())

    /// The number of running revalidations.
    var count: Int { state.withLock { $0.running.count } }

    /// Starts a revalidation unless one of the same data is running or has ended since the creation of `plan`.
    ///
    /// `prepare` returns the work of the revalidation. This method calls it before it returns, and only if the
    /// revalidation starts.
    func start(_ plan: ResolvedRequest, _ prepare: () -> @Sendable () async -> Void) {
        let key = Key(
            data: plan.keys.data, headers: plan.request.headers, cache: ObjectIdentifier(plan.originalCache))
        let isFirst = state.withLock { state in
            if let ended = state.ended[key], ended >= plan.createdAt { return false }
            return state.running.insert(key).inserted
        }
        guard isFirst else { return }
        let work = prepare()
        Task.detached(priority: .background) { [self] in
            await work()
            state.withLock { state in
                state.running.remove(key)
                if state.ended.count >= Self.limit { state.ended.removeAll(keepingCapacity: true) }
                state.ended[key] = .now
            }
        }
    }
}
