// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// A cache of decoded images in memory that is limited by the size of their pixel data.
///
/// Images that are read repeatedly are separate from images that were stored recently, so scrolling past many images
/// once doesn't evict the popular ones. The cache evicts images by S3-FIFO and adjusts the shares of the two groups to
/// the requests. It still finds an evicted image as long as another object retains it.
///
/// You can call all methods from any thread. The cache holds its lock only for a few memory accesses and releases
/// images after unlocking.
public final class MemoryCache: Sendable {
    /// The events since the creation of the cache and its current contents.
    public struct Statistics: Sendable, Hashable {
        /// The number of lookups that found an image.
        public let hits: Int
        /// The number of lookups that found no image.
        public let misses: Int
        /// The number of images that were evicted because of a limit or memory pressure.
        public let evictions: Int
        /// The current size of the cached images, in bytes of pixel data.
        public let cost: Int
        /// The current number of cached images.
        public let count: Int

        /// The ratio of hits to all lookups, from 0 to 1, or `nil` before the first lookup.
        public var hitRate: Double? {
            hits + misses > 0 ? Double(hits) / Double(hits + misses) : nil
        }
    }

    let store: Lock<MemoryCacheStorage<DecodedImage>>
    let clock: TimeSource
    private let filled = Lock<(@Sendable () -> Void)?>(nil)

    /// Creates an empty cache.
    ///
    /// - Parameter configuration: The limits of the cache.
    public init(configuration: Configuration = Configuration()) {
        store = Lock(
            MemoryCacheStorage(
                costLimit: max(0, configuration.costLimit), countLimit: max(0, configuration.countLimit),
                entryLimit: configuration.entryCostLimit.map { max(0, $0) }, timeToLive: configuration.timeToLive,
                expiration: configuration.expiration))
        clock = configuration.clock
    }

    /// Creates an empty cache with the given limits.
    package convenience init(
        costLimit: Int, countLimit: Int = .max, entryLimit: Int? = nil, timeToLive: Duration? = nil,
        clock: TimeSource = .system
    ) {
        var configuration = Configuration()
        configuration.costLimit = costLimit
        configuration.countLimit = countLimit
        configuration.entryCostLimit = entryLimit
        configuration.timeToLive = timeToLive
        configuration.clock = clock
        self.init(configuration: configuration)
    }

    /// One eighth of the memory that is available to this process, up to 512 MiB.
    package static let defaultCostLimit = min(512 << 20, SystemMemory.limit() / 8)

    // MARK: - Images

    /// Returns the image for a key, or `nil` if the cache has no image for the key.
    public func image(for key: CacheKey) -> DecodedImage? { image(for: key.digest) }

    /// Returns the image for the key with a digest, or `nil` if the cache has no image for the key.
    ///
    /// Use this method for frequent lookups. A key contains its text, and copying the text takes one fifth of the time
    /// of a lookup.
    package func image(for digest: CacheKey.Digest) -> DecodedImage? {
        if let image = store.withLock({ $0.findLasting(digest) }) { return image }
        return findElsewhere(digest)
    }

    @inline(never)
    private func findElsewhere(_ digest: CacheKey.Digest) -> DecodedImage? {
        change { store, leaving in store.find(digest, uptime: clock.uptime, releasing: &leaving) }
    }

    /// Stores an image and replaces the previous image for its key.
    ///
    /// If the cost of the image exceeds the limit for one image, this method removes the previous image and returns
    /// `false`.
    ///
    /// - Parameters:
    ///   - image: The image to store.
    ///   - key: The key of the image.
    ///   - timeToLive: The time for which the image can be returned. The default is `nil`, which means the time to live
    ///     of the cache.
    /// - Returns: `true` if the image was stored.
    @discardableResult
    public func store(_ image: DecodedImage, for key: CacheKey, timeToLive: Duration? = nil) -> Bool {
        store(image, for: key, variant: nil, timeToLive: timeToLive)
    }

    /// Stores an image like ``store(_:for:timeToLive:)``, with a description of how it was created.
    ///
    /// - Parameters:
    ///   - image: The image to store.
    ///   - key: The key of the image.
    ///   - variant: A description of how the image was created, so that requests for other sizes find it. If it's
    ///     `nil`, only lookups for the image's own key find it.
    ///   - timeToLive: The time for which the image can be returned. The default is `nil`, which means the time to live
    ///     of the cache.
    ///   - isPrefetch: Whether the image was prefetched. Prefetched images that haven't
    ///     been used are the first to be removed under memory pressure.
    ///   - isAllowed: A closure that returns whether the image may be stored. No removal takes place between its result
    ///     and the store. It runs under the lock of the cache.
    /// - Returns: `true` if the image was stored.
    @discardableResult
    package func store(
        _ image: DecodedImage, for key: CacheKey, variant: ImageVariant?, timeToLive: Duration? = nil,
        isPrefetch: Bool = false, if isAllowed: () -> Bool = { true }
    ) -> Bool {
        let cost = image.cost
        let (isKept, isFirst) = change { store, leaving in
            guard isAllowed() else { return (false, false) }
            let lifetime = timeToLive ?? store.timeToLive
            let now = clock.uptime()
            let note = CachedImageInfo(
                cost: cost, stored: now, expires: lifetime.map { now + $0 / .seconds(1) } ?? .infinity,
                renewal: store.expiration == .sinceLastUse ? lifetime.map { $0 / .seconds(1) } : nil,
                variant: variant, isPrefetch: isPrefetch)
            let wasEmpty = store.count == 0
            let isKept = store.store(image, for: key.digest, info: note, releasing: &leaving)
            return (isKept, isKept && wasEmpty)
        }
        if isFirst { filled.withLock { $0 }?() }
        return isKept
    }

    /// Removes the image for a key.
    public func remove(_ key: CacheKey) {
        change { store, leaving in store.remove(key.digest, releasing: &leaving) }
    }

    /// Removes all images.
    public func removeAll() {
        // Move the complete table out of the lock so that its images are released after unlocking.
        let old = store.withLock { $0.removeAll() }
        _ = consume old
    }

    /// The event counters and the current contents.
    public var statistics: Statistics { store.withLock { $0.statistics } }

    /// Sets a closure that the cache calls whenever an image is stored in the empty cache.
    ///
    /// The cache calls the closure on the thread that stores the image.
    package func whenFilled(_ action: @escaping @Sendable () -> Void) {
        filled.withLock { $0 = action }
    }

    /// Runs a closure under the lock and releases the removed images after unlocking.
    func change<Result: Sendable>(
        _ body: (inout MemoryCacheStorage<DecodedImage>, inout [DecodedImage]) -> Result
    ) -> Result {
        var leaving: [DecodedImage] = []
        let result = store.withLock { body(&$0, &leaving) }
        release(consume leaving)
        return result
    }

    /// Releases images that have left the cache. The caller must not hold a lock, because the release may run code of
    /// the application.
    package func release(_ leaving: consuming [DecodedImage]) {
        guard leaving.count > 64 else { return }
        // Most of the removed images aren't displayed anywhere. After their release, their entries in the weak table
        // can be pruned.
        leaving = []
        store.withLock { $0.pruneWeakEntries() }
    }
}
