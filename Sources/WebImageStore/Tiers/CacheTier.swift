// SPDX-License-Identifier: MIT

import WebImageHTTP

/// A type that stores encoded image data as one layer of a cache after the disk cache, such as a server or a database.
///
/// Implementations are thread-safe and never report errors. If a tier can't read an entry, the lookup is a miss. If it
/// can't write an entry, it drops the entry.
public protocol CacheTier: Sendable {
    /// Returns the entry of a key that a request with the given header fields selects.
    ///
    /// The returned data is byte for byte equal to data that was stored under that key.
    ///
    /// - Returns: The entry, or `nil` if the tier has no matching entry.
    func entry(for key: CacheKey, matching headers: HTTPHeaderFields) async -> CacheEntry?
    /// Returns the entry of a key like ``entry(for:matching:)``, and reports a slow lookup.
    ///
    /// A tier whose lookups can be slow calls `onDelay` when a lookup takes longer than usual, and continues. The request
    /// then also contacts the source of the image and uses the first result. Without such a report, a request waits for
    /// the tier. The default implementation calls ``entry(for:matching:)``.
    ///
    /// - Parameters:
    ///   - key: The key of the entry.
    ///   - headers: The header fields of the request.
    ///   - onDelay: A closure to call at most once, on any thread.
    /// - Returns: The entry, or `nil` if the tier has no matching entry.
    func entry(
        for key: CacheKey, matching headers: HTTPHeaderFields, onDelay: @escaping @Sendable () -> Void
    ) async -> CacheEntry?
    /// Stores an entry under the key that it names.
    ///
    /// This method returns when later reads can see the entry. The tier may write it in the background afterward.
    ///
    /// - Parameters:
    ///   - entry: The response to store.
    ///   - headers: The header fields of the request that the response belongs to.
    func store(_ entry: CacheEntry, matching headers: HTTPHeaderFields) async
    /// Removes the responses of a key.
    ///
    /// Later reads miss immediately.
    ///
    /// - Parameters:
    ///   - key: The key of the responses.
    ///   - headers: The header fields of a request. If this parameter isn't `nil`, only the responses that such a
    ///     request selects are removed.
    func remove(_ key: CacheKey, matching headers: HTTPHeaderFields?) async
    /// Removes the entries whose keys consist of `key` followed by additional fields, that is, the images derived from
    /// its data.
    ///
    /// The default implementation does nothing because some stores can't list their keys.
    func removeDerived(from key: CacheKey) async
    /// Removes all entries.
    func removeAll() async

    /// The name by which requests select this tier.
    ///
    /// The default is ``ImageCache/Tiers/custom``.
    var category: ImageCache.Tiers { get }
    /// Returns a Boolean value that indicates whether the tier may contain an entry for a key.
    ///
    /// Implementations return `false` only if the tier certainly has no entry, and they perform no I/O. The default
    /// implementation returns `true`.
    func mayContain(_ key: CacheKey) -> Bool
    /// Waits until all stored entries are written or their writes have failed.
    ///
    /// The default implementation returns immediately.
    func flush() async
}

extension CacheTier {
    /// The kind of a custom tier, which is ``ImageCache/Tiers/custom`` by default.
    public var category: ImageCache.Tiers { .custom }

    /// Returns the entry without ever reporting a delay.
    public func entry(
        for key: CacheKey, matching headers: HTTPHeaderFields, onDelay: @escaping @Sendable () -> Void
    ) async -> CacheEntry? {
        await entry(for: key, matching: headers)
    }

    /// Returns `true` because the tier may contain any key.
    public func mayContain(_ key: CacheKey) -> Bool { true }

    /// Does nothing because requests never look up images that were derived from removed data.
    public func removeDerived(from key: CacheKey) async {}

    /// Returns immediately because the tier has no pending writes.
    public func flush() async {}
}

/// A cache tier that can replace the HTTP response head of an entry without storing its data again.
package protocol HeadUpdatingCacheTier: CacheTier {
    /// Replaces the HTTP response head of the entry that a request with the given header fields selects.
    ///
    /// If the tier has no such entry, this method does nothing.
    func updateHead(_ head: StoredResponseHead, for key: CacheKey, matching headers: HTTPHeaderFields) async
}

extension CacheTier {
    /// Replaces the HTTP response head of an entry. A tier that can't do so stores the entry again with the new head.
    func replaceHead(_ head: StoredResponseHead, for key: CacheKey, matching headers: HTTPHeaderFields) async {
        if let tier = self as? any HeadUpdatingCacheTier {
            return await tier.updateHead(head, for: key, matching: headers)
        }
        guard var entry = await entry(for: key, matching: headers) else { return }
        entry.head = head
        await store(entry, matching: headers)
    }
}

extension VariantDiskTier: HeadUpdatingCacheTier {
    /// The kind of a variant store, which is ``ImageCache/Tiers/disk``.
    package var category: ImageCache.Tiers { .disk }

    /// Removes the entries whose keys consist of `key` followed by additional fields.
    package func removeDerived(from key: CacheKey) async { await disk.remove(derivedFrom: key) }
}
