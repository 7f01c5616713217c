// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP
import WebImageStore

/// Keeps answers on disk: each is an entry of a ``DiskCache``, and a small record for each URL lists its variants.
/// Survives restarts and kills; limits, expiry and crash safety are the disk cache's. A record that another process
/// changes is noticed after ``recordLimit`` other URLs at the latest; until then its answers are merely missed.
public actor DiskResponseStore: HTTPResponseStore {
    /// Records kept in memory.
    public static let recordLimit = 1_024

    private let disk: DiskCache
    private let now: @Sendable () -> Date
    private var records: [String: VariantList] = [:]

    /// Creates a store on `disk`, which other things may use too: keys do not collide.
    public init(_ disk: DiskCache, now: @escaping @Sendable () -> Date = { Date() }) {
        self.disk = disk
        self.now = now
    }

    /// The newest answer that the request selects.
    public func response(for key: String, matching request: HTTPFields) async -> StoredResponse? {
        let record = await record(key)
        for variant in record.matching(request) {
            guard let entry = await disk.entry(for: Self.entryKey(key, variant.id)), let head = entry.head else {
                // Evicted, or another process removed it.
                change(key) { $0.remove(variant.id) }
                continue
            }
            return StoredResponse(variant: variant, head: head, body: entry.payload)
        }
        return nil
    }

    /// Stores an answer.
    public func put(_ response: StoredResponse, request: HTTPFields, for key: String) async {
        _ = await record(key)
        let id = response.variant.id
        // The entry first: a record must not name what is not there.
        disk.store(
            DiskEntry(key: Self.entryKey(key, id), head: response.head, payload: response.body, stored: now()))
        change(key) { record in
            for leaving in record.insert(response.variant, request: request) {
                disk.remove(Self.entryKey(key, leaving))
            }
            return true
        }
    }

    /// Replaces an answer's head.
    public func update(_ response: StoredResponse, for key: String) async {
        guard await record(key).variants.contains(where: { $0.id == response.variant.id }) else { return }
        disk.updateHead(response.head, for: Self.entryKey(key, response.variant.id))
        change(key) { record in record.replace(response.variant) }
    }

    /// Removes one answer.
    public func remove(_ id: String, for key: String) async {
        _ = await record(key)
        disk.remove(Self.entryKey(key, id))
        change(key) { $0.remove(id) }
    }

    /// Removes the answers that the request selects.
    public func remove(matching request: HTTPFields, for key: String) async {
        for variant in await record(key).matching(request) { await remove(variant.id, for: key) }
    }

    /// Removes all answers of `key`.
    public func removeAll(for key: String) async {
        for variant in await record(key).variants { disk.remove(Self.entryKey(key, variant.id)) }
        change(key) { record in
            defer { record = VariantList() }
            return !record.variants.isEmpty
        }
    }

    /// Removes everything that the disk cache holds.
    public func removeAll() async {
        records = [:]
        await disk.removeAll()
        records = [:]
    }

    /// The variants of `key`, as this process knows them.
    private func record(_ key: String) async -> VariantList {
        if let known = records[key] { return known }
        let entry = await disk.entry(for: Self.recordKey(key))
        // Somebody else may have read or changed it while the disk was read.
        if let known = records[key] { return known }
        let record = entry.flatMap { try? JSONDecoder().decode(VariantList.self, from: $0.payload) } ?? VariantList()
        if records.count >= Self.recordLimit { records.removeAll(keepingCapacity: true) }
        records[key] = record
        return record
    }

    /// Changes the record of `key` and writes it where `body` says that it is different now.
    private func change(_ key: String, _ body: (inout VariantList) -> Bool) {
        var record = records[key] ?? VariantList()
        guard body(&record) else { return }
        records[key] = record
        guard !record.variants.isEmpty, let payload = try? JSONEncoder().encode(record) else {
            return disk.remove(Self.recordKey(key))
        }
        disk.store(DiskEntry(key: Self.recordKey(key), payload: payload, stored: now()))
    }

    private static func recordKey(_ key: String) -> CacheKey { CacheKey(["http-variants", key]) }
    private static func entryKey(_ key: String, _ id: String) -> CacheKey { CacheKey(["http-response", key, id]) }
}
