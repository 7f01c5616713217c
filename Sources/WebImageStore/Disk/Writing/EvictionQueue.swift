// SPDX-License-Identifier: MIT

/// Which entries are to leave next. Sorted out once for a whole eviction: keeping an order in the index would cost every
/// write and every read more than that.
struct EvictionQueue {
    /// Too old, the oldest first; nil until asked for.
    private var expired: [LastUse]?
    /// By last use, oldest first; nil until asked for.
    private var unused: [LastUse]?
    private var next = 0

    /// Forgets what was sorted out.
    mutating func reset() { self = EvictionQueue() }

    /// Up to `limit` entries that stand between the index and `goal`; none when it is reached.
    mutating func next(
        _ goal: EvictionGoal, _ index: CacheIndex, limit: Int
    ) throws(IndexFault) -> [EvictionCandidate] {
        if let cutoff = goal.cutoff {
            if expired == nil { expired = try index.expired(before: cutoff).reversed() }
            let old = try takeExpired(index, limit: limit)
            if !old.isEmpty { return old }
        }
        var excess = try index.totals().bytes - goal.bytes
        guard excess > 0 else { return [] }
        var slice: [EvictionCandidate] = []
        var isFresh = false
        while excess > 0, slice.count < limit {
            if unused == nil {
                unused = try index.leastRecentlyUsed()
                next = 0
                isFresh = true
            }
            guard let order = unused, next < order.count else {
                // What was used or stored since then is looked at only where that is not enough.
                guard slice.isEmpty, !isFresh else { return slice }
                unused = nil
                continue
            }
            next += 1
            let use = order[next - 1]
            guard let candidate = try index.candidate(use.id, accessed: use.accessed) else { continue }
            slice.append(candidate)
            excess -= candidate.size
        }
        return slice
    }

    private mutating func takeExpired(
        _ index: CacheIndex, limit: Int
    ) throws(IndexFault) -> [EvictionCandidate] {
        var slice: [EvictionCandidate] = []
        while slice.count < limit, let use = expired?.popLast() {
            if let candidate = try index.candidate(use.id, accessed: use.accessed) { slice.append(candidate) }
        }
        return slice
    }
}
