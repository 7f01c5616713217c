// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageHTTP

extension ImageCache {
    /// What a tier answered.
    public struct Answer: Sendable {
        /// Bytes and what is known of them. Its own key says where the tier keeps it.
        public var entry: DiskEntry
        /// What the tier is called.
        public var kind: CacheTiers
    }

    /// False when certainly no tier of `kinds` has an entry of `key`. Costs no I/O.
    public func mayContain(_ key: CacheKey, in kinds: CacheTiers = .all) -> Bool {
        tiers(of: kinds, policies.query).contains { $0.mayContain(key) }
    }

    /// The entry of `key` that a request with the fields `request` selects, from the tiers of `kinds` that may have it.
    ///
    /// If the current task is canceled, waiting reads of the disk are withdrawn, and no farther tier is queried.
    public func entry(
        for key: CacheKey, matching request: HTTPFields, in kinds: CacheTiers = .all
    ) async -> Answer? {
        let asked = tiers(of: kinds, policies.query)
        let generation = generation(of: key)
        guard policies.query == .concurrent, asked.count > 1 else {
            for (index, tier) in asked.enumerated() where tier.mayContain(key) {
                guard let entry = await tier.entry(for: key, matching: request) else {
                    // Nobody waits for what a farther tier may have.
                    if Task.isCancelled { return nil }
                    continue
                }
                if policies.promotes { await promote(entry, key, request, to: asked[..<index], generation) }
                return Answer(entry: entry, kind: tier.kind)
            }
            return nil
        }
        return await firstAnswer(
            of:
                asked.filter { $0.mayContain(key) }.map { tier in
                    { await tier.entry(for: key, matching: request).map { Answer(entry: $0, kind: tier.kind) } }
                })
    }

    /// Stores `entry`, the answer to a request with the fields `request`, in the tiers of `kinds`.
    public func store(_ entry: DiskEntry, request: HTTPFields, in kinds: CacheTiers = .all) async {
        await each(tiers(of: kinds, policies.store), policies.store) { await $0.store(entry, request: request) }
    }

    /// Stores `entry` like ``store(_:request:in:)``, unless `key`, which it was made of, was removed after `generation`.
    package func store(
        _ entry: DiskEntry, request: HTTPFields, in kinds: CacheTiers, madeOf key: CacheKey,
        _ generation: CacheGeneration
    ) async {
        guard self.generation(of: key) == generation else { return }
        await store(entry, request: request, in: kinds)
        guard self.generation(of: key) != generation else { return }
        // A removal between the check and the store did not see the entry.
        await each(tiers(of: kinds, policies.store), policies.store) { await $0.remove(entry.key, matching: request) }
    }

    /// Stores what a farther tier had in the nearer ones, unless it was removed meanwhile.
    private func promote(
        _ entry: DiskEntry, _ key: CacheKey, _ request: HTTPFields, to nearer: ArraySlice<any CacheTier>,
        _ generation: CacheGeneration
    ) async {
        var entry = entry
        entry.key = key
        for tier in nearer {
            guard self.generation(of: key) == generation else { return }
            await tier.store(entry, request: request)
            if self.generation(of: key) != generation { await tier.remove(key, matching: request) }
        }
    }

    /// Takes a new HTTP head in every tier of `kinds` that has the entry.
    public func updateHead(
        _ head: StoredHead, for key: CacheKey, matching request: HTTPFields, in kinds: CacheTiers = .all
    ) async {
        let holding = tiers(of: kinds, .concurrent).filter { $0.mayContain(key) }
        await each(holding, .concurrent) { await $0.updateHead(head, for: key, matching: request) }
    }

    /// Removes the bytes of `key` from the tiers of `kinds`; those alone that `request` selects where that is not nil.
    public func remove(_ key: CacheKey, matching request: HTTPFields? = nil, in kinds: CacheTiers = .all) async {
        if request == nil { noteRemoval(of: key) }
        await each(tiers(of: kinds, policies.remove), policies.remove) { await $0.remove(key, matching: request) }
    }

    /// Removes what was made of the bytes of `key` and lies in tiers that can list their keys: entries whose keys are `key`
    /// with more fields behind.
    public func removeDerived(from key: CacheKey, in kinds: CacheTiers = .all) async {
        await each(tiers(of: kinds, policies.remove), policies.remove) { await $0.removeDerived(from: key) }
    }

    /// Removes everything from memory and from the tiers of `kinds`.
    public func removeAll(in kinds: CacheTiers = .all) async {
        noteRemovalOfAll()
        if kinds.contains(.memory) { memory?.removeAll() }
        await each(tiers(of: kinds, policies.remove), policies.remove) { await $0.removeAll() }
    }

    /// Waits until what was stored is written.
    public func flush() async {
        await each(tiers, .concurrent) { await $0.flush() }
    }

    /// Runs `body` for each of `tiers`, at once where the policy says so.
    private func each(
        _ tiers: [any CacheTier], _ policy: OperationPolicy, _ body: @escaping @Sendable (any CacheTier) async -> Void
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
