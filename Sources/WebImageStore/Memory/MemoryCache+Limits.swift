// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

extension MemoryCache {
    /// Bytes of pixels that may be held. Lowering it evicts at once.
    public var costLimit: Int {
        get { store.withLock { $0.costLimit } }
        set { changeLimits { $0.costLimit = max(0, newValue) } }
    }

    /// Pictures that may be held. Lowering it evicts at once.
    public var countLimit: Int {
        get { store.withLock { $0.countLimit } }
        set { changeLimits { $0.countLimit = max(0, newValue) } }
    }

    /// Bytes of pixels that one picture may cost to be taken; nil for a tenth of the cost limit. What is held already
    /// stays.
    public var entryLimit: Int? {
        get { store.withLock { $0.entryLimit } }
        set { changeLimits { $0.entryLimit = newValue.map { max(0, $0) } } }
    }

    private func changeLimits(_ body: (inout ObjectStore<Image>) -> Void) {
        change { store, leaving in
            body(&store)
            store.evict(toCost: store.costLimit, count: store.countLimit, leaving: &leaving)
        }
    }

    /// Evicts until at most `fraction` (0…1) of the cost limit is held.
    public func trim(toFraction fraction: Double) {
        change { store, leaving in
            let bytes = fraction.isNaN ? 0 : Double(store.costLimit) * min(max(fraction, 0), 1)
            // A limit of Int.max isn't exact as a Double.
            store.evict(toCost: Int(saturating: bytes), count: .max, leaving: &leaving)
        }
    }

    /// Forgets pictures that were stored ahead of use and not read since.
    public func removeUnusedAhead() {
        change { store, leaving in store.removeUnusedAhead(leaving: &leaving) }
    }
}
