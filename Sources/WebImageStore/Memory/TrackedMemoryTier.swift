// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// A custom memory tier with the keys of its images, so that images of the same data can be found and removed.
///
/// The tier may evict images without notice, so an entry of the index doesn't prove that the tier has the image. But an
/// image of these caches that is in the tier always has an entry. The lock isn't held while the tier is called. This
/// class is thread-safe.
package final class TrackedMemoryTier: Sendable {
    private struct Entry {
        let key: CacheKey
        let variant: ImageVariant
        /// The number of the store. Later stores have larger numbers.
        let ticket: UInt64
        /// The uptime in seconds at which the image expires, or infinity.
        let expires: Double
        var isStored = false
    }

    private struct Index {
        var entries: [CacheKey.Digest: Entry] = [:]
        var families = DerivedImageIndex()
        var lastTicket: UInt64 = 0

        mutating func insert(_ key: CacheKey, _ variant: ImageVariant, expires: Double) -> UInt64 {
            remove(key.digest)
            lastTicket += 1
            entries[key.digest] = Entry(key: key, variant: variant, ticket: lastTicket, expires: expires)
            families.add(key.digest, to: variant.data)
            return lastTicket
        }

        @discardableResult
        mutating func remove(_ digest: CacheKey.Digest) -> CacheKey? {
            guard let entry = entries.removeValue(forKey: digest) else { return nil }
            families.remove(digest, from: entry.variant.data)
            return entry.key
        }

        /// Removes the older half of the entries if there are more than `limit`, and returns their keys.
        mutating func removeOldest(limit: Int) -> [CacheKey] {
            guard entries.count > limit else { return [] }
            let oldest = entries.values.sorted { $0.ticket < $1.ticket }.prefix(entries.count / 2)
            return oldest.compactMap { remove($0.key.digest) }
        }
    }

    static let keyLimit = 16_384

    private static let tracked = Lock(WeakTable<ObjectIdentifier, TrackedMemoryTier, Void>())

    /// The tier of the application.
    package let tier: any MemoryCacheTier
    private let index = Lock(Index())
    private let filled = Lock<(@Sendable () -> Void)?>(nil)
    private let clock: TimeSource
    /// Whether an image with a time to live was stored. Otherwise, a lookup needs no lock.
    private let mayExpire = Atomic(false)

    private init(_ tier: any MemoryCacheTier, _ clock: TimeSource) {
        self.tier = tier
        self.clock = clock
    }

    /// Returns the object that tracks a tier. All caches that use the tier share it.
    ///
    /// If no cache used the tier, this method removes all of its images, because their keys are unknown. The tier of an
    /// existing object keeps its clock.
    ///
    /// - Parameters:
    ///   - tier: The tier of the application.
    ///   - clock: The time source for times to live, of which only the uptime is used.
    package static func tracking(_ tier: any MemoryCacheTier, clock: TimeSource = .system) -> TrackedMemoryTier {
        let (tracked, isFresh) = tracked.withLock { table in
            // The tracking object retains the tier, so the identifier isn't reused while the object is alive.
            if let known = table[ObjectIdentifier(tier)]?.object { return (known, false) }
            let fresh = TrackedMemoryTier(tier, clock)
            table.insert(fresh, for: ObjectIdentifier(tier))
            return (fresh, true)
        }
        // An image that another thread stores in the meantime may be removed too, which is only a miss.
        if isFresh { tier.removeAll() }
        return tracked
    }

    /// The number of recorded keys. The tier may have evicted some of the images.
    package var keyCount: Int { index.withLock { $0.entries.count } }

    // MARK: - Lookups

    /// Returns the image for a key.
    package func image(for key: CacheKey) -> DecodedImage? {
        if mayExpire.load(ordering: .acquiring), removeIfExpired(key) { return nil }
        return tier.image(for: key) ?? lookAgain(key)
    }

    /// If the tier has evicted the image, this method removes its entry.
    private func lookAgain(_ key: CacheKey) -> DecodedImage? {
        // Another thread may have stored the image since the first lookup, so only a second lookup proves anything. The
        // entry is outdated if the image was stored before this lookup and no other store has begun since.
        let ticket = index.withLock { index in
            index.entries[key.digest].flatMap { $0.isStored ? $0.ticket : nil }
        }
        guard let ticket else { return nil }
        if let image = tier.image(for: key) { return image }
        index.withLock { index in
            if index.entries[key.digest]?.ticket == ticket { index.remove(key.digest) }
        }
        return nil
    }

    private func removeIfExpired(_ key: CacheKey) -> Bool {
        let isExpired = index.withLock { index in
            guard let entry = index.entries[key.digest], entry.expires != .infinity, clock.uptime() >= entry.expires
            else { return false }
            index.remove(key.digest)
            return true
        }
        if isExpired { tier.remove(key) }
        return isExpired
    }

    /// Returns the smallest image that satisfies a request although it's larger than requested.
    package func larger(for wanted: ImageVariant, where isAllowed: (DecodedImage) -> Bool) -> DecodedImage? {
        images(of: wanted.data).larger(for: wanted, where: isAllowed)?.image
    }

    /// Returns the largest image that can be displayed while a variant is loading.
    package func placeholder(for wanted: ImageVariant, where isAllowed: (DecodedImage) -> Bool) -> DecodedImage? {
        images(of: wanted.data).placeholder(for: wanted, where: isAllowed)
    }

    private func images(of data: CacheKey.Digest) -> [CachedImage] {
        let entries = index.withLock { index in
            index.families.members(of: data).compactMap { index.entries[$0] }
        }
        return entries.compactMap { entry in
            image(for: entry.key).map { CachedImage(key: entry.key.digest, image: $0, variant: entry.variant) }
        }
    }

    // MARK: - Changes

    /// Stores an image. If `timeToLive` is `nil`, lookups return it for an unlimited time.
    package func store(
        _ image: DecodedImage, for key: CacheKey, variant: ImageVariant, timeToLive: Duration? = nil
    ) {
        let expires = timeToLive.map { clock.uptime() + $0 / .seconds(1) } ?? .infinity
        if timeToLive != nil { mayExpire.store(true, ordering: .releasing) }
        let (ticket, excess, isFirst) = index.withLock { index in
            let isFirst = index.entries.isEmpty
            let ticket = index.insert(key, variant, expires: expires)
            return (ticket, index.removeOldest(limit: Self.keyLimit), isFirst)
        }
        for key in excess { tier.remove(key) }
        tier.store(image, for: key, cost: image.cost)
        let isCurrent = index.withLock { index in
            guard index.entries[key.digest]?.ticket == ticket else { return false }
            index.entries[key.digest]?.isStored = true
            return true
        }
        // A removal or another store ran at the same time, so the order in the tier is unknown.
        if !isCurrent { tier.remove(key) }
        if isFirst { filled.withLock { $0 }?() }
    }

    /// Removes the image for a key.
    package func remove(_ key: CacheKey) {
        index.withLock { _ = $0.remove(key.digest) }
        tier.remove(key)
    }

    /// Removes all images that were created from the data of a key.
    package func removeAll(of data: CacheKey) {
        let keys = index.withLock { index in
            index.families.members(of: data.digest).compactMap { index.remove($0) }
        }
        for key in keys { tier.remove(key) }
    }

    /// Removes all images.
    package func removeAll() {
        index.withLock { index in
            index.entries = [:]
            index.families = DerivedImageIndex()
        }
        tier.removeAll()
    }

    /// Sets a closure that is called whenever an image is stored and no key was recorded before.
    package func whenFilled(_ action: @escaping @Sendable () -> Void) { filled.withLock { $0 = action } }
}
