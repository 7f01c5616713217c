// SPDX-License-Identifier: MIT

/// Finds the position of a digest: open addressing with linear probing. A bucket holds 32 bits of hash and a 32-bit
/// position, so that a probe looks at an entry only where the hash agrees, and an entry's home is known without
/// looking at it. A general dictionary takes three times as long.
///
/// A plain value that owns its memory; the caller keeps digests and positions together.
struct DigestIndex: ~Copyable {
    /// Upper half: hash. Lower half: position + 1; zero is an empty bucket.
    private var buckets: UnsafeMutablePointer<UInt64>
    /// log2 of the number of buckets, at least 4, at most 32.
    private var bits: UInt32 = 4
    /// Odd and different in each process: whoever chooses URLs must not be able to choose buckets.
    private static let seed = UInt64.random(in: 0...UInt64.max) | 1
    /// A copy beside the buckets: a static one is behind a call that sees to its first use.
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

    /// The upper bits of the product, which depend on all bits of the digest's lower half.
    private func hash(_ digest: CacheKey.Digest) -> UInt32 {
        UInt32(truncatingIfNeeded: (digest.low &* multiplier) &>> 32)
    }

    private func home(_ hash: UInt32) -> Int { Int(hash &>> (32 &- bits)) }
    private var mask: Int { (1 &<< Int(bits)) &- 1 }

    /// The position of `digest`; `isAt` tells whether the entry at a position has this digest.
    @inline(__always)
    func find(_ digest: CacheKey.Digest, isAt: (Int) -> Bool) -> Int? {
        let hash = hash(digest)
        var bucket = home(hash)
        // Ends: at most half of the buckets are taken.
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

    /// Adds a digest that is not there. Positions are below 2^31.
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

    /// Takes a digest out; the ones behind it move up, so that no gap ends a probe too early.
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
