// SPDX-License-Identifier: MIT

/// A hash table that maps digests to positions and uses open addressing with linear probing.
///
/// A bucket contains 32 bits of the hash and a 32-bit position. A probe therefore accesses an entry only if its hash
/// matches, and the home bucket of an entry is known without accessing the entry. A `Dictionary` takes three times as
/// long.
///
/// This value owns its memory. The caller stores the digests and keeps them consistent with the positions.
struct DigestHashTable: ~Copyable {
    /// The buckets. The upper half of a bucket is the hash, and the lower half is the position plus 1. Zero is an empty
    /// bucket.
    private var buckets: UnsafeMutablePointer<UInt64>
    /// The base-2 logarithm of the number of buckets, from 4 to 32.
    private var bits: UInt32 = 4
    /// An odd number that differs in each process, so that an attacker who chooses URLs can't choose buckets.
    private static let seed = UInt64.random(in: 0...UInt64.max) | 1
    /// A copy of the seed next to the buckets. Access to a static property costs a call that checks its initialization.
    private let multiplier = Self.seed
    private(set) var count = 0

    init() {
        buckets = Self.emptyBuckets(1 << 4)
    }

    deinit { buckets.deallocate() }

    private static func emptyBuckets(_ count: Int) -> UnsafeMutablePointer<UInt64> {
        let buckets = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
        buckets.initialize(repeating: 0, count: count)
        return buckets
    }

    /// Returns the upper bits of the product, which depend on all bits of the digest's lower half.
    private func hash(_ digest: CacheKey.Digest) -> UInt32 {
        UInt32(truncatingIfNeeded: (digest.low &* multiplier) &>> 32)
    }

    private func home(_ hash: UInt32) -> Int { Int(hash &>> (32 &- bits)) }
    private var mask: Int { (1 &<< Int(bits)) &- 1 }

    /// `isAt` returns whether the entry at a position has this digest.
    @inline(__always)
    func find(_ digest: CacheKey.Digest, isAt: (Int) -> Bool) -> Int? {
        let hash = hash(digest)
        var bucket = home(hash)
        // The loop ends because at most half of the buckets are occupied.
        while true {
            let content = buckets[bucket]
            if content == 0 { return nil }
            if UInt32(truncatingIfNeeded: content &>> 32) == hash, isAt(Self.position(content)) {
                return Self.position(content)
            }
            bucket = (bucket &+ 1) & mask
        }
    }

    private static func position(_ content: UInt64) -> Int {
        Int(UInt32(truncatingIfNeeded: content)) &- 1
    }

    /// Adds a digest that the table doesn't contain. Positions are less than 2^31.
    mutating func insert(_ digest: CacheKey.Digest, at position: Int) {
        if count * 2 >= mask + 1 { grow() }
        count += 1
        put(UInt64(hash(digest)) << 32 | UInt64(UInt32(truncatingIfNeeded: position &+ 1)))
    }

    private func put(_ content: UInt64) {
        var bucket = home(UInt32(truncatingIfNeeded: content &>> 32))
        while buckets[bucket] != 0 { bucket = (bucket &+ 1) & mask }
        buckets[bucket] = content
    }

    private mutating func grow() {
        let (old, oldCount) = (buckets, mask + 1)
        buckets = Self.emptyBuckets(oldCount * 2)
        bits += 1
        for bucket in 0..<oldCount where old[bucket] != 0 { put(old[bucket]) }
        old.deallocate()
    }

    /// Moves later buckets of the probe sequence forward, so that no gap ends a probe too early.
    mutating func remove(_ digest: CacheKey.Digest, isAt: (Int) -> Bool) -> Int? {
        let hash = hash(digest)
        var gap = home(hash)
        while buckets[gap] != 0 {
            let content = buckets[gap]
            if UInt32(truncatingIfNeeded: content &>> 32) == hash, isAt(Self.position(content)) { break }
            gap = (gap &+ 1) & mask
        }
        guard buckets[gap] != 0 else { return nil }
        let found = Self.position(buckets[gap])
        var next = (gap &+ 1) & mask
        while buckets[next] != 0 {
            let start = home(UInt32(truncatingIfNeeded: buckets[next] &>> 32))
            if (next &- start) & mask >= (next &- gap) & mask {
                buckets[gap] = buckets[next]
                gap = next
            }
            next = (next &+ 1) & mask
        }
        buckets[gap] = 0
        count -= 1
        return found
    }
}
