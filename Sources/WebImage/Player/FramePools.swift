// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The pools of all animations that are played, by the animation's identity.
@MainActor
final class FramePools {
    static let shared = FramePools()

    private var pools = WeakTable<ObjectIdentifier, FramePool, Void>()
    /// Bytes of frames that all pools may hold together, in equal shares; what is shown comes on top.
    var totalBudget = MemoryCache.defaultCostLimit / 2 { didSet { rebalance() } }

    /// The pool of `animation`, a new one where nobody plays it.
    func pool(for animation: ImageAnimation, poster: PixelBuffer, manager: ImageManager) -> FramePool {
        let id = ObjectIdentifier(animation)
        // A pool holds its animation, so that the identity of a living one means what it meant.
        if let pool = pools[id]?.object { return pool }
        let pool = FramePool(animation, poster: poster, manager: manager)
        pools.insert(pool, for: id)
        rebalance()
        return pool
    }

    /// Forgets pools that are gone and shares the budget among the others.
    func rebalance() {
        pools.prune()
        let share = totalBudget / max(1, pools.count)
        for pool in pools.objects { pool.setShare(share) }
    }
}
