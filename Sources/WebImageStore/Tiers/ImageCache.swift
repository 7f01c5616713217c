// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
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

    private struct EncodedTiers: Sendable {
        var custom: [any CacheTier]
        /// The disk tier and the custom tiers, beginning with the nearest.
        var all: [any CacheTier]
        /// A number that increases with each change.
        var revision = 0
    }

    /// The built-in cache for decoded images, or `nil` if the cache has no memory tier or a custom one.
    public let memory: MemoryCache?
    /// The custom memory tier with the keys of its images, or `nil` if the cache has none.
    package let trackedMemory: TrackedMemoryTier?
    /// The cache for encoded images on disk, or `nil` if the cache has no disk tier.
    public let disk: DiskCache?
    /// The policies that determine how the tiers work together.
    public let policy: TierPolicy
    private let diskTier: VariantDiskTier?
    private let encoded: Lock<EncodedTiers>
    let removals = RemovalLog()

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
        self.init(memory: memory, customMemory: nil, disk: disk, tiers: tiers, policy: policy, now: { Date() })
    }

    /// Creates a cache with a custom memory tier.
    ///
    /// - Parameters:
    ///   - customMemory: The tier for decoded images. Several caches can use the same object. If no other cache uses it,
    ///     its images are removed, because the cache doesn't know how they were made.
    ///   - disk: The cache for encoded images on disk. The default is `nil`, which means no disk tier.
    ///   - tiers: The custom tiers for encoded images after the disk cache, beginning with the nearest. The default is
    ///     no tiers.
    ///   - policy: The policies that determine how the tiers work together.
    public convenience init(
        customMemory: any MemoryCacheTier, disk: DiskCache? = nil, tiers: [any CacheTier] = [],
        policy: TierPolicy = TierPolicy()
    ) {
        self.init(memory: nil, customMemory: customMemory, disk: disk, tiers: tiers, policy: policy, now: { Date() })
    }

    /// Creates a cache that takes the store dates of its own records on disk from `now`. If `customMemory` isn't `nil`,
    /// it replaces `memory` and uses the clock of `memory` for times to live.
    package init(
        memory: MemoryCache?, customMemory: (any MemoryCacheTier)?, disk: DiskCache?, tiers: [any CacheTier],
        policy: TierPolicy, now: @escaping @Sendable () -> Date
    ) {
        self.memory = customMemory == nil ? memory : nil
        trackedMemory = customMemory.map { TrackedMemoryTier.tracking($0, clock: memory?.clock ?? .system) }
        self.disk = disk
        self.policy = policy
        let diskTier = disk.map { VariantDiskTier($0, now: now) }
        self.diskTier = diskTier
        encoded = Lock(EncodedTiers(custom: tiers, all: Self.all(diskTier, tiers)))
    }

    private static func all(_ disk: VariantDiskTier?, _ custom: [any CacheTier]) -> [any CacheTier] {
        disk.map { [$0] + custom } ?? custom
    }

    /// The custom memory tier, or `nil` if the cache has none.
    public var customMemory: (any MemoryCacheTier)? { trackedMemory?.tier }

    /// The custom tiers for encoded images after the disk cache, beginning with the nearest.
    ///
    /// You can change the tiers at any time. Operations that are running finish with the tiers with which they began,
    /// and later operations use the new ones. A tier that you remove keeps its entries.
    public var tiers: [any CacheTier] {
        get { encoded.withLock { $0.custom } }
        set {
            // Release the previous tiers after unlocking.
            withExtendedLifetime(replaceTiers(newValue)) {}
        }
    }

    /// Replaces the ``tiers`` and returns the previous ones, which the caller must release without holding a lock.
    package func replaceTiers(_ tiers: [any CacheTier]) -> [any CacheTier] {
        let previous = encoded.withLock { state in
            let previous = state
            state = EncodedTiers(custom: tiers, all: Self.all(diskTier, tiers), revision: state.revision + 1)
            return previous
        }
        return previous.custom
    }

    /// A number that increases with each change of ``tiers``.
    package var tierRevision: Int { encoded.withLock { $0.revision } }

    var encodedTiers: [any CacheTier] { encoded.withLock { $0.all } }

    /// Returns the generation of a key, which identifies the last removal that affected it.
    ///
    /// A result that was requested or computed in an earlier generation must not be stored.
    package func generation(of key: CacheKey) -> CacheGeneration { removals.generation(of: key) }

    /// Runs a removal of the entries of a key and of everything that was made from them, or of all entries if `key` is
    /// `nil`.
    ///
    /// Results of work that started before this call aren't stored. Until `body` ends, lookups don't find the entries in
    /// `tiers`.
    package func removing(_ key: CacheKey?, from tiers: ImageCache.Tiers, _ body: () async -> Void) async {
        let removal = removals.begin(key, from: tiers)
        await body()
        removals.end(removal)
    }

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

/// The memory tier, which is either the built-in cache or a custom tier.
extension ImageCache {
    /// Whether the cache stores decoded images.
    package var hasMemory: Bool { memory != nil || trackedMemory != nil }

    /// Returns the decoded image for a key from memory. The digest is sufficient for the built-in cache. The key is
    /// created only for a custom tier because this takes longer than a lookup.
    package func imageInMemory(for digest: CacheKey.Digest, _ key: @autoclosure () -> CacheKey) -> DecodedImage? {
        if let memory { return memory.image(for: digest) }
        return trackedMemory?.image(for: key())
    }

    /// Returns the smallest decoded image in memory that satisfies a request although it's larger than requested.
    package func largerInMemory(
        for wanted: ImageVariant, where isAllowed: (DecodedImage) -> Bool
    ) -> DecodedImage? {
        if let memory { return memory.larger(for: wanted, where: isAllowed) }
        return trackedMemory?.larger(for: wanted, where: isAllowed)
    }

    /// Returns the largest decoded image in memory that can be displayed while a variant is loading.
    package func placeholderInMemory(
        for wanted: ImageVariant, where isAllowed: (DecodedImage) -> Bool
    ) -> DecodedImage? {
        if let memory { return memory.placeholder(for: wanted, where: isAllowed) }
        return trackedMemory?.placeholder(for: wanted, where: isAllowed)
    }

    /// Stores a decoded image in memory. A custom tier doesn't distinguish prefetched images, and it counts a time to
    /// live from the store.
    package func storeInMemory(
        _ image: DecodedImage, for key: CacheKey, madeOf source: CacheKey, _ generation: CacheGeneration,
        variant: ImageVariant, timeToLive: Duration?, isPrefetch: Bool
    ) {
        if let memory {
            // A removal is recorded before it removes images, so it either prevents this store or removes its image.
            memory.store(image, for: key, variant: variant, timeToLive: timeToLive, isPrefetch: isPrefetch) {
                removals.generation(of: source) == generation
            }
        } else if let trackedMemory, removals.generation(of: source) == generation {
            trackedMemory.store(image, for: key, variant: variant, timeToLive: timeToLive)
            // A removal between the check and the store missed the image.
            if removals.generation(of: source) != generation { trackedMemory.remove(key) }
        }
    }

    /// Removes a decoded image from memory.
    package func removeFromMemory(_ key: CacheKey) {
        memory?.remove(key)
        trackedMemory?.remove(key)
    }

    /// Removes all decoded images that were created from the data of a key from memory.
    package func removeAllFromMemory(of data: CacheKey) {
        memory?.removeAll(of: data)
        trackedMemory?.removeAll(of: data)
    }

    func removeAllFromMemory() {
        memory?.removeAll()
        trackedMemory?.removeAll()
    }
}
