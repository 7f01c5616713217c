// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP
import WebImageStore

/// A thread-safe store that keeps responses in a disk cache.
///
/// The responses survive restarts and killed processes. The disk cache determines the limits, the expiration, and the
/// crash safety.
package final class DiskResponseStore: HTTPResponseStore {
    private let variants: VariantDiskTier
    private let now: @Sendable () -> Date

    /// Creates a store in a disk cache. Other code can use the same disk cache because the keys don't collide.
    package init(_ disk: DiskCache, now: @escaping @Sendable () -> Date = { Date() }) {
        variants = VariantDiskTier(disk, now: now)
        self.now = now
    }

    /// Returns the newest response that matches the request.
    package func response(for key: String, matching request: HTTPHeaderFields) async -> StoredResponse? {
        guard let (id, entry) = await variants.variant(for: Self.key(key), matching: request), let head = entry.head
        else { return nil }
        return StoredResponse(
            variant: VaryIndex.Variant(id: id, stored: head), head: head, body: entry.data)
    }

    /// Stores a response without cookies and fields for authentication. A challenge isn't stored. The store determines the selecting header fields from the head and assigns its own
    /// identifier.
    package func put(_ response: StoredResponse, request: HTTPHeaderFields, for key: String) async {
        guard !response.isChallenge else { return await remove(matching: request, for: key) }
        let entry = CacheEntry(
            key: Self.key(key), head: response.head, data: response.body, storedAt: now())
        await variants.store(entry, matching: request)
    }

    /// Replaces the head of a response.
    package func update(_ response: StoredResponse, for key: String) async {
        variants.updateHead(response.head, response.variant.id, for: Self.key(key))
    }

    /// Removes one response.
    package func remove(_ id: String, for key: String) async { variants.remove(id, for: Self.key(key)) }

    /// Removes the responses that match the request.
    package func remove(matching request: HTTPHeaderFields, for key: String) async {
        await variants.remove(matching: request, for: Self.key(key))
    }

    /// Removes all responses for `key`.
    package func removeAll(for key: String) async { variants.removeAll(for: Self.key(key)) }

    /// Removes the entire content of the disk cache.
    package func removeAll() async { await variants.removeAll() }

    private static func key(_ key: String) -> CacheKey { CacheKey(["http-response", key]) }
}
