// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageHTTP

extension ImageCache {
    /// The result of a lookup in the tiers.
    package struct Answer: Sendable {
        /// The encoded image and its metadata. The key of the entry is the key under which the tier stores it.
        package var entry: CacheEntry
        /// The kind of the tier that served the entry.
        package var kind: ImageCache.Tiers
    }

    /// Returns whether a tier of the given kinds may contain an entry for a key.
    ///
    /// The result is `false` only if certainly no tier has an entry. This method performs no I/O.
    package func mayContain(_ key: CacheKey, in kinds: ImageCache.Tiers = .all) -> Bool {
        tiers(of: kinds, policy.lookup).contains { $0.mayContain(key) }
    }

    /// Returns whether a lookup in tiers of the given kinds can report a delay.
    package func canDelayLookups(in kinds: ImageCache.Tiers) -> Bool {
        tiers(of: kinds, policy.lookup).contains { !($0 is VariantDiskTier) }
    }

    /// Returns the entry of a key from the first tier that has it.
    ///
    /// If the tiers have several responses (`Vary`), the result is the one for a request without header fields. If the
    /// current task is canceled, pending disk reads are withdrawn, and the result is `nil`.
    ///
    /// - Parameters:
    ///   - key: The key of the entry.
    ///   - tiers: The tiers to query. The default is all tiers. The memory cache has no encoded data, so this method
    ///     doesn't query it.
    /// - Returns: The entry, or `nil` if no tier has one.
    public func entry(for key: CacheKey, in tiers: ImageCache.Tiers = .all) async -> CacheEntry? {
        guard var entry = await entry(for: key, matching: HTTPHeaderFields(), in: tiers)?.entry else { return nil }
        // A response that isn't the first one of its key is stored under a derived key.
        entry.key = key
        return entry
    }

    /// Returns the entry of a key that a request with the given header fields selects.
    ///
    /// The cache queries only tiers of `kinds` that may contain the key. If the current task is canceled, pending disk
    /// reads are withdrawn, and the cache queries no further tiers.
    ///
    /// If a tier is slow, the cache calls `onDelay` and continues. Without that closure, the cache doesn't wait longer
    /// for the tier than the tier itself considers usual.
    package func entry(
        for key: CacheKey, matching request: HTTPHeaderFields, in kinds: ImageCache.Tiers = .all,
        onDelay: (@Sendable () -> Void)? = nil
    ) async -> Answer? {
        let generation = generation(of: key)
        let (mark, skipped) = removals.beginLookup(of: key)
        let entry: @Sendable (any CacheTier) async -> CacheEntry? = { [removals] tier in
            let found =
                if let onDelay {
                    await tier.entry(for: key, matching: request, onDelay: onDelay)
                } else {
                    await tier.entry(for: key, matching: request)
                }
            guard found != nil, !removals.mayBeOutdated(key, since: mark) else { return nil }
            return found
        }
        var asked = tiers(of: kinds, policy.lookup)
        if !skipped.isEmpty { asked.removeAll { !$0.category.isDisjoint(with: skipped) } }
        guard policy.lookup == .concurrent, asked.count > 1 else {
            for (index, tier) in asked.enumerated() where tier.mayContain(key) {
                guard let entry = await entry(tier) else {
                    // The task is canceled, so don't query the remaining tiers.
                    if Task.isCancelled { return nil }
                    continue
                }
                if policy.promotesHits { await promote(entry, key, request, to: asked[..<index], generation) }
                return Answer(entry: entry, kind: tier.category)
            }
            return nil
        }
        return await firstResult(
            of:
                asked.filter { $0.mayContain(key) }.map { tier in
                    { await entry(tier).map { Answer(entry: $0, kind: tier.category) } }
                })
    }

    /// Returns the metadata of the entry that ``entry(for:matching:in:onDelay:)`` would return, or `nil` if the entry must
    /// be read.
    ///
    /// The result isn't `nil` only for large entries of the disk cache, whose data this method reads only once.
    package func summary(
        for key: CacheKey, matching request: HTTPHeaderFields, in kinds: ImageCache.Tiers
    ) async -> EntrySummary? {
        guard let tier = tiers(of: kinds, policy.lookup).first as? VariantDiskTier else { return nil }
        let (mark, skipped) = removals.beginLookup(of: key)
        guard !skipped.contains(.disk), let found = await tier.summary(for: key, matching: request),
            !removals.mayBeOutdated(key, since: mark)
        else { return nil }
        return found
    }

    /// Stores an entry.
    ///
    /// This method returns when later lookups can see the entry. Tiers may write it in the background afterward.
    ///
    /// - Parameters:
    ///   - entry: The entry to store under its key.
    ///   - tiers: The tiers that store the entry. The default is all tiers. The memory cache stores no encoded data.
    public func store(_ entry: CacheEntry, in tiers: ImageCache.Tiers = .all) async {
        await store(entry, matching: HTTPHeaderFields(), in: tiers)
    }

    /// Stores an entry in the tiers of the given kinds. `matching` has the header fields of the request that it belongs
    /// to.
    package func store(_ entry: CacheEntry, matching: HTTPHeaderFields, in kinds: ImageCache.Tiers = .all) async {
        await each(tiers(of: kinds, policy.storage), policy.storage) { await $0.store(entry, matching: matching) }
    }

    /// Stores an entry like ``store(_:matching:in:)`` unless the key of its source data was removed after `generation`.
    package func store(
        _ entry: CacheEntry, request: HTTPHeaderFields, in kinds: ImageCache.Tiers, madeOf key: CacheKey,
        _ generation: CacheGeneration
    ) async {
        await store(entry.key, madeOf: key, generation) {
            await self.store(entry, matching: request, in: kinds)
        } undo: {
            await self.each(self.tiers(of: kinds, self.policy.storage), self.policy.storage) {
                await $0.remove(entry.key, matching: request)
            }
        }
    }

    /// A store is undone if the data is removed in the meantime, because such a removal misses the entry. Until then,
    /// lookups don't find the entry.
    private func store(
        _ entry: CacheKey, madeOf key: CacheKey, _ generation: CacheGeneration, _ body: () async -> Void,
        undo: () async -> Void
    ) async {
        guard let store = removals.beginStore(entry, madeOf: key, generation) else { return }
        await body()
        let isOvertaken = removals.isOvertaken(store)
        if isOvertaken { await undo() }
        removals.endStore(store, isUndone: isOvertaken)
    }

    /// The copy doesn't happen if the key is removed in the meantime.
    private func promote(
        _ entry: CacheEntry, _ key: CacheKey, _ request: HTTPHeaderFields, to nearer: ArraySlice<any CacheTier>,
        _ generation: CacheGeneration
    ) async {
        var entry = entry
        entry.key = key
        for tier in nearer {
            await store(key, madeOf: key, generation) {
                await tier.store(entry, matching: request)
            } undo: {
                await tier.remove(key, matching: request)
            }
        }
    }

    /// Replaces the HTTP response head in every tier that has the entry unless its key was removed after `generation`.
    package func updateHead(
        _ head: StoredResponseHead, for key: CacheKey, matching request: HTTPHeaderFields, _ generation: CacheGeneration
    ) async {
        let holding = tiers(of: .all, .concurrent).filter { $0.mayContain(key) }
        await each(holding, .concurrent) { tier in
            // A tier that stores the entry again can do so after a removal.
            await self.store(key, madeOf: key, generation) {
                await tier.replaceHead(head, for: key, matching: request)
            } undo: {
                await tier.remove(key, matching: request)
            }
        }
    }

    /// Removes the data of a key and everything that was made from it.
    ///
    /// This includes the decoded images in memory and the entries of images that were derived from the data. Loads that
    /// are running don't store their results under the key.
    ///
    /// - Parameters:
    ///   - key: The key of the data.
    ///   - tiers: The tiers from which to remove entries. The default is all tiers.
    public func remove(_ key: CacheKey, from tiers: ImageCache.Tiers = .all) async {
        await removing(key, from: tiers) {
            if tiers.contains(.memory) {
                removeFromMemory(key)
                removeAllFromMemory(of: key)
            }
            await remove(key, matching: nil, from: tiers)
            await removeDerived(from: key, in: tiers)
        }
    }

    /// Removes the responses of a key from the tiers of the given kinds.
    ///
    /// If `request` isn't `nil`, only the responses that such a request selects are removed.
    package func remove(_ key: CacheKey, matching request: HTTPHeaderFields?, from kinds: ImageCache.Tiers = .all)
        async
    {
        let remove = {
            await self.each(self.tiers(of: kinds, self.policy.removal), self.policy.removal) {
                await $0.remove(key, matching: request)
            }
        }
        if request == nil { await removing(key, from: kinds, remove) } else { await remove() }
    }

    /// Removes the images derived from the data of a key from the tiers that can list their keys.
    ///
    /// Derived images are the entries whose keys consist of `key` followed by additional fields.
    package func removeDerived(from key: CacheKey, in kinds: ImageCache.Tiers = .all) async {
        await each(tiers(of: kinds, policy.removal), policy.removal) { await $0.removeDerived(from: key) }
    }

    /// Removes all entries from the tiers of the given kinds, including the memory cache if `kinds` contains
    /// ``ImageCache/Tiers/memory``.
    public func removeAll(from kinds: ImageCache.Tiers = .all) async {
        await removing(nil, from: kinds) {
            if kinds.contains(.memory) { removeAllFromMemory() }
            await each(tiers(of: kinds, policy.removal), policy.removal) { await $0.removeAll() }
        }
    }

    /// Waits until all stored entries are written.
    public func flush() async {
        await each(encodedTiers, .concurrent) { await $0.flush() }
    }

    func each(
        _ tiers: [any CacheTier], _ policy: ImageCache.TierPolicy.Order,
        _ body: @escaping @Sendable (any CacheTier) async -> Void
    ) async {
        guard policy == .concurrent, tiers.count > 1 else {
            for tier in tiers { await body(tier) }
            return
        }
        await withTaskGroup(of: Void.self) { group in
            for tier in tiers { group.addTask { await body(tier) } }
        }
    }
}
