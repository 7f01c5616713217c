// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageStore

/// The responses that this manager received, revalidated, or prefetched.
///
/// A response is identified by the key of its data and by the time at which it was received or revalidated. An entry on
/// disk has this time in its head, so the table also recognizes entries that this manager wrote and no longer has in
/// memory. It recognizes no entry with a validator of an earlier process, because it's empty after a restart.
///
/// This class is thread-safe.
final class RecentResponses: Sendable {
    private struct ID: Hashable {
        let data: CacheKey.Digest
        /// Seconds since 1970, which is the form that files contain, so the value survives a round trip.
        let time: Double

        init(_ data: CacheKey, _ head: StoredResponseHead) {
            self.data = data.digest
            time = head.responseTime.timeIntervalSince1970
        }
    }

    private struct Record {
        /// Whether a prefetcher loaded the response and no request has used it since.
        var isUnusedPrefetch = false
        /// The time of the last use by a request that isn't a prefetch.
        var lastUse: ContinuousClock.Instant?
    }

    private struct State {
        var records: [ID: Record] = [:]
        var order = FIFOQueue<ID>()
        var unusedPrefetches = 0

        mutating func change(_ id: ID, _ body: (inout Record) -> Void) {
            var record = records[id]
            if record == nil {
                order.push(id)
                record = Record()
            }
            guard var changed = record else { return }
            unusedPrefetches -= changed.isUnusedPrefetch ? 1 : 0
            body(&changed)
            unusedPrefetches += changed.isUnusedPrefetch ? 1 : 0
            records[id] = changed
            while records.count > RecentResponses.limit, let oldest = order.pop() {
                if records.removeValue(forKey: oldest)?.isUnusedPrefetch == true { unusedPrefetches -= 1 }
            }
        }
    }

    /// The maximum number of responses in the table, which then occupies about 2 MB. When it's reached, the table
    /// removes the oldest ones, which are then revalidated as HTTP requires.
    static let limit = 16_384

    private let state = Lock(State())
    /// The number of unused prefetches of the state. It's atomic, so a memory hit without prefetches takes no lock.
    private let unusedPrefetches = Atomic(0)

    private func update<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            defer { unusedPrefetches.store(state.unusedPrefetches, ordering: .releasing) }
            return body(&state)
        }
    }

    func record(_ head: StoredResponseHead, for key: CacheKey) {
        let id = ID(key, head)
        update { state in
            if state.records[id] == nil { state.change(id) { _ in } }
        }
    }

    /// Returns whether this manager received or revalidated the response less than `interval` seconds ago.
    ///
    /// A response without a validator may also come from an earlier process or from another one, because it would have
    /// to be downloaded again completely. The time in its head then counts.
    func contains(_ head: StoredResponseHead, for key: CacheKey, within interval: Double, now: Date) -> Bool {
        let elapsed = now.timeIntervalSince(head.responseTime)
        // A request that began just before the response arrived has an earlier time. If the clock was set back by more
        // than that, the elapsed time is unknown.
        guard elapsed > -60, elapsed < interval else { return false }
        if head.conditionalHeaders().lines.isEmpty { return true }
        let id = ID(key, head)
        return state.withLock { $0.records[id] != nil }
    }

    /// Records that a prefetcher loaded or found a response. If a request has used the response since `start`, which is
    /// when the prefetcher requested it, the prefetch has already served its purpose.
    func recordPrefetch(of head: StoredResponseHead, for key: CacheKey, since start: ContinuousClock.Instant) {
        let id = ID(key, head)
        update { state in
            state.change(id) { record in
                if record.lastUse.map({ $0 >= start }) != true { record.isUnusedPrefetch = true }
            }
        }
    }

    /// Returns whether the response was prefetched and this is its first use.
    @discardableResult
    func recordUse(of head: StoredResponseHead, for key: CacheKey) -> Bool {
        let id = ID(key, head)
        return update { state in
            // Only a response that is in the table can be the response of a prefetch that is still running.
            guard let record = state.records[id] else { return false }
            state.change(id) { record in
                record.isUnusedPrefetch = false
                record.lastUse = .now
            }
            return record.isUnusedPrefetch
        }
    }

    func isUnusedPrefetch(_ head: StoredResponseHead, for key: CacheKey) -> Bool {
        let id = ID(key, head)
        return state.withLock { $0.records[id]?.isUnusedPrefetch == true }
    }

    var hasUnusedPrefetches: Bool { unusedPrefetches.load(ordering: .acquiring) > 0 }
}

/// The next step of a request for known data.
struct CacheDecision {
    let step: CacheAction
    /// Whether the data was prefetched and no request has used it, so that ``step`` applies only to the first request
    /// to which it's delivered. See ``RequestPlan/claim(_:of:)``.
    var isFirstUse = false
}

/// The rules for responses that this manager received or prefetched while it's running.
extension RequestPlan {
    /// Returns the next step for a response whose header fields require `step`. This method uses up no prefetch.
    ///
    /// The response serves the request without contacting the server if this is the first use of a prefetched response,
    /// or if the response leaves its freshness open and was received or revalidated within
    /// ``ImageManager/Configuration/revalidationInterval``.
    func decision(
        _ step: CacheAction, for originalInfo: OriginalInfo, _ head: StoredResponseHead, isPlain: Bool
    ) -> CacheDecision {
        let isUsable =
            step == .use || head.isAcceptedWithoutFreshness(by: RequestHead(headers: request.headers), now: now)
        guard isUsable else { return CacheDecision(step: step) }
        let isFirstUse = isUnusedPrefetch(head)
        var end: Date?
        if step == .use {
            end = now.addingTimeInterval(head.freshness(now: now, policy: defaults.httpCachePolicy).remaining)
        } else if isRecent(head) {
            end = head.responseTime.addingTimeInterval(defaults.revalidationInterval)
        }
        // A prefetch isn't a use, and a first use must be recorded. So the next request must evaluate the rules again.
        if let end, end > now, isPlain, !isPrefetch, !isFirstUse {
            originalInfo.recordFresh(in: now..<end, of: head, by: defaults)
        }
        return CacheDecision(step: end != nil || isFirstUse ? .use : step, isFirstUse: isFirstUse)
    }

    /// Returns the step for data that is about to be delivered, and records the use if the data was prefetched.
    ///
    /// A prefetched response serves only one request. If another request has used the response since `decision` was
    /// made, the result is the step for a used response.
    func claim(_ decision: CacheDecision, of originalInfo: OriginalInfo?) -> CacheAction {
        guard decision.isFirstUse, let head = originalInfo?.head else { return decision.step }
        return defaults.recentResponses.recordUse(of: head, for: keys.data)
            ? decision.step : http.step(for: originalInfo)
    }

    private func isRecent(_ head: StoredResponseHead) -> Bool {
        let interval = defaults.revalidationInterval
        return interval > 0 && head.leavesFreshnessOpen(now: now, policy: defaults.httpCachePolicy)
            && defaults.recentResponses.contains(head, for: keys.data, within: interval, now: now)
    }

    private func isUnusedPrefetch(_ head: StoredResponseHead) -> Bool {
        !isPrefetch && defaults.recentResponses.hasUnusedPrefetches
            && defaults.recentResponses.isUnusedPrefetch(head, for: keys.data)
    }

    func recordResult(_ originalInfo: OriginalInfo?) {
        guard let originalInfo, let head = originalInfo.head else { return }
        guard isPrefetch else {
            defaults.recentResponses.recordUse(of: head, for: keys.data)
            return
        }
        guard http.allowsStoring(originalInfo) else { return }
        defaults.recentResponses.recordPrefetch(of: head, for: keys.data, since: createdAt)
        originalInfo.discardFreshness()
    }
}

/// The revalidations that run in the background (RFC 5861 3). Only one of the requests that received the same stale
/// data revalidates it. This class is thread-safe.
final class BackgroundRevalidations: Sendable {
    private struct State {
        var running: Set<Key> = []
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

    var count: Int { state.withLock { $0.running.count } }

    /// Starts a revalidation unless one of the same data is running or has ended since the creation of `plan`.
    ///
    /// `prepare` returns the work of the revalidation. This method calls it before it returns, and only if the
    /// revalidation starts.
    func start(_ plan: RequestPlan, _ prepare: () -> @Sendable () async -> Void) {
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
