// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP
import WebImageStore

/// Keeps answers on disk, those of one URL side by side as ``VariantStore`` does it. Survives restarts and kills;
/// limits, expiry and crash safety are the disk cache's. Thread-safe.
public final class DiskResponseStore: HTTPResponseStore {
    private let variants: VariantStore
    private let now: @Sendable () -> Date

    /// Creates a store on `disk`, which other things may use too: keys do not collide.
    public init(_ disk: DiskCache, now: @escaping @Sendable () -> Date = { Date() }) {
        variants = VariantStore(disk, now: now)
        self.now = now
    }

    /// The newest answer that the request selects.
    public func response(for key: String, matching request: HTTPFields) async -> StoredResponse? {
        guard let (id, entry) = await variants.answer(for: Self.place(key), matching: request), let head = entry.head
        else { return nil }
        return StoredResponse(
            variant: VariantList.Variant(id: id, stored: head), head: head, body: entry.payload)
    }

    /// Stores an answer. What selects it is taken from its head; the store names it itself.
    public func put(_ response: StoredResponse, request: HTTPFields, for key: String) async {
        let entry = DiskEntry(
            key: Self.place(key), head: response.head, payload: response.body, stored: now())
        await variants.store(entry, request: request)
    }

    /// Replaces an answer's head.
    public func update(_ response: StoredResponse, for key: String) async {
        variants.updateHead(response.head, response.variant.id, for: Self.place(key))
    }

    /// Removes one answer.
    public func remove(_ id: String, for key: String) async { variants.remove(id, for: Self.place(key)) }

    /// Removes the answers that the request selects.
    public func remove(matching request: HTTPFields, for key: String) async {
        await variants.remove(matching: request, for: Self.place(key))
    }

    /// Removes all answers of `key`.
    public func removeAll(for key: String) async { variants.removeAll(for: Self.place(key)) }

    /// Removes everything that the disk cache holds.
    public func removeAll() async { await variants.removeAll() }

    private static func place(_ key: String) -> CacheKey { CacheKey(["http-response", key]) }
}
