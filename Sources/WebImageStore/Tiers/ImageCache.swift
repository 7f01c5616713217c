// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// A cache of decoded images in memory and encoded images on disk and in any number of custom tiers.
///
/// Two requests with the same cache share its contents. A request can use another cache for decoded images or for
/// original data only. This class is thread-safe.
public final class ImageCache: Sendable {
    /// The policy of each operation.
    public struct TierPolicy: Sendable, Hashable {
        /// The policy for lookups. The default is ``ImageCache/TierPolicy/Order/serial``.
        public var lookup = ImageCache.TierPolicy.Order.serial
        /// The policy for storing. The default is ``ImageCache/TierPolicy/Order/concurrent``, so every tier receives
        /// the downloaded data.
        public var storage = ImageCache.TierPolicy.Order.concurrent
        /// The policy for removing the entries of one key or of all keys. The default is
        /// ``ImageCache/TierPolicy/Order/concurrent``.
        public var removal = ImageCache.TierPolicy.Order.concurrent
        /// A Boolean value that indicates whether an entry found in a farther tier is also stored in the nearer tiers.
        /// The default is `true`.
        public var promotesHits = true

        /// Creates the default policies.
        public init() {}
    }

    /// The cache for decoded images, or `nil` if the cache has no memory tier.
    public let memory: MemoryCache?
    /// The cache for encoded images on disk, or `nil` if the cache has no disk tier.
    public let disk: DiskCache?
    /// The custom tiers for encoded images after the disk cache, beginning with the nearest.
    public let tiers: [any CacheTier]
    /// The policies that determine how the tiers work together.
    public let policy: TierPolicy
    /// The disk tier and the custom tiers, beginning with the nearest.
    let encodedTiers: [any CacheTier]
    private let removals = RemovalLog()

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - memory: The cache for decoded images. The default is a memory cache with the default limits.
    ///   - disk: The cache for encoded images on disk. The default is `nil`, which means no disk tier.
    ///   - tiers: The custom tiers for encoded images after the disk cache, beginning with the nearest. The default is
    ///     no tiers.
    ///   - policy: The policies that determine how the tiers work together.
    public convenience init(
        memory: MemoryCache? = MemoryCache(), disk: DiskCache? = nil, tiers: [any CacheTier] = [],
        policy: TierPolicy = TierPolicy()
    ) {
        self.init(memory: memory, disk: disk, tiers: tiers, policy: policy, now: { Date() })
    }

    /// Creates a cache that takes the store dates of its own records on disk from `now`.
    package init(
        memory: MemoryCache?, disk: DiskCache?, tiers: [any CacheTier], policy: TierPolicy,
        now: @escaping @Sendable () -> Date
    ) {
        self.memory = memory
        self.disk = disk
        self.tiers = tiers
        self.policy = policy
        var encodedTiers = tiers
        if let disk { encodedTiers.insert(VariantDiskTier(disk, now: now), at: 0) }
        self.encodedTiers = encodedTiers
    }

    /// Returns the generation of a key, which identifies the last removal that affected it.
    ///
    /// A result that was requested or computed in an earlier generation must not be stored.
    package func generation(of key: CacheKey) -> CacheGeneration { removals.generation(of: key) }

    /// Prevents results that were started before this call from being stored under a key.
    package func recordRemoval(of key: CacheKey) { removals.remove(key) }

    /// Prevents results that were started before this call from being stored under any key.
    func recordRemovalOfAll() { removals.removeAll() }

    /// Returns the tiers of the given kinds that an operation with a policy uses.
    func tiers(of kinds: ImageCache.Tiers, _ policy: ImageCache.TierPolicy.Order) -> [any CacheTier] {
        let allowed = encodedTiers.filter { !$0.category.isDisjoint(with: kinds) }
        switch policy {
        case .serial, .concurrent: return allowed
        case .nearestOnly: return allowed.first.map { [$0] } ?? []
        case .farthestOnly: return allowed.last.map { [$0] } ?? []
        }
    }
}

extension ImageCache.TierPolicy {
    /// The tiers in which an operation runs, and their order.
    public enum Order: Sendable, Hashable {
        /// Runs the operation in one tier after another, beginning with the nearest. A lookup ends with the first hit.
        case serial
        /// Runs the operation in all tiers at the same time. A lookup ends with the first hit and cancels the other
        /// lookups.
        case concurrent
        /// Runs the operation in the nearest tier only.
        case nearestOnly
        /// Runs the operation in the farthest tier only.
        case farthestOnly
    }
}
