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
            let uses = order[next..<min(next + min(limit - slice.count, Self.step), order.count)]
            next = uses.endIndex
            for candidate in try Self.unchanged(uses, index) {
                guard excess > 0 else {
                    next = uses.firstIndex { $0.id == candidate.id } ?? next
                    break
                }
                slice.append(candidate)
                excess -= candidate.size
            }
        }
        return slice
    }

    /// Lines that are read at a time.
    private static let step = 128

    /// The lines that were not used since they were sorted out.
    private static func unchanged(
        _ uses: some Collection<LastUse>, _ index: CacheIndex
    ) throws(IndexFault) -> [EvictionCandidate] {
        let lines = try index.candidates(uses.map(\.id))
        guard lines.count < uses.count || !zip(lines, uses).allSatisfy({ $0.accessed == $1.accessed }) else {
            return lines
        }
        let accessed = Dictionary(uses.map { ($0.id, $0.accessed) }) { first, _ in first }
        return lines.filter { accessed[$0.id] == $0.accessed }
    }

    private mutating func takeExpired(
        _ index: CacheIndex, limit: Int
    ) throws(IndexFault) -> [EvictionCandidate] {
        var slice: [EvictionCandidate] = []
        while slice.count < limit, let uses = popExpired(min(limit - slice.count, Self.step)) {
            slice += try Self.unchanged(uses, index)
        }
        return slice
    }

    /// The next `count` of what is too old, or fewer; nil where there are none.
    private mutating func popExpired(_ count: Int) -> [LastUse]? {
        guard let rest = expired, !rest.isEmpty else { return nil }
        // Handed back before it is changed, or all of it would be copied.
        expired = nil
        var left = rest
        let uses = Array(left.suffix(count).reversed())
        left.removeLast(uses.count)
        expired = left
        return uses
    }
}
