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
        let rendition: ImageVariant
        /// The number of the store. Later stores have larger numbers.
        let ticket: UInt64
        /// A Boolean value that indicates whether the tier has received the image.
        var isStored = false
    }

    private struct Index {
        var entries: [CacheKey.Digest: Entry] = [:]
        var families = DerivedImageIndex()
        var lastTicket: UInt64 = 0

        mutating func insert(_ key: CacheKey, _ rendition: ImageVariant) -> UInt64 {
            remove(key.digest)
            lastTicket += 1
            entries[key.digest] = Entry(key: key, rendition: rendition, ticket: lastTicket)
            families.add(key.digest, to: rendition.data)
            return lastTicket
        }

        @discardableResult
        mutating func remove(_ digest: CacheKey.Digest) -> CacheKey? {
            guard let entry = entries.removeValue(forKey: digest) else { return nil }
            families.remove(digest, from: entry.rendition.data)
            return entry.key
        }

        /// Removes the older half of the entries if there are more than `limit`, and returns their keys.
        mutating func removeOldest(limit: Int) -> [CacheKey] {
            guard entries.count > limit else { return [] }
            let oldest = entries.values.sorted { $0.ticket < $1.ticket }.prefix(entries.count / 2)
            return oldest.compactMap { remove($0.key.digest) }
        }
    }

    /// The maximum number of recorded keys.
    static let keyLimit = 16_384

    private static let tracked = Lock(WeakTable<ObjectIdentifier, TrackedMemoryTier, Void>())

    /// The tier of the application.
    package let tier: any MemoryCacheTier
    private let index = Lock(Index())
    private let filled = Lock<(@Sendable () -> Void)?>(nil)

    private init(_ tier: any MemoryCacheTier) { self.tier = tier }

    /// Returns the object that tracks a tier. All caches that use the tier share it.
    package static func tracking(_ tier: any MemoryCacheTier) -> TrackedMemoryTier {
        tracked.withLock { table in
            // The tracking object retains the tier, so the identifier isn't reused while the object is alive.
            if let known = table[ObjectIdentifier(tier)]?.object { return known }
            let fresh = TrackedMemoryTier(tier)
            table.insert(fresh, for: ObjectIdentifier(tier))
            return fresh
        }
    }

    /// The number of recorded keys. The tier may have evicted some of the images.
    package var keyCount: Int { index.withLock { $0.entries.count } }

    // MARK: - Lookups

    /// Returns the image for a key.
    package func image(for key: CacheKey) -> DecodedImage? {
        if let image = tier.image(for: key) { return image }
        forget(key.digest)
        return nil
    }

    /// Returns the smallest image that satisfies a request although it's larger than requested.
    package func larger(for wanted: ImageVariant, where isAllowed: (DecodedImage) -> Bool) -> DecodedImage? {
        images(of: wanted.data).larger(for: wanted, where: isAllowed)?.image
    }

    /// Returns the largest image that can be displayed while a rendition is loading.
    package func placeholder(for wanted: ImageVariant, where isAllowed: (DecodedImage) -> Bool) -> DecodedImage? {
        images(of: wanted.data).placeholder(for: wanted, where: isAllowed)
    }

    private func images(of data: CacheKey.Digest) -> [CachedImage] {
        let entries = index.withLock { index in
            index.families.members(of: data).compactMap { index.entries[$0] }
        }
        return entries.compactMap { entry in
            image(for: entry.key).map { CachedImage(key: entry.key.digest, image: $0, rendition: entry.rendition) }
        }
    }

    /// Removes the entry of an image that the tier has evicted.
    private func forget(_ digest: CacheKey.Digest) {
        index.withLock { index in
            // Another thread may be storing the image.
            if index.entries[digest]?.isStored == true { index.remove(digest) }
        }
    }

    // MARK: - Changes

    /// Stores an image.
    package func store(_ image: DecodedImage, for key: CacheKey, rendition: ImageVariant) {
        let (ticket, excess, isFirst) = index.withLock { index in
            let isFirst = index.entries.isEmpty
            let ticket = index.insert(key, rendition)
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
