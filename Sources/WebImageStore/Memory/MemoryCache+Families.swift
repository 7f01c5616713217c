// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

extension MemoryCache {
    /// Returns all images in memory that were created from the data of a key, in no particular order.
    ///
    /// The call doesn't count as a lookup and doesn't mark the images as used.
    package func images(of data: CacheKey) -> [CachedImage] { images(of: data.digest) }

    private func images(of family: CacheKey.Digest) -> [CachedImage] {
        store.withLock { store in
            store.family(family, uptime: clock.uptime).map {
                CachedImage(key: $0.digest, image: $0.object, variant: $0.variant)
            }
        }
    }

    /// Returns the smallest image in memory that satisfies a request although it's larger than requested.
    ///
    /// Call this method after ``image(for:)`` returns `nil`. If this method finds an image, the statistics count a hit
    /// instead of the previous miss, and the image is marked as used. The cache calls `isAllowed` without holding the
    /// lock.
    package func larger(for wanted: ImageVariant, where isAllowed: (DecodedImage) -> Bool = { _ in true })
        -> DecodedImage?
    {
        guard let best = images(of: wanted.data).larger(for: wanted, where: isAllowed) else { return nil }
        change { store, leaving in store.recordHit(with: best.key, uptime: clock.uptime, releasing: &leaving) }
        return best.image
    }

    /// Returns the image in memory that contains the first frame that a variant requests, or `nil` if there is none.
    ///
    /// The frames of `wanted` are ``FrameSelection/first``. The image has all frames and otherwise exactly the requested
    /// properties. Call this method after ``image(for:)`` returns `nil`. If this method finds an image, the statistics
    /// count a hit instead of the previous miss. The cache calls `isAllowed` without holding the lock.
    package func imageWithFirstFrame(of wanted: ImageVariant, where isAllowed: (DecodedImage) -> Bool) -> DecodedImage?
    {
        var decoding = wanted.decoding
        decoding.frames = .all
        let found = images(of: wanted.data).first {
            $0.variant.decoding == decoding && $0.variant.transformers == wanted.transformers
                && isAllowed($0.image)
        }
        guard let found else { return nil }
        change { store, leaving in store.recordHit(with: found.key, uptime: clock.uptime, releasing: &leaving) }
        return found.image
    }

    /// Returns the largest image in memory, of any size, that can be displayed while a variant is loading. The cache
    /// calls `isAllowed` without holding the lock.
    package func placeholder(for wanted: ImageVariant, where isAllowed: (DecodedImage) -> Bool = { _ in true })
        -> DecodedImage?
    {
        images(of: wanted.data).placeholder(for: wanted, where: isAllowed)
    }

    /// Removes all images that were created from the data of a key and stored with their ``ImageVariant``.
    package func removeAll(of data: CacheKey) {
        change { store, leaving in store.removeFamily(data.digest, releasing: &leaving) }
    }
}

extension [CachedImage] {
    func larger(for wanted: ImageVariant, where isAllowed: (DecodedImage) -> Bool) -> CachedImage? {
        filter { $0.variant.satisfies(wanted, VariantDimensions($0.image)) && isAllowed($0.image) }
            .min { $0.image.cost < $1.image.cost }
    }

    func placeholder(for wanted: ImageVariant, where isAllowed: (DecodedImage) -> Bool) -> DecodedImage? {
        filter { $0.variant.canReplace(wanted, VariantDimensions($0.image)) && isAllowed($0.image) }
            .max { $0.image.pixels.byteCount < $1.image.pixels.byteCount }?.image
    }
}
