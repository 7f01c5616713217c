// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageHTTP

/// Decoded pictures in memory and encoded bytes in any number of tiers, looked at in their order. Thread-safe.
///
/// Two requests with the same cache share what it holds; a request may name another one, for pictures or for original
/// bytes alone.
public final class ImageCache: Sendable {
    /// In which tiers an operation runs, and in which order.
    public enum OperationPolicy: Sendable, Hashable {
        /// One after the other, the nearest first; a look-up ends with the first hit.
        case serial
        /// In all at once; a look-up ends with the first hit, whoever is slow, and the others are cancelled.
        case concurrent
        /// In the nearest only.
        case highestOnly
        /// In the farthest only.
        case lowestOnly
    }

    /// The policy of each operation.
    public struct Policies: Sendable, Hashable {
        /// Looking up. Default serial.
        public var query = OperationPolicy.serial
        /// Storing. Default concurrent: every tier gets what was downloaded.
        public var store = OperationPolicy.concurrent
        /// Removing the entries of a key, and all of them. Default concurrent.
        public var remove = OperationPolicy.concurrent
        /// Whether what a farther tier answered is stored in the nearer ones. Default true.
        public var promotes = true

        /// The defaults.
        public init() {}
    }

    /// Decoded pictures; nil for none.
    public let memory: MemoryCache?
    /// Encoded bytes, the nearest tier first.
    public let tiers: [any CacheTier]
    /// How the tiers work together.
    public let policies: Policies
    private let removals = RemovalLog()

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - memory: default a memory cache with the default limits.
    ///   - tiers: the nearest first; default none.
    public init(
        memory: MemoryCache? = MemoryCache(), tiers: [any CacheTier] = [], policies: Policies = Policies()
    ) {
        self.memory = memory
        self.tiers = tiers
        self.policies = policies
    }

    /// Creates a cache of memory and one folder.
    public convenience init(memory: MemoryCache? = MemoryCache(), disk: DiskCache) {
        self.init(memory: memory, tiers: [VariantStore(disk)])
    }

    /// The last removal that concerned `key`. What was requested or made before it must not be stored after it.
    package func generation(of key: CacheKey) -> CacheGeneration { removals.generation(of: key) }

    /// Has results that were begun before this call not be stored under `key`.
    package func noteRemoval(of key: CacheKey) { removals.remove(key) }

    /// Has results that were begun before this call not be stored.
    func noteRemovalOfAll() { removals.removeAll() }

    /// The tiers that an operation touches, of those in `kinds`.
    func tiers(of kinds: CacheTiers, _ policy: OperationPolicy) -> [any CacheTier] {
        let allowed = tiers.filter { !$0.kind.isDisjoint(with: kinds) }
        switch policy {
        case .serial, .concurrent: return allowed
        case .highestOnly: return allowed.first.map { [$0] } ?? []
        case .lowestOnly: return allowed.last.map { [$0] } ?? []
        }
    }
}
