// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

extension MemoryCache {
    /// The limits of a ``MemoryCache``.
    public struct Configuration: Hashable, Sendable {
        /// The maximum total size of the cached images, in bytes of pixel data.
        ///
        /// The default is one eighth of the memory that is available to this process, up to 512 MiB.
        public var costLimit = MemoryCache.defaultCostLimit
        /// The maximum number of cached images. The default is unlimited.
        public var countLimit = Int.max
        /// The maximum size of one image, in bytes of pixel data. Larger images aren't cached. The default is `nil`,
        /// which means one tenth of ``costLimit``.
        public var entryCostLimit: Int?
        /// The time for which an image can be returned after it was stored. The default is `nil`, which means an
        /// unlimited time. HTTP freshness rules apply in addition.
        public var timeToLive: Duration?
        /// The event from which times to live are counted. The default is ``CacheExpiration/sinceStored``.
        public var expiration = CacheExpiration.sinceStored
        /// The time source for times to live, of which the cache uses only the uptime. The default is the system clock.
        package var clock = TimeSource.system

        /// Creates a configuration with the default values.
        public init() {}

        /// Returns a Boolean value that indicates whether the limits of two configurations are equal.
        public static func == (left: Configuration, right: Configuration) -> Bool {
            left.costLimit == right.costLimit && left.countLimit == right.countLimit
                && left.entryCostLimit == right.entryCostLimit && left.timeToLive == right.timeToLive
                && left.expiration == right.expiration
        }

        /// Hashes the limits.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(costLimit)
            hasher.combine(countLimit)
            hasher.combine(entryCostLimit)
            hasher.combine(timeToLive)
            hasher.combine(expiration)
        }
    }

    /// The limits of the cache.
    ///
    /// Lowering the limit for the total size or for the number of images evicts images immediately. Changes of the
    /// limit for one image, of the time to live, and of the expiration apply to images that are stored afterward. Negative limits become 0.
    public var configuration: Configuration {
        get {
            store.withLock { store in
                var configuration = Configuration()
                configuration.costLimit = store.costLimit
                configuration.countLimit = store.countLimit
                configuration.entryCostLimit = store.entryLimit
                configuration.timeToLive = store.timeToLive
                configuration.expiration = store.expiration
                configuration.clock = clock
                return configuration
            }
        }
        set { release(apply(newValue)) }
    }

    /// Sets the ``configuration`` and returns the evicted images. The caller passes them to ``release(_:)``.
    package func apply(_ configuration: Configuration) -> [DecodedImage] {
        store.withLock { store in
            var leaving: [DecodedImage] = []
            store.costLimit = max(0, configuration.costLimit)
            store.countLimit = max(0, configuration.countLimit)
            store.entryLimit = configuration.entryCostLimit.map { max(0, $0) }
            store.timeToLive = configuration.timeToLive
            store.expiration = configuration.expiration
            store.evict(toCost: store.costLimit, count: store.countLimit, releasing: &leaving)
            return leaving
        }
    }

    /// Evicts images until the remaining ones use at most the given number of bytes of pixel data.
    public func trim(toCost cost: Int) {
        change { store, leaving in store.evict(toCost: max(0, cost), count: .max, releasing: &leaving) }
    }

    /// Evicts images until at most the given number of images remains. A negative number becomes 0.
    public func trim(toCount count: Int) {
        change { store, leaving in store.evict(toCost: .max, count: max(0, count), releasing: &leaving) }
    }

    /// Evicts the images that were stored longer ago than a duration.
    public func trim(maxAge: Duration) {
        change { store, leaving in
            store.evict(storedBefore: clock.uptime() - maxAge / .seconds(1), releasing: &leaving)
        }
    }

    /// Evicts images until the remaining ones use at most the given fraction, from 0 to 1, of the cost limit.
    package func trim(toFraction fraction: Double) {
        change { store, leaving in
            let bytes = fraction.isNaN ? 0 : Double(store.costLimit) * min(max(fraction, 0), 1)
            // A limit of Int.max isn't exact as a Double.
            store.evict(toCost: Int(saturating: bytes), count: .max, releasing: &leaving)
        }
    }

    /// Removes images that were prefetched and haven't been used since.
    package func removeUnusedAhead() {
        change { store, leaving in store.removeUnusedAhead(releasing: &leaving) }
    }
}
