// SPDX-License-Identifier: MIT

/// Finds the slot of a digest: open addressing with linear probing over 32-bit positions. Four bytes a bucket, and no
/// second hash of what is a hash already; a general dictionary takes three times as long.
struct DigestIndex {
    private var buckets = ContiguousArray<Int32>(repeating: -1, count: 16)
    private var shift: UInt64 = 60
    /// Odd and different in each process: whoever chooses URLs must not be able to choose buckets.
    private static let multiplier = UInt64.random(in: 0...UInt64.max) | 1
    private(set) var count = 0

    private func home(_ digest: CacheKey.Digest) -> Int {
        Int(truncatingIfNeeded: (digest.low &* Self.multiplier) &>> shift)
    }

    /// The position of `digest`; `digestAt` tells the digest at a position.
    func find(_ digest: CacheKey.Digest, digestAt: (Int32) -> CacheKey.Digest) -> Int32? {
        let mask = buckets.count - 1
        var bucket = home(digest)
        while buckets[bucket] >= 0 {
            if digestAt(buckets[bucket]) == digest { return buckets[bucket] }
            bucket = (bucket + 1) & mask
        }
        return nil
    }

    /// Adds a digest that is not there.
    mutating func insert(_ digest: CacheKey.Digest, at position: Int32, digestAt: (Int32) -> CacheKey.Digest) {
        if count * 2 >= buckets.count { grow(digestAt) }
        count += 1
        put(digest, position)
    }

    private mutating func put(_ digest: CacheKey.Digest, _ position: Int32) {
        let mask = buckets.count - 1
        var bucket = home(digest)
        while buckets[bucket] >= 0 { bucket = (bucket + 1) & mask }
        buckets[bucket] = position
    }

    private mutating func grow(_ digestAt: (Int32) -> CacheKey.Digest) {
        let old = buckets
        buckets = ContiguousArray(repeating: -1, count: old.count * 2)
        shift -= 1
        for position in old where position >= 0 { put(digestAt(position), position) }
    }

    /// Takes a digest out; the ones behind it move up, so that no gap ends a probe too early.
    mutating func remove(_ digest: CacheKey.Digest, digestAt: (Int32) -> CacheKey.Digest) -> Int32? {
        let mask = buckets.count - 1
        var gap = home(digest)
        while buckets[gap] >= 0, digestAt(buckets[gap]) != digest { gap = (gap + 1) & mask }
        let found = buckets[gap]
        guard found >= 0 else { return nil }
        var next = (gap + 1) & mask
        while buckets[next] >= 0 {
            let start = home(digestAt(buckets[next]))
            if (next &- start) & mask >= (next &- gap) & mask {
                buckets[gap] = buckets[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        buckets[gap] = -1
        count -= 1
        return found
    }
}
