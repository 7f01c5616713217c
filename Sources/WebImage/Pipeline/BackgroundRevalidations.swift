// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageStore

/// Revalidations that no request waits for (RFC 5861 3): of all requests that were given the same stale bytes, one
/// asks. Thread-safe.
final class BackgroundRevalidations: Sendable {
    private struct State {
        var running: Set<Key> = []
        /// When the last revalidation of a key ended.
        var ended: [Key: ContinuousClock.Instant] = [:]
    }

    /// What makes two revalidations one.
    struct Key: Hashable, Sendable {
        let data: CacheKey
        /// The fields may select another variant of the same key.
        let fields: HTTPFields
        let cache: ObjectIdentifier
    }

    /// Ends remembered; beyond, all are forgotten, which costs a repeated question.
    private static let limit = 1_024

    private let state = Lock(State())

    /// Revalidations that run.
    var count: Int { state.withLock { $0.running.count } }

    /// Starts `work`, unless a revalidation of the same bytes runs or has ended since `plan` was made.
    func start(_ plan: RequestPlan, _ work: @escaping @Sendable () async -> Void) {
        let key = Key(
            data: plan.keys.data, fields: plan.request.fields, cache: ObjectIdentifier(plan.originalCache))
        let isFirst = state.withLock { state in
            if let ended = state.ended[key], ended >= plan.asked { return false }
            return state.running.insert(key).inserted
        }
        guard isFirst else { return }
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
