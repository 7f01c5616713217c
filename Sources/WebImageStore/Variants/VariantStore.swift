// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// The answers of one key side by side on disk, told apart by the request's fields that chose them (RFC 9111 4.1).
/// Image pipeline and HTTP client keep their answers through it.
///
/// Most keys have one answer, and that one lies at the key itself: finding it is one read. Further ones lie at
/// keys derived from it, and a small entry lists them all. An answer that the list does not name, because another
/// process or a crash came in between, is merely missed.
///
/// Thread-safe. A list that another process changes is noticed after ``listLimit`` other keys with several answers at
/// the latest.
public final class VariantStore: Sendable {
    /// Lists kept in memory.
    public static let listLimit = 1_024
    /// Name of the answer that lies at the key itself.
    static let front = ""

    let disk: DiskCache
    private let now: @Sendable () -> Date
    private let lists = Lock<[CacheKey: VariantList]>([:])
    /// Lists that are being read to delete what they name.
    private let cleaning = Lock<[UInt64: Task<Void, Never>]>([:])

    /// Creates a store on `disk`, which other things may use too. `now` dates the lists.
    public init(_ disk: DiskCache, now: @escaping @Sendable () -> Date = { Date() }) {
        self.disk = disk
        self.now = now
    }

    /// Where an answer lies: `key` or one derived from it.
    public static func place(of id: String, _ key: CacheKey) -> CacheKey {
        id == front ? key : key.appending(["variant", id])
    }

    static func listPlace(_ key: CacheKey) -> CacheKey { key.appending(["variants"]) }

    /// False when there is certainly no answer of `key`. Costs no I/O.
    public func mayContain(_ key: CacheKey) -> Bool { disk.mayContain(key) || mayHaveList(key) }

    private func mayHaveList(_ key: CacheKey) -> Bool {
        lists.withLock { $0[key] != nil } || disk.mayContain(Self.listPlace(key))
    }

    // MARK: - Reading

    /// The newest answer of `key` that a request with `fields` selects. Its own key says where it lies.
    public func entry(for key: CacheKey, matching fields: HTTPFields) async -> DiskEntry? {
        await answer(for: key, matching: fields)?.entry
    }

    /// The newest answer of `key` that a request with `fields` selects, and its name among those of the key.
    ///
    /// If the current task is canceled while a read waits for a thread, the read is withdrawn, and this method
    /// returns `nil` immediately.
    public func answer(for key: CacheKey, matching fields: HTTPFields) async -> (id: String, entry: DiskEntry)? {
        // Without the list nothing says which answer is the newest.
        guard let known = await list(key) else { return nil }
        guard let list = known else {
            guard let entry = await disk.entry(for: key), entry.isSelected(by: fields) else { return nil }
            return (Self.front, entry)
        }
        for variant in list.matching(fields) {
            // A read that was withdrawn says nothing about the answer.
            guard let read = await disk.read(Self.place(of: variant.id, key)) else { return nil }
            if let entry = read, entry.isSelected(by: fields) { return (variant.id, entry) }
            // Evicted, or another process changed it.
            change(key) { $0.remove(variant.id) }
        }
        return nil
    }

    /// The list of `key` for a change of what is stored, which has to see it also if the current task is canceled.
    private func listToChange(_ key: CacheKey) async -> VariantList? { await list(key, isWithdrawable: false) ?? nil }

    /// The list of `key`; nil where it has at most one answer, which lies at the key. The outer `nil` says nothing:
    /// the read of the list was withdrawn.
    private func list(_ key: CacheKey, isWithdrawable: Bool = true) async -> VariantList?? {
        if let known = lists.withLock({ $0[key] }) { return .some(known) }
        let place = Self.listPlace(key)
        guard disk.mayContain(place) else { return .some(nil) }
        guard let read = await disk.read(place, isWithdrawable: isWithdrawable) else { return nil }
        guard let entry = read, let list = try? JSONDecoder().decode(VariantList.self, from: entry.payload)
        else { return .some(nil) }
        return lists.withLock { lists in
            // Somebody else may have read or changed it while the disk was read.
            if let known = lists[key] { return known }
            if lists.count >= Self.listLimit { lists.removeAll(keepingCapacity: true) }
            lists[key] = list
            return list
        }
    }

    // MARK: - Writing

    /// Stores `entry`, the answer to a request with `fields`, under the key it names, in place of the answers that the
    /// request selects. `entry.head` tells what selects it.
    public func store(_ entry: DiskEntry, request fields: HTTPFields) async {
        let key = entry.key
        let known = await listToChange(key)
        guard let variant = entry.variant(Self.front), !variant.names.isEmpty else {
            if let known { drop(known, key) }
            return disk.store(entry)
        }
        if known == nil, !disk.mayContain(key) { return disk.store(entry) }
        let first = known == nil ? await disk.entryToChange(for: key)?.variant(Self.front) : nil
        let change = lists.withLock { lists -> Change in
            var list = lists[key] ?? known ?? VariantList()
            if let first, list.variants.isEmpty { _ = list.insert(first, request: first.selecting) }
            var placed = variant
            let staying = list.variants.filter { !$0.matches(fields) }
            placed.id = staying.contains { $0.id == Self.front } ? variant.selectingName : Self.front
            let leaving = list.insert(placed, request: fields)
            let isListed = known != nil || list.variants.count > 1
            lists[key] = isListed ? list : nil
            return Change(place: Self.place(of: placed.id, key), leaving: leaving, list: isListed ? list : nil)
        }
        for id in change.leaving { disk.remove(Self.place(of: id, key)) }
        var placed = entry
        placed.key = change.place
        disk.store(placed)
        if let list = change.list { write(list, key) }
    }

    /// Takes a new head for the answer of `key` that a request with `fields` selects; nothing happens where there is
    /// none. Other answers of the key keep theirs.
    public func updateHead(_ head: StoredHead, for key: CacheKey, matching fields: HTTPFields) async {
        guard let list = await listToChange(key) else {
            // Where something selects, what lies there may be another answer than the one that was confirmed.
            if head.isNegotiated {
                guard let entry = await disk.entryToChange(for: key), entry.isSelected(by: fields) else { return }
            }
            return disk.updateHead(head, for: key)
        }
        guard let variant = list.matching(fields).first else { return }
        updateHead(head, variant.id, for: key)
    }

    /// Takes a new head for the answer named `id`.
    public func updateHead(_ head: StoredHead, _ id: String, for key: CacheKey) {
        disk.updateHead(head, for: Self.place(of: id, key))
        change(key) { $0.replace(VariantList.Variant(id: id, stored: head)) }
    }

    /// Removes one answer.
    public func remove(_ id: String, for key: CacheKey) {
        disk.remove(Self.place(of: id, key))
        change(key) { $0.remove(id) }
    }

    /// Removes the answers that a request with `fields` selects.
    public func remove(matching fields: HTTPFields, for key: CacheKey) async {
        if let list = await listToChange(key) {
            for variant in list.matching(fields) { remove(variant.id, for: key) }
        } else if let entry = await disk.entryToChange(for: key), entry.isSelected(by: fields) {
            disk.remove(key)
        }
    }

    /// Removes all answers of `key`. They are out of sight at once; those that only a list on disk names are deleted
    /// when it has been read.
    public func removeAll(for key: CacheKey) {
        disk.remove(key)
        let mayBeOnDisk = disk.mayContain(Self.listPlace(key))
        let known = lists.withLock { lists in
            let known = lists[key]
            // An empty list hides what is on disk.
            lists[key] = known == nil && mayBeOnDisk ? VariantList() : nil
            return known
        }
        if let known {
            drop(known, key)
        } else if mayBeOnDisk {
            cleaning.withLock { tasks in
                let number = (tasks.keys.max() ?? 0) + 1
                tasks[number] = Task.detached {
                    await self.forget(key)
                    self.cleaning.withLock { $0[number] = nil }
                }
            }
        }
    }

    private func drop(_ list: VariantList, _ key: CacheKey) {
        lists.withLock { $0[key] = nil }
        for variant in list.variants { disk.remove(Self.place(of: variant.id, key)) }
        disk.remove(Self.listPlace(key))
    }

    /// Deletes what a list on disk names, but for what was stored anew since.
    private func forget(_ key: CacheKey) async {
        let entry = await disk.entryToChange(for: Self.listPlace(key))
        let old = entry.flatMap { try? JSONDecoder().decode(VariantList.self, from: $0.payload) } ?? VariantList()
        let present = lists.withLock { lists in
            let present = lists[key]?.variants ?? []
            if present.isEmpty {
                lists[key] = nil
                // Under the lock, so that no list that is written from now on is meant.
                disk.remove(Self.listPlace(key))
            }
            return Set(present.map(\.id))
        }
        // What lay at the key itself has gone already; what lies there now is new.
        for variant in old.variants where variant.id != Self.front && !present.contains(variant.id) {
            disk.remove(Self.place(of: variant.id, key))
        }
    }

    /// Waits until what was removed is deleted.
    func cleanedUp() async {
        for task in cleaning.withLock({ Array($0.values) }) { await task.value }
    }

    /// Removes the answers of `key`; those alone that a request with `fields` selects where that is not nil.
    public func remove(_ key: CacheKey, matching fields: HTTPFields?) async {
        guard let fields else { return removeAll(for: key) }
        await remove(matching: fields, for: key)
    }

    /// Waits until what was stored is written.
    public func flush() async { await disk.flush() }

    /// Removes everything that the disk cache holds.
    public func removeAll() async {
        lists.withLock { $0.removeAll() }
        await disk.removeAll()
        lists.withLock { $0.removeAll() }
    }

    private struct Change {
        let place: CacheKey
        let leaving: [String]
        let list: VariantList?
    }

    /// Changes the list of `key`, where there is one, and writes it where `body` says that it is different now.
    private func change(_ key: CacheKey, _ body: (inout VariantList) -> Bool) {
        let changed = lists.withLock { lists -> VariantList? in
            guard var list = lists[key], body(&list) else { return nil }
            lists[key] = list.variants.isEmpty ? nil : list
            return list
        }
        if let changed { write(changed, key) }
    }

    private func write(_ list: VariantList, _ key: CacheKey) {
        guard !list.variants.isEmpty, let payload = try? JSONEncoder().encode(list) else {
            return disk.remove(Self.listPlace(key))
        }
        disk.store(DiskEntry(key: Self.listPlace(key), payload: payload, stored: now()))
    }
}

extension DiskEntry {
    /// What selects the entry; nil for bytes without an HTTP head, which every request selects.
    fileprivate func variant(_ id: String) -> VariantList.Variant? {
        head.map { VariantList.Variant(id: id, stored: $0) }
    }

    fileprivate func isSelected(by fields: HTTPFields) -> Bool { head?.matches(fields) ?? true }
}

extension VariantList.Variant {
    /// A name that says what selects the answer: the same for the same values.
    fileprivate var selectingName: String {
        let fields = Set(names).sorted().flatMap { [$0, selecting.combined($0) ?? ""] }
        return String(CacheKey(fields).fileName.prefix(32))
    }
}
