// SPDX-License-Identifier: MIT

/// The order in which entries are evicted.
///
/// Entries are sorted once per eviction. Keeping an order in the index would cost more with every write and every read.
struct EvictionQueue {
    /// The expired entries, with the oldest one last, or `nil` before they're loaded.
    private var expired: [EvictionOrder]?
    /// All entries by rank, beginning with the lowest one, or `nil` before they're loaded.
    private var unused: [EvictionOrder]?
    private var next = 0

    mutating func reset() { self = EvictionQueue() }

    /// `now` is in seconds since 1970 and applies if this call loads the expired entries. The result is empty if the
    /// goal is reached.
    mutating func next(
        _ goal: EvictionTarget, _ index: CacheIndex, _ expiration: CacheExpiration, now: Double,
        limit: Int
    ) throws(IndexError) -> [EvictionCandidate] {
        if let maxAge = goal.maxAge {
            if expired == nil {
                expired = try index.expired(
                    before: now - maxAge, now: goal.includesExpired ? now : nil, expiration
                ).reversed()
            }
            let old = try dequeueExpired(index, limit: limit)
            if !old.isEmpty { return old }
        }
        let totals = try index.totals()
        var excess = goal.bytes == .max ? 0 : totals.bytes - goal.bytes
        var surplus = goal.entries == .max ? 0 : totals.entries - goal.entries
        var slice: [EvictionCandidate] = []
        var isFresh = false
        while excess > 0 || surplus > 0, slice.count < limit {
            if unused == nil {
                unused = try index.evictionOrder()
                next = 0
                isFresh = true
            }
            guard let order = unused, next < order.count else {
                // Load the entries that were used or stored in the meantime only if the sorted entries don't suffice.
                guard slice.isEmpty, !isFresh else { return slice }
                unused = nil
                continue
            }
            let uses = order[next..<min(next + min(limit - slice.count, Self.step), order.count)]
            next = uses.endIndex
            for candidate in try Self.unchanged(uses, index) {
                guard excess > 0 || surplus > 0 else {
                    next = uses.firstIndex { $0.id == candidate.id } ?? next
                    break
                }
                slice.append(candidate)
                excess -= candidate.size
                surplus -= 1
            }
        }
        return slice
    }

    private static let step = 128

    private static func unchanged(
        _ uses: some Collection<EvictionOrder>, _ index: CacheIndex
    ) throws(IndexError) -> [EvictionCandidate] {
        let lines = try index.candidates(uses.map(\.id))
        // Skip entries that were used after the order was loaded, because their ranks are outdated.
        guard lines.count < uses.count || !zip(lines, uses).allSatisfy({ $0.accessed == $1.accessed }) else {
            return lines
        }
        let accessed = Dictionary(uses.map { ($0.id, $0.accessed) }) { first, _ in first }
        return lines.filter { accessed[$0.id] == $0.accessed }
    }

    private mutating func dequeueExpired(
        _ index: CacheIndex, limit: Int
    ) throws(IndexError) -> [EvictionCandidate] {
        var slice: [EvictionCandidate] = []
        while slice.count < limit, let uses = popExpired(min(limit - slice.count, Self.step)) {
            slice += try Self.unchanged(uses, index)
        }
        for index in slice.indices { slice[index].isExpired = true }
        return slice
    }

    /// Returns up to `count` of the next expired entries, or `nil` if there are none.
    private mutating func popExpired(_ count: Int) -> [EvictionOrder]? {
        guard let rest = expired, !rest.isEmpty else { return nil }
        // Clear the property before changing the array so that the array isn't copied.
        expired = nil
        var left = rest
        let uses = Array(left.suffix(count).reversed())
        left.removeLast(uses.count)
        expired = left
        return uses
    }
}
