// SPDX-License-Identifier: MIT

/// The digests of the most recently evicted entries, without their values (ghost entries).
///
/// A ghost entry indicates that the cache once had an entry that is now stored again. This value isn't synchronized.
struct GhostQueue: ~Copyable {
    /// The digests in a ring, by the lower bits of their sequence numbers. A slot whose digest isn't in ``positions``
    /// at that slot is vacant.
    private var ring: ContiguousArray<CacheKey.Digest>
    private var positions = DigestHashTable()
    private var oldest = 0
    private var next = 0

    init() { ring = ContiguousArray(repeating: CacheKey.Digest(high: 0, low: 0), count: 16) }

    private var mask: Int { ring.count &- 1 }

    var count: Int { positions.count }

    /// At most the last `limit` additions remain. The limit is positive.
    mutating func add(_ digest: CacheKey.Digest, limit: Int) {
        _ = take(digest)
        while next &- oldest >= limit { removeOldest() }
        if next &- oldest == ring.count { grow() }
        let slot = next & mask
        ring[slot] = digest
        positions.insert(digest, at: slot)
        next &+= 1
    }

    /// Removes a digest and returns the number of additions since its own addition, or `nil` if it isn't in the queue.
    mutating func take(_ digest: CacheKey.Digest) -> Int? {
        guard positions.count > 0 else { return nil }
        guard let slot = positions.remove(digest, isAt: { [ring] in ring[$0] == digest }) else { return nil }
        return (next &- slot &- 1) & mask
    }

    private mutating func removeOldest() {
        let slot = oldest & mask
        _ = positions.remove(ring[slot], isAt: { $0 == slot })
        oldest &+= 1
    }

    private mutating func grow() {
        let old = ring
        ring = ContiguousArray(repeating: CacheKey.Digest(high: 0, low: 0), count: old.count * 2)
        var positions = DigestHashTable()
        for number in oldest..<next {
            let (from, to) = (number & (old.count &- 1), number & mask)
            let digest = old[from]
            guard self.positions.find(digest, isAt: { $0 == from }) != nil else { continue }
            ring[to] = digest
            positions.insert(digest, at: to)
        }
        self.positions = positions
    }
}
