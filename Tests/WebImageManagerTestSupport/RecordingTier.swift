// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageTestSupport
import WebImageTesting

/// A tier in memory that counts its operations. Gates can hold its lookups and its writes. Thread-safe.
package final class RecordingTier: HeadUpdatingCacheTier {
    private struct State {
        var entries: [CacheKey: CacheEntry] = [:]
        var payloads: [Data] = []
        var lookups = 0
        var writes = 0
        var removals = 0
    }

    package let category: ImageCache.Tiers
    private let state = Shared(State())
    private let lookupGate: Shared<TestGate?>
    private let storeGate: TestGate?
    private let removalGate: TestGate?

    package init(
        _ kind: ImageCache.Tiers = .custom, lookupGate: TestGate? = nil, storeGate: TestGate? = nil,
        removalGate: TestGate? = nil
    ) {
        self.category = kind
        self.removalGate = removalGate
        self.lookupGate = Shared(lookupGate)
        self.storeGate = storeGate
    }

    /// The current number of entries.
    package var count: Int { state.value.entries.count }
    /// The current payloads.
    package var stored: [Data] { state.value.entries.values.map(\.data) }
    /// The payloads in the order in which they were stored, including removed ones.
    package var payloads: [Data] { state.value.payloads }
    /// The number of lookups that have started.
    package var lookups: Int { state.value.lookups }
    /// The number of removals that have started.
    package var removals: Int { state.value.removals }
    /// The number of writes that have started.
    package var writes: Int { state.value.writes }

    /// Changes the data of all entries.
    package func replaceData(_ change: (Data) -> Data) {
        state.update { state in
            for (key, var entry) in state.entries {
                entry.data = change(entry.data)
                state.entries[key] = entry
            }
        }
    }

    /// Holds all further lookups at a gate.
    package func blockLookups(_ gate: TestGate) { lookupGate.value = gate }

    package func entry(for key: CacheKey, matching request: HTTPHeaderFields) async -> CacheEntry? {
        let entry = state.update { state in
            state.lookups += 1
            return state.entries[key]
        }
        // A slow tier reads the entry long before its caller receives it.
        await lookupGate.value?.wait()
        return entry
    }

    package func store(_ entry: CacheEntry, matching: HTTPHeaderFields) async {
        state.update { $0.writes += 1 }
        await storeGate?.wait()
        state.update { state in
            state.entries[entry.key] = entry
            state.payloads.append(entry.data)
        }
    }

    package func updateHead(_ head: StoredResponseHead, for key: CacheKey, matching request: HTTPHeaderFields) async {
        state.update { $0.entries[key]?.head = head }
    }

    package func remove(_ key: CacheKey, matching request: HTTPHeaderFields?) async {
        state.update { $0.removals += 1 }
        await removalGate?.wait()
        state.update { $0.entries[key] = nil }
    }

    package func removeAll() async {
        state.update { $0.removals += 1 }
        await removalGate?.wait()
        state.update { $0.entries = [:] }
    }
}
