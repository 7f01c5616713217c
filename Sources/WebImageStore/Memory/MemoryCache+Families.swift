// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

extension MemoryCache {
    /// Returns all images in memory that were created from the data of a key, in no particular order.
    ///
    /// The call doesn't count as a lookup and doesn't mark the images as used.
    public func pictures(of data: CacheKey) -> [HeldPicture] { pictures(of: data.digest) }

    private func pictures(of family: CacheKey.Digest) -> [HeldPicture] {
        store.withLock { store in
            store.family(family, uptime: clock.uptime).map {
                HeldPicture(key: $0.digest, image: $0.object, rendition: $0.rendition)
            }
        }
    }

    /// Returns the smallest image in memory that satisfies a request although it's larger than requested.
    ///
    /// Call this method after ``image(for:)`` returns `nil`. If this method finds an image, the statistics count a hit
    /// instead of the previous miss, and the image is marked as used.
    ///
    /// - Parameters:
    ///   - wanted: The requested rendition.
    ///   - isAllowed: A closure that returns whether an image may be used. The cache calls it without holding the lock.
    public func larger(for wanted: Rendition, where isAllowed: (Image) -> Bool = { _ in true }) -> Image? {
        let found = pictures(of: wanted.data).filter {
            $0.rendition.satisfies(wanted, PictureFacts($0.image)) && isAllowed($0.image)
        }
        guard let best = found.min(by: { $0.image.cost < $1.image.cost }) else { return nil }
        change { store, leaving in store.answered(with: best.key, uptime: clock.uptime, leaving: &leaving) }
        return best.image
    }

    /// Returns the largest image in memory, of any size, that can be displayed while a rendition is loading.
    ///
    /// - Parameters:
    ///   - wanted: The requested rendition.
    ///   - isAllowed: A closure that returns whether an image may be used. The cache calls it without holding the lock.
    public func standIn(for wanted: Rendition, where isAllowed: (Image) -> Bool = { _ in true }) -> Image? {
        pictures(of: wanted.data).map { (picture: $0, facts: PictureFacts($0.image)) }
            .filter { $0.picture.rendition.standsIn(for: wanted, $0.facts) && isAllowed($0.picture.image) }
            .max { $0.picture.image.pixels.byteCount < $1.picture.image.pixels.byteCount }?.picture.image
    }

    /// Removes all images that were created from the data of a key and stored with their ``Rendition``.
    public func removeAll(of data: CacheKey) {
        change { store, leaving in store.removeFamily(data.digest, leaving: &leaving) }
    }
}
