// SPDX-License-Identifier: MIT

import WebImage
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The pools of all playing animations, by the identity of the animation.
@MainActor
final class SharedFrameBufferRegistry {
    static let shared = SharedFrameBufferRegistry()

    private var pools = WeakTable<ObjectIdentifier, SharedFrameBuffer, Void>()
    /// The budget for the cached frames of all pools, in bytes, which they share equally. Displayed frames don't count.
    var totalBudget = MemoryCache.defaultCostLimit / 2 { didSet { rebalance() } }

    /// Returns the pool of `animation` and creates it if no player uses the animation yet.
    func pool(for animation: ImageAnimation, firstFrame: PixelBuffer, manager: ImageManager) -> SharedFrameBuffer {
        let id = ObjectIdentifier(animation)
        // A pool retains its animation, so the identifier can't refer to another object while the pool exists.
        if let pool = pools[id]?.object { return pool }
        let pool = SharedFrameBuffer(animation, firstFrame: firstFrame, manager: manager)
        pools.insert(pool, for: id)
        rebalance()
        return pool
    }

    /// Returns the pool of `animation`, which is a version of the animation of `pool` with more frames. If no player uses
    /// `animation` yet, `pool` continues with it, so the running decodes aren't interrupted.
    func pool(extending pool: SharedFrameBuffer, to animation: ImageAnimation, firstFrame: PixelBuffer)
        -> SharedFrameBuffer
    {
        if let pool = pools[ObjectIdentifier(animation)]?.object { return pool }
        // Another player may already have extended the pool to a later version.
        let isLater = animation.isComplete || animation.frameCount > pool.animation.frameCount
        // A version with the same number of frames can still have more data of a frame that couldn't be decoded.
        let isRetry =
            pool.lacksFrames && !pool.animation.isComplete
            && animation.frameCount == pool.animation.frameCount
        guard isLater || isRetry else { return pool }
        pools.remove(ObjectIdentifier(pool.animation))
        pool.extend(to: animation, firstFrame: firstFrame)
        pools.insert(pool, for: ObjectIdentifier(animation))
        return pool
    }

    /// Removes deallocated pools and divides the budget among the others.
    func rebalance() {
        pools.prune()
        let share = totalBudget / max(1, pools.count)
        for pool in pools.objects { pool.setShare(share) }
    }
}
