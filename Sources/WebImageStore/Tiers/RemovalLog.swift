// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// The last removal that affected a key.
///
/// Work that starts in one generation must not store its result in another. Otherwise, removed data would reappear.
package struct CacheGeneration: Hashable, Sendable {
    /// The number of the last removal, or 0 if there was none. Numbers are unique among all caches of the process.
    fileprivate let stamp: UInt64

    fileprivate init(stamp: UInt64) { self.stamp = stamp }
}

/// The removals of one cache. This class is thread-safe.
final class RemovalLog: Sendable {
    private struct State {
        /// The number of the last removal that affected every key.
        var all: UInt64 = 0
        var keys: [CacheKey.Digest: UInt64] = [:]
        /// The scopes of the removals in progress, by the numbers of the removals.
        var running: [UInt64: Scope] = [:]
        var stores: [CacheKey.Digest: [PendingStore]] = [:]
        /// The number of stores that were undone because a removal overtook them.
        var undoneCount = 0
        /// The keys of the entries of the last undone stores, oldest first.
        var lastUndone: [CacheKey.Digest] = []

        func stamp(of key: CacheKey.Digest) -> UInt64 { max(all, keys[key] ?? 0) }
    }

    /// The entries that a removal affects.
    private struct Scope {
        /// The removed key, or `nil` for all keys.
        let key: CacheKey?
        let tiers: ImageCache.Tiers

        func contains(_ other: CacheKey) -> Bool {
            guard let key else { return true }
            return other == key || other.isDerived(from: key)
        }
    }

    /// A removal in progress.
    struct Removal {
        fileprivate let stamp: UInt64
    }

    /// A store in progress, which a removal can overtake.
    struct PendingStore {
        fileprivate let entry: CacheKey.Digest
        /// The key of the data from which the entry was made.
        fileprivate let source: CacheKey.Digest
        fileprivate let stamp: UInt64
    }

    /// The maximum number of remembered removals of single keys. Beyond it, all keys count as removed, which only
    /// repeats work.
    private static let limit = 4_096
    /// The maximum number of remembered undone stores. If more stores are undone during a lookup, it's a cache miss.
    private static let undoneLimit = 64
    private static let lastStamp = Atomic<UInt64>(0)

    private let state = Lock(State())

    func generation(of key: CacheKey) -> CacheGeneration {
        state.withLock { CacheGeneration(stamp: $0.stamp(of: key.digest)) }
    }

    /// Begins the removal of a key and of the keys derived from it, or of all keys if `key` is `nil`, from `tiers`.
    ///
    /// Call this method before removing anything, so that data that was read earlier isn't stored again.
    func begin(_ key: CacheKey?, from tiers: ImageCache.Tiers) -> Removal {
        state.withLock { state in
            let stamp = Self.next()
            if key == nil || state.keys.count >= Self.limit {
                state.keys.removeAll(keepingCapacity: true)
                state.all = stamp
            }
            if let key { state.keys[key.digest] = stamp }
            state.running[stamp] = Scope(key: key, tiers: tiers)
            return Removal(stamp: stamp)
        }
    }

    /// Ends a removal. The tiers no longer contain its entries.
    func end(_ removal: Removal) { state.withLock { _ = $0.running.removeValue(forKey: removal.stamp) } }

    // MARK: - Stores that a removal overtakes

    /// Returns `nil` if the data of `source` was removed after `generation`.
    func beginStore(_ entry: CacheKey, madeOf source: CacheKey, _ generation: CacheGeneration) -> PendingStore? {
        let store = PendingStore(entry: entry.digest, source: source.digest, stamp: generation.stamp)
        return state.withLock { state in
            guard state.stamp(of: store.source) == store.stamp else { return nil }
            state.stores[store.entry, default: []].append(store)
            return store
        }
    }

    /// Returns whether a removal has overtaken a store, so that the store must be undone before it ends.
    func isOvertaken(_ store: PendingStore) -> Bool {
        state.withLock { $0.stamp(of: store.source) != store.stamp }
    }

    /// Ends a store. `isUndone` indicates whether the entry was removed again.
    func endStore(_ store: PendingStore, isUndone: Bool) {
        state.withLock { state in
            if var stores = state.stores.removeValue(forKey: store.entry) {
                if let index = stores.firstIndex(where: { $0.source == store.source && $0.stamp == store.stamp }) {
                    stores.remove(at: index)
                }
                if !stores.isEmpty { state.stores[store.entry] = stores }
            }
            guard isUndone else { return }
            state.undoneCount += 1
            state.lastUndone.append(store.entry)
            if state.lastUndone.count > Self.undoneLimit { state.lastUndone.removeFirst() }
        }
    }

    /// Returns a mark for ``mayBeOutdated(_:since:)`` and the tiers that the lookup must skip. Call this method before a
    /// lookup.
    ///
    /// The lookup must skip the tiers from which the key is being removed. They may still contain the entry, and work that
    /// starts after the beginning of the removal could store the entry again.
    func beginLookup(of key: CacheKey) -> (mark: Int, skipped: ImageCache.Tiers) {
        state.withLock { state in
            var skipped: ImageCache.Tiers = []
            for scope in state.running.values where scope.contains(key) { skipped.formUnion(scope.tiers) }
            return (state.undoneCount, skipped)
        }
    }

    /// Returns whether a lookup that began at `mark` may have found an entry that a removal should have removed, because
    /// the store of the entry was in progress.
    func mayBeOutdated(_ key: CacheKey, since mark: Int) -> Bool {
        state.withLock { state in
            if state.undoneCount > mark {
                let count = state.undoneCount - mark
                if count > Self.undoneLimit || state.lastUndone.suffix(count).contains(key.digest) { return true }
            }
            guard !state.stores.isEmpty, let stores = state.stores[key.digest] else { return false }
            return stores.contains { state.stamp(of: $0.source) != $0.stamp }
        }
    }

    private static func next() -> UInt64 { lastStamp.add(1, ordering: .relaxed).newValue }
}
