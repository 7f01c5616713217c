// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// A store that caches several responses (variants) per key on disk and selects them by the request's header fields
/// (RFC 9111, section 4.1).
///
/// The image pipeline and the HTTP client both cache their responses through this type.
///
/// Most keys have a single response, which is stored under the key itself, so a lookup needs only one read. Additional
/// responses are stored under derived keys, and a small entry lists all of them. If another process or a crash leaves a
/// response out of the list, lookups miss it.
///
/// The values of request header fields that aren't content negotiation are stored as keyed digests. A returned entry
/// has the values of the request that selected it.
///
/// This class is thread-safe. It notices a list that another process changed within a second.
package final class VariantDiskTier: Sendable {
    /// The number of variant lists in memory at which loading another list from disk first discards all of them.
    package static let listLimit = 1_024
    /// The identifier of the response that is stored under the key itself.
    static let front = ""

    struct KnownList {
        /// An object that identifies a state of a list.
        private final class Stamp: Sendable {}

        let list: VaryIndex
        /// The uptime in seconds at which the list was read or changed.
        let time: Double
        private let stamp = Stamp()

        init(_ list: VaryIndex, time: Double) {
            self.list = list
            self.time = time
        }

        func isSame(as other: KnownList?) -> Bool { stamp === other?.stamp }
    }

    /// The number of seconds after which a list is read from disk again, because another process may have changed it.
    private static let listLifetime = 0.5

    let disk: DiskCache
    private var digests: SelectorDigests { disk.state.selectorDigests }
    private let now: @Sendable () -> Date
    private let lists = Lock<[CacheKey: KnownList]>([:])
    private let cleaning = Lock<[UInt64: Task<Void, Never>]>([:])

    /// Creates a store on a disk cache, which other components can share. `now` returns the store date of the lists.
    package init(_ disk: DiskCache, now: @escaping @Sendable () -> Date = { Date() }) {
        self.disk = disk
        self.now = now
    }

    /// Returns the key under which a response is stored, which is `key` itself or a key derived from it.
    package static func variantKey(of id: String, _ key: CacheKey) -> CacheKey {
        id == front ? key : key.appending(["variant", id])
    }

    static func listKey(_ key: CacheKey) -> CacheKey { key.appending(["variants"]) }

    /// Returns whether the store may contain a response for a key.
    ///
    /// The result is `false` only if the store certainly has no response. This method performs no I/O.
    package func mayContain(_ key: CacheKey) -> Bool { disk.mayContain(key) || mayHaveList(key) }

    private func mayHaveList(_ key: CacheKey) -> Bool {
        lists.withLock { $0[key] != nil } || disk.mayContainIndexed(Self.listKey(key))
    }

    private var uptime: Double { disk.state.clock.uptime() }

    // MARK: - Reading

    /// Returns the newest response of a key that a request with the given header fields selects.
    ///
    /// The key of the returned entry is the key under which the response is stored.
    package func entry(for key: CacheKey, matching fields: HTTPHeaderFields) async -> CacheEntry? {
        await variant(for: key, matching: fields)?.entry
    }

    /// Returns the newest response of a key that a request with the given header fields selects, and its identifier.
    ///
    /// If the current task is canceled while a read waits for a thread, the read is withdrawn, and this method returns
    /// `nil` immediately.
    package func variant(for key: CacheKey, matching fields: HTTPHeaderFields) async -> (id: String, entry: CacheEntry)?
    {
        // Without the list, the newest response is unknown.
        guard let known = await list(key) else { return nil }
        guard let list = known else {
            guard let entry = await disk.entry(for: key) else { return nil }
            if isSelected(entry.head, by: fields) { return (Self.front, restored(entry, fields)) }
            // Another process may have stored further responses and their list since the index was read.
            guard disk.mayContain(Self.listKey(key)), let found = await readList(key, replacing: nil), let list = found
            else { return nil }
            return await variant(in: list, of: key, matching: fields)
        }
        return await variant(in: list, of: key, matching: fields)
    }

    private func variant(
        in list: VaryIndex, of key: CacheKey, matching fields: HTTPHeaderFields
    ) async -> (id: String, entry: CacheEntry)? {
        for variant in list.matching(digests.digesting(fields)) {
            // A withdrawn read doesn't show whether the response exists.
            guard let read = await disk.read(Self.variantKey(of: variant.id, key)) else { return nil }
            if let entry = read, isSelected(entry.head, by: fields) { return (variant.id, restored(entry, fields)) }
            // The response was evicted, or another process changed it.
            change(key) { $0.remove(variant.id) }
        }
        return nil
    }

    /// Returns the metadata of the response that ``entry(for:matching:)`` would return, or `nil` if the response must be
    /// read.
    func summary(for key: CacheKey, matching fields: HTTPHeaderFields) async -> EntrySummary? {
        guard let known = await list(key) else { return nil }
        var stored = key
        if let list = known {
            guard let variant = list.matching(digests.digesting(fields)).first else { return nil }
            stored = Self.variantKey(of: variant.id, key)
        }
        guard var summary = await disk.summary(for: stored), isSelected(summary.head, by: fields) else { return nil }
        if let head = summary.head { summary.head = restored(head, fields) }
        return summary
    }

    /// A change needs the list even if the current task is canceled, so this read can't be withdrawn.
    private func listToChange(_ key: CacheKey) async -> VaryIndex? { await list(key, isWithdrawable: false) ?? nil }

    /// The inner value is `nil` if the key has at most one response, which is stored under the key itself. The outer
    /// value is `nil` if the read of the list was withdrawn, so the list is unknown.
    private func list(_ key: CacheKey, isWithdrawable: Bool = true) async -> VaryIndex?? {
        let known = lists.withLock { $0[key] }
        // An empty list hides the list on disk until that is deleted.
        if let known, known.list.variants.isEmpty || uptime < known.time + Self.listLifetime {
            return .some(known.list)
        }
        guard known != nil || disk.mayContainIndexed(Self.listKey(key)) else { return .some(nil) }
        return await readList(key, replacing: known, isWithdrawable: isWithdrawable)
    }

    /// A list in memory that has changed in the meantime stays. The results are those of ``list(_:isWithdrawable:)``.
    private func readList(
        _ key: CacheKey, replacing known: KnownList?, isWithdrawable: Bool = true
    ) async -> VaryIndex?? {
        let began = uptime
        guard let read = await disk.read(Self.listKey(key), isWithdrawable: isWithdrawable) else { return nil }
        let found = read.flatMap { try? JSONDecoder().decode(VaryIndex.self, from: $0.data) }
        return lists.withLock { lists in
            // Another thread may have read or changed the list during the disk read.
            if let present = lists[key], !present.isSame(as: known) { return .some(present.list) }
            if known == nil, found != nil { Self.makeRoom(in: &lists) }
            lists[key] = found.map { KnownList($0, time: began) }
            return .some(found)
        }
    }

    var listCount: Int { lists.withLock { $0.count } }

    /// Removed lists can be read from disk again.
    static func makeRoom(in lists: inout [CacheKey: KnownList]) {
        guard lists.count >= listLimit else { return }
        // An empty list hides the list on disk until that is deleted, so it stays.
        lists = lists.filter { $0.value.list.variants.isEmpty }
    }

    // MARK: - Writing

    /// Stores an entry under the key that it names and replaces the responses that the request with these header fields
    /// selects. The request header fields that select the entry come from `entry.head`.
    package func store(_ entry: CacheEntry, matching fields: HTTPHeaderFields) async {
        var entry = entry
        if let head = entry.head { entry.head = digested(head) }
        let fields = digests.digesting(fields)
        let key = entry.key
        let known = await listToChange(key)
        guard let variant = entry.variant(Self.front), !variant.names.isEmpty else {
            if let known { drop(known, key) }
            return disk.store(entry)
        }
        if known == nil, !disk.mayContain(key) { return disk.store(entry) }
        let first = known == nil ? await disk.entryToChange(for: key)?.variant(Self.front) : nil
        let change = lists.withLock { lists -> Change in
            var list = lists[key]?.list ?? known ?? VaryIndex()
            if let first, list.variants.isEmpty { _ = list.insert(first, request: first.varyHeaders) }
            var placed = variant
            let staying = list.variants.filter { !$0.matches(fields) }
            placed.id = staying.contains { $0.id == Self.front } ? variant.selectingName : Self.front
            let leaving = list.insert(placed, request: fields)
            let isListed = known != nil || list.variants.count > 1
            if isListed, lists[key] == nil { Self.makeRoom(in: &lists) }
            lists[key] = isListed ? KnownList(list, time: uptime) : nil
            return Change(key: Self.variantKey(of: placed.id, key), removedIDs: leaving, list: isListed ? list : nil)
        }
        for id in change.removedIDs { disk.remove(Self.variantKey(of: id, key)) }
        var placed = entry
        placed.key = change.key
        disk.store(placed)
        if let list = change.list { write(list, key) }
    }

    /// Replaces the head of the response that a request with the given header fields selects.
    ///
    /// If there is no such response, this method does nothing. It doesn't change the other responses of the key.
    package func updateHead(_ head: StoredResponseHead, for key: CacheKey, matching fields: HTTPHeaderFields) async {
        guard let list = await listToChange(key) else {
            // If the response varies, the stored response may differ from the revalidated one.
            if head.isNegotiated {
                guard let entry = await disk.entryToChange(for: key), isSelected(entry.head, by: fields) else { return }
            }
            return disk.updateHead(digested(head), for: key)
        }
        guard let variant = list.matching(digests.digesting(fields)).first else { return }
        updateHead(head, variant.id, for: key)
    }

    /// Replaces the head of the response with the given identifier.
    package func updateHead(_ head: StoredResponseHead, _ id: String, for key: CacheKey) {
        let head = digested(head)
        disk.updateHead(head, for: Self.variantKey(of: id, key))
        change(key) { $0.replace(VaryIndex.Variant(id: id, stored: head)) }
    }

    /// If no response matches the header fields, this method does nothing.
    func setUserData(_ value: Data?, for key: CacheKey, matching fields: HTTPHeaderFields) async {
        guard let list = await listToChange(key) else {
            guard let entry = await disk.entryToChange(for: key), isSelected(entry.head, by: fields) else { return }
            return disk.replaceUserData(value, for: key)
        }
        guard let variant = list.matching(digests.digesting(fields)).first else { return }
        disk.replaceUserData(value, for: Self.variantKey(of: variant.id, key))
    }

    /// Removes the response with the given identifier.
    package func remove(_ id: String, for key: CacheKey) {
        disk.remove(Self.variantKey(of: id, key))
        change(key) { $0.remove(id) }
    }

    /// Removes the responses that a request with the given header fields selects.
    package func remove(matching fields: HTTPHeaderFields, for key: CacheKey) async {
        if let list = await listToChange(key) {
            for variant in list.matching(digests.digesting(fields)) { remove(variant.id, for: key) }
        } else if let entry = await disk.entryToChange(for: key), isSelected(entry.head, by: fields) {
            disk.remove(key)
        }
    }

    /// Removes all responses of a key.
    ///
    /// Lookups miss the responses immediately. Responses that only a list on disk names are deleted after the store has
    /// read that list.
    package func removeAll(for key: CacheKey) {
        disk.remove(key)
        let mayBeOnDisk = disk.mayContain(Self.listKey(key))
        let known = lists.withLock { lists in
            let known = lists[key]?.list
            // An empty list hides the responses on disk.
            lists[key] = known == nil && mayBeOnDisk ? KnownList(VaryIndex(), time: uptime) : nil
            return known
        }
        if let known {
            drop(known, key)
        } else if mayBeOnDisk {
            cleaning.withLock { tasks in
                let number = (tasks.keys.max() ?? 0) + 1
                tasks[number] = Task.detached {
                    await self.removeVariants(key)
                    self.cleaning.withLock { $0[number] = nil }
                }
            }
        }
    }

    private func drop(_ list: VaryIndex, _ key: CacheKey) {
        lists.withLock { $0[key] = nil }
        for variant in list.variants { disk.remove(Self.variantKey(of: variant.id, key)) }
        disk.remove(Self.listKey(key))
    }

    /// Responses that were stored again in the meantime remain.
    private func removeVariants(_ key: CacheKey) async {
        let entry = await disk.entryToChange(for: Self.listKey(key))
        let old = entry.flatMap { try? JSONDecoder().decode(VaryIndex.self, from: $0.data) } ?? VaryIndex()
        let present = lists.withLock { lists in
            let present = lists[key]?.list.variants ?? []
            if present.isEmpty {
                lists[key] = nil
                // Remove the list while the lock is held so that the removal can't affect a list that is written later.
                disk.remove(Self.listKey(key))
            }
            return Set(present.map(\.id))
        }
        // The response under the key itself is already removed. If one exists, it's new.
        for variant in old.variants where variant.id != Self.front && !present.contains(variant.id) {
            disk.remove(Self.variantKey(of: variant.id, key))
        }
    }

    func cleanedUp() async {
        for task in cleaning.withLock({ Array($0.values) }) { await task.value }
    }

    /// Removes the responses of a key.
    ///
    /// If `fields` isn't `nil`, only the responses that a request with these header fields selects are removed.
    package func remove(_ key: CacheKey, matching fields: HTTPHeaderFields?) async {
        guard let fields else { return removeAll(for: key) }
        await remove(matching: fields, for: key)
    }

    /// Waits until all stored responses are written.
    package func flush() async { await disk.flush() }

    /// Removes all entries of the disk cache, including those that other components stored.
    package func removeAll() async {
        lists.withLock { $0.removeAll() }
        await disk.removeAll()
        lists.withLock { $0.removeAll() }
    }

    // MARK: - Digests

    private func isSelected(_ head: StoredResponseHead?, by fields: HTTPHeaderFields) -> Bool {
        // Most responses don't vary, so compute digests only for the others.
        guard let head, head.isNegotiated else { return true }
        return head.matches(digests.digesting(fields))
    }

    private func restored(_ entry: CacheEntry, _ fields: HTTPHeaderFields) -> CacheEntry {
        guard let head = entry.head, head.isNegotiated else { return entry }
        var entry = entry
        entry.head = restored(head, fields)
        return entry
    }

    private func restored(_ head: StoredResponseHead, _ fields: HTTPHeaderFields) -> StoredResponseHead {
        guard head.isNegotiated else { return head }
        var head = head
        digests.restore(&head, from: fields)
        return head
    }

    private func digested(_ head: StoredResponseHead) -> StoredResponseHead {
        var head = head
        head.varyHeaders = digests.digesting(head.varyHeaders)
        return head
    }

    private struct Change {
        let key: CacheKey
        let removedIDs: [String]
        let list: VaryIndex?
    }

    /// Changes the list of a key, if the list is in memory, and writes it if the closure returns `true`.
    private func change(_ key: CacheKey, _ body: (inout VaryIndex) -> Bool) {
        let changed = lists.withLock { lists -> VaryIndex? in
            guard var list = lists[key]?.list, body(&list) else { return nil }
            lists[key] = list.variants.isEmpty ? nil : KnownList(list, time: uptime)
            return list
        }
        if let changed { write(changed, key) }
    }

    private func write(_ list: VaryIndex, _ key: CacheKey) {
        guard !list.variants.isEmpty, let payload = try? JSONEncoder().encode(list) else {
            return disk.remove(Self.listKey(key))
        }
        disk.store(CacheEntry(key: Self.listKey(key), data: payload, storedAt: now()))
    }
}

extension CacheEntry {
    /// Returns `nil` if the entry has no HTTP head. Every request selects an entry without a head.
    fileprivate func variant(_ id: String) -> VaryIndex.Variant? {
        head.map { VaryIndex.Variant(id: id, stored: $0) }
    }
}

extension VaryIndex.Variant {
    /// An identifier derived from the selecting header fields. Equal fields and values have equal identifiers.
    fileprivate var selectingName: String {
        let fields = Set(names).sorted().flatMap { [$0, varyHeaders.combined($0) ?? ""] }
        return String(CacheKey(fields).fileName.prefix(32))
    }
}
