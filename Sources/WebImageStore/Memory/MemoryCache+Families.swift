// SPDX-License-Identifier: MIT

import Synchronization
import WebImageCore

extension MemoryCache {
    /// All pictures in memory that were made of the bytes of `data`, in no order. Not counted as a look-up, and none
    /// counts as read.
    public func pictures(of data: CacheKey) -> [HeldPicture] {
        store.withLock { store in
            store.family(data.digest, uptime: clock.uptime).map {
                HeldPicture(key: $0.digest, image: $0.object, rendition: $0.rendition)
            }
        }
    }

    /// Tells that `picture` answered a look-up for another key that had missed: it counts as read, the look-up as a hit.
    public func answered(with picture: HeldPicture) {
        change { store, leaving in
            store.answered(with: picture.key, uptime: clock.uptime, leaving: &leaving)
        }
    }

    /// Forgets all pictures that were made of the bytes of `data` and stored with their ``Rendition``.
    public func removeAll(of data: CacheKey) {
        change { store, leaving in store.removeFamily(data.digest, leaving: &leaving) }
    }
}
