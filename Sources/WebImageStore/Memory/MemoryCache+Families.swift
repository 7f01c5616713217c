// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

extension MemoryCache {
    /// All pictures in memory that were made of the bytes of `data`, in no order. Not counted as a look-up, and none
    /// counts as read.
    public func pictures(of data: CacheKey) -> [HeldPicture] { pictures(of: data.digest) }

    private func pictures(of family: CacheKey.Digest) -> [HeldPicture] {
        store.withLock { store in
            store.family(family, uptime: clock.uptime).map {
                HeldPicture(key: $0.digest, image: $0.object, rendition: $0.rendition)
            }
        }
    }

    /// The smallest picture in memory that may answer for `wanted` although it is larger; ask it where ``image(for:)``
    /// found none. A find counts as a hit in place of that miss, and the picture as read.
    ///
    /// - Parameter isAllowed: whether a picture may be used; called outside the lock.
    public func larger(for wanted: Rendition, where isAllowed: (Image) -> Bool = { _ in true }) -> Image? {
        let found = pictures(of: wanted.data).filter {
            $0.rendition.satisfies(wanted, PictureFacts($0.image)) && isAllowed($0.image)
        }
        guard let best = found.min(by: { $0.image.cost < $1.image.cost }) else { return nil }
        change { store, leaving in store.answered(with: best.key, uptime: clock.uptime, leaving: &leaving) }
        return best.image
    }

    /// The largest picture in memory that may be shown in place of `wanted` while that is loaded, of whatever size.
    ///
    /// - Parameter isAllowed: whether a picture may be used; called outside the lock.
    public func standIn(for wanted: Rendition, where isAllowed: (Image) -> Bool = { _ in true }) -> Image? {
        pictures(of: wanted.data).map { (picture: $0, facts: PictureFacts($0.image)) }
            .filter { $0.picture.rendition.standsIn(for: wanted, $0.facts) && isAllowed($0.picture.image) }
            .max { $0.picture.image.pixels.byteCount < $1.picture.image.pixels.byteCount }?.picture.image
    }

    /// Forgets all pictures that were made of the bytes of `data` and stored with their ``Rendition``.
    public func removeAll(of data: CacheKey) {
        change { store, leaving in store.removeFamily(data.digest, leaving: &leaving) }
    }
}
