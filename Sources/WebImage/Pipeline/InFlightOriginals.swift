// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The original data that requests are using, by key.
///
/// A request that was made before a load finished can use the loaded data, regardless of when it looks the data up. For
/// this purpose, the newest data is retained while any request runs. Images decoded from the data aren't retained. This
/// class is thread-safe.
final class InFlightOriginals: Sendable {
    private struct State {
        var originals = WeakTable<CacheKey, OriginalData, Void>()
        var running = 0
        /// The retained data, oldest first.
        var retained: [OriginalData] = []
        var retainedBytes = 0

        /// Retains `original` and returns the data that is released in exchange.
        mutating func retain(_ original: OriginalData) -> ArraySlice<OriginalData> {
            // An image that the application created has no data.
            guard running > 0, original.image == nil, original.data.count <= retainedLimit / 4 else { return [] }
            retained.append(original)
            retainedBytes += original.data.count
            var leaving = 0
            while retainedBytes > retainedLimit {
                retainedBytes -= retained[leaving].data.count
                leaving += 1
            }
            let released = retained[..<leaving]
            retained.removeFirst(leaving)
            return released
        }
    }

    /// The maximum size of the retained data, in bytes.
    private static let retainedLimit = 4 << 20

    private let state = Lock(State())

    func enter() { state.withLock { $0.running += 1 } }

    func leave() {
        state.discard { state -> [OriginalData] in
            state.running -= 1
            guard state.running == 0 else { return [] }
            defer {
                state.retained = []
                state.retainedBytes = 0
            }
            return state.retained
        }
    }

    var requestCount: Int { state.withLock { $0.running } }

    /// Returns the data for `key` that is in use and was requested after the last removal of the key.
    func original(for key: CacheKey, _ generation: CacheGeneration) -> OriginalData? {
        let original = state.withLock { $0.originals[key]?.object }
        return original?.generation == generation ? original : nil
    }

    /// Returns data that was downloaded after the creation of `plan` and that another request is still using. It's as
    /// new as any response to a new request, regardless of the policy.
    func arrivedSince(_ plan: RequestPlan, _ generation: CacheGeneration) -> OriginalData? {
        guard let original = original(for: plan.keys.data, generation), plan.createdAt <= original.arrived,
            plan.http.accepts(original.originalInfo), original.settings?.loadsLike(plan.settings) ?? true
        else { return nil }
        return original
    }

    func add(_ original: OriginalData, for key: CacheKey) {
        state.discard { state -> ArraySlice<OriginalData> in
            state.originals.insert(original, for: key)
            return state.retain(original)
        }
    }
}
