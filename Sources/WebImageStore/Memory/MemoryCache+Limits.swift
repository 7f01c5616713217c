// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

extension MemoryCache {
    /// The maximum total size of the cached images, in bytes of pixel data.
    ///
    /// Lowering the limit evicts images immediately.
    public var costLimit: Int {
        get { store.withLock { $0.costLimit } }
        set { changeLimits { $0.costLimit = max(0, newValue) } }
    }

    /// The maximum number of cached images.
    ///
    /// Lowering the limit evicts images immediately.
    public var countLimit: Int {
        get { store.withLock { $0.countLimit } }
        set { changeLimits { $0.countLimit = max(0, newValue) } }
    }

    /// The maximum size of one image in bytes of pixel data, or `nil` for one tenth of the cost limit.
    ///
    /// Lowering the limit doesn't affect images that are already cached.
    public var entryLimit: Int? {
        get { store.withLock { $0.entryLimit } }
        set { changeLimits { $0.entryLimit = newValue.map { max(0, $0) } } }
    }

    private func changeLimits(_ body: (inout MemoryCacheStorage<DecodedImage>) -> Void) {
        change { store, leaving in
            body(&store)
            store.evict(toCost: store.costLimit, count: store.countLimit, releasing: &leaving)
        }
    }

    /// Evicts images until the remaining ones use at most the given fraction of the cost limit.
    ///
    /// - Parameter fraction: The fraction, from 0 to 1.
    public func trim(toFraction fraction: Double) {
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
