// SPDX-License-Identifier: MIT

import WebImageHTTP

/// One layer of a cache of encoded bytes: a folder, a server, an app's own store. Implementations are thread-safe, lose
/// what they must and never fail: what cannot be read is a miss, what cannot be written is dropped.
public protocol CacheTier: Sendable {
    /// The entry of `key` that a request with the fields `request` selects; nil where there is none. What is given back
    /// is, byte for byte, one that was stored under that key.
    func entry(for key: CacheKey, matching request: HTTPFields) async -> DiskEntry?
    /// Stores `entry`, the answer to a request with the fields `request`, under the key it names. Returns when later
    /// reads see it; it may be written behind.
    func store(_ entry: DiskEntry, request: HTTPFields) async
    /// Removes the answers of `key`; those alone that `request` selects where that is not nil. Later reads miss at once.
    func remove(_ key: CacheKey, matching request: HTTPFields?) async
    /// Removes the entries whose keys are `key` with more fields behind: what was made of its bytes. Default nothing, for
    /// stores that cannot list their keys.
    func removeDerived(from key: CacheKey) async
    /// Removes everything.
    func removeAll() async

    /// What requests call this tier when they choose among tiers. Default ``CacheTiers/remote``.
    var kind: CacheTiers { get }
    /// False when there is certainly no entry of `key`. Must cost no I/O. Default true.
    func mayContain(_ key: CacheKey) -> Bool
    /// Takes a new HTTP head for the entry of `key` that `request` selects; nothing happens where there is none. Default:
    /// the entry is stored again.
    func updateHead(_ head: StoredHead, for key: CacheKey, matching request: HTTPFields) async
    /// Waits until what was stored is written, or has failed to be. Default at once.
    func flush() async
}

extension CacheTier {
    /// ``CacheTiers/remote``.
    public var kind: CacheTiers { .remote }

    /// True: it may be there.
    public func mayContain(_ key: CacheKey) -> Bool { true }

    /// Nothing: what was made of bytes that have gone is not asked for.
    public func removeDerived(from key: CacheKey) async {}

    /// Stores the entry again with the new head.
    public func updateHead(_ head: StoredHead, for key: CacheKey, matching request: HTTPFields) async {
        guard var entry = await entry(for: key, matching: request) else { return }
        entry.head = head
        await store(entry, request: request)
    }

    /// Nothing waits.
    public func flush() async {}
}

extension VariantStore: CacheTier {
    /// ``CacheTiers/disk``.
    public var kind: CacheTiers { .disk }

    /// Removes the entries whose keys are `key` with more fields behind.
    public func removeDerived(from key: CacheKey) async { await disk.remove(derivedFrom: key) }
}
