// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageStore

/// The pools of all animations that are played, by the animation's identity.
@MainActor
final class FramePools {
    static let shared = FramePools()

    private struct Entry {
        weak var pool: FramePool?
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// Bytes of frames that all pools may hold together, in equal shares; what is shown comes on top.
    var totalBudget = MemoryCache.defaultCostLimit / 2 { didSet { rebalance() } }

    /// The pool of `animation`, a new one where nobody plays it.
    func pool(for animation: ImageAnimation, poster: PixelBuffer, manager: ImageManager) -> FramePool {
        let id = ObjectIdentifier(animation)
        // A pool holds its animation, so that the identity of a living one means what it meant.
        if let pool = entries[id]?.pool { return pool }
        let pool = FramePool(animation, poster: poster, manager: manager)
        entries[id] = Entry(pool: pool)
        rebalance()
        return pool
    }

    /// Forgets pools that are gone and shares the budget among the others.
    func rebalance() {
        entries = entries.filter { $0.value.pool != nil }
        let share = totalBudget / max(1, entries.count)
        for entry in entries.values { entry.pool?.setShare(share) }
    }
}
