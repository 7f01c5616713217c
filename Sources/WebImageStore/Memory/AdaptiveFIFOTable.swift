// SPDX-License-Identifier: MIT

/// A table of values in contiguous slots that are linked by index and found by digest.
///
/// The table evicts values by S3-FIFO (Yang et al., SOSP 2023) with an adaptive size of the small queue. New values
/// enter the small queue. If a value was read before it reaches the end of this queue, it moves to the main queue.
/// Otherwise, it's evicted, and the table remembers its digest for a while. A value that returns in this time enters the
/// main queue directly. The main queue is also in insertion order, and each read of a value, up to three, saves it once
/// from eviction. ``SmallQueueShare`` adjusts the sizes of the queues and the number of reads that count. A read only
/// counts and doesn't change links.
///
/// This value isn't synchronized. Every removed value is returned to the caller, which releases it after unlocking.
struct AdaptiveFIFOTable<Value: Sendable>: ~Copyable, @unchecked Sendable {
    // Safe: this noncopyable value is the only owner of the memory that `hot` points to.

    /// The part of a slot that a lookup accesses. It has 32 bytes, which is half a cache line.
    private struct Hot {
        var digest: CacheKey.Digest
        var value: Value?
        /// Whether the value never expires.
        var lasts: Bool
        /// The number of reads since the last eviction pass reached the value, at most ``readLimit``.
        var reads: UInt8
    }

    /// The part of a slot that only changes access.
    private struct Cold {
        var info: CachedImageInfo
        var newer: Int32
        var older: Int32
        var isMain: Bool
    }

    /// The slots of one queue in insertion order.
    private struct Queue {
        var newest: Int32 = -1
        var oldest: Int32 = -1
        var cost = 0
    }

    /// The place of a value in the eviction order.
    struct Standing: Equatable {
        var isMain = false
        var reads: UInt8 = 0
    }

    private static var none: Int32 { -1 }
    private static var readLimit: UInt8 { 3 }

    private var hot: UnsafeMutablePointer<Hot>
    private var capacity: Int
    private var cold: ContiguousArray<Cold> = []
    private var positions = DigestHashTable()
    private var free: Int32 = -1
    private var small = Queue()
    private var main = Queue()
    private var evictedFromSmall = GhostQueue()
    private var evictedFromMain = GhostQueue()
    private(set) var share = SmallQueueShare()

    init() {
        capacity = 16
        hot = Self.allocate(capacity)
    }

    deinit {
        hot.deinitialize(count: cold.count)
        hot.deallocate()
    }

    /// Allocates slots that are aligned to cache lines, so that no slot spans two lines.
    private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Hot> {
        UnsafeMutableRawPointer.allocate(byteCount: capacity * MemoryLayout<Hot>.stride, alignment: 64)
            .bindMemory(to: Hot.self, capacity: capacity)
    }

    var count: Int { positions.count }
    var cost: Int { small.cost + main.cost }

    enum Found {
        case value(Value)
        /// The value was in the table but had expired.
        case expired(Value, CachedImageInfo)
        case nothing
    }

    /// Returns the slot of a digest. Every position in the index refers to an existing slot.
    @inline(__always)
    private func position(of digest: CacheKey.Digest) -> Int? {
        positions.find(digest) { [hot] in hot[$0].digest == digest }
    }

    /// Nearly all hits take this path, so it avoids an enum and a clock.
    @inline(__always)
    func findLasting(_ digest: CacheKey.Digest) -> Value? {
        guard let position = position(of: digest), hot[position].lasts else { return nil }
        recordRead(position)
        return hot[position].value
    }

    @inline(__always)
    private func recordRead(_ position: Int) {
        // Popular values are written only until the limit, so that their cache lines stay shared between processors.
        if hot[position].reads < Self.readLimit { hot[position].reads &+= 1 }
    }

    /// Looks up a digest. The table calls `uptime` only for values that expire.
    mutating func find(_ digest: CacheKey.Digest, uptime: () -> Double) -> Found {
        guard let position = position(of: digest) else { return .nothing }
        if !hot[position].lasts {
            let now = uptime()
            guard now < cold[position].info.expires else {
                return remove(digest).map { .expired($0.value, $0.note) } ?? .nothing
            }
            cold[position].info = cold[position].info.used(at: now)
        }
        recordRead(position)
        return hot[position].value.map { .value($0) } ?? .nothing
    }

    /// Returns the value and the note for a digest, even if expired, without marking the value as read.
    func peek(_ digest: CacheKey.Digest) -> (value: Value, note: CachedImageInfo)? {
        guard let position = position(of: digest), let value = hot[position].value else { return nil }
        return (value, cold[position].info)
    }

    /// Call this method once before a value is stored, before the previous value is removed and before others are
    /// evicted. A replaced value keeps its standing. If the digest was evicted recently, the table discards this
    /// information.
    mutating func standing(of digest: CacheKey.Digest) -> Standing {
        if let position = position(of: digest) {
            return Standing(isMain: cold[position].isMain, reads: hot[position].reads)
        }
        if let age = evictedFromSmall.take(digest) {
            share.entryReturned(age: age, wasMain: false, count: count)
            return Standing(isMain: true)
        }
        if let age = evictedFromMain.take(digest) {
            share.entryReturned(age: age, wasMain: true, count: count)
            return Standing(isMain: true)
        }
        return Standing()
    }

    /// The caller has already removed the previous value for the digest.
    mutating func insert(
        _ value: Value, for digest: CacheKey.Digest, info: CachedImageInfo, standing: Standing = Standing()
    ) {
        let slot = Hot(digest: digest, value: value, lasts: info.expires == .infinity, reads: standing.reads)
        let rest = Cold(info: info, newer: Self.none, older: Self.none, isMain: standing.isMain)
        let position: Int
        if free == Self.none {
            position = cold.count
            if position == capacity { grow() }
            (hot + position).initialize(to: slot)
            cold.append(rest)
        } else {
            position = Int(free)
            free = cold[position].older
            hot[position] = slot
            cold[position] = rest
        }
        link(Int32(position))
        positions.insert(digest, at: position)
    }

    private mutating func grow() {
        let larger = Self.allocate(capacity * 2)
        larger.moveInitialize(from: hot, count: cold.count)
        hot.deallocate()
        hot = larger
        capacity *= 2
    }

    mutating func remove(_ digest: CacheKey.Digest) -> (value: Value, note: CachedImageInfo)? {
        guard let position = positions.remove(digest, isAt: { [hot] in hot[$0].digest == digest }),
            let value = hot[position].value
        else { return nil }
        unlink(Int32(position))
        let note = cold[position].info
        hot[position].value = nil
        cold[position].info.variant = nil
        cold[position].older = free
        free = Int32(position)
        return (value, note)
    }

    mutating func evict() -> (digest: CacheKey.Digest, value: Value, note: CachedImageInfo)? {
        while small.oldest != Self.none || main.oldest != Self.none {
            let isSmallFull = Double(small.cost) >= Double(cost) * share.value
            let fromSmall = small.oldest != Self.none && (isSmallFull || main.oldest == Self.none)
            let position = fromSmall ? passSmall() : passMain()
            guard let position else { continue }
            let digest = hot[position].digest
            guard let (value, note) = remove(digest) else { continue }
            if fromSmall {
                evictedFromSmall.add(digest, limit: SmallQueueShare.ghostLimit(count: count))
            } else {
                evictedFromMain.add(digest, limit: SmallQueueShare.window(count: count))
            }
            return (digest, value, note)
        }
        return nil
    }

    /// Returns the position of the first value that wasn't read, or `nil` if the small queue is empty afterward.
    private mutating func passSmall() -> Int? {
        while small.oldest != Self.none {
            let position = Int(small.oldest)
            guard hot[position].reads > 0 else { return position }
            requeue(position, reads: 0)
        }
        return nil
    }

    /// Returns the position of the first value that wasn't read, or `nil` if the main queue is empty.
    private mutating func passMain() -> Int? {
        while main.oldest != Self.none {
            let position = Int(main.oldest)
            guard hot[position].reads > 0 else { return position }
            requeue(position, reads: min(hot[position].reads, share.effectiveReads) - 1)
        }
        return nil
    }

    private mutating func requeue(_ position: Int, reads: UInt8) {
        unlink(Int32(position))
        hot[position].reads = reads
        cold[position].info.isPrefetch = false
        cold[position].isMain = true
        link(Int32(position))
    }

    /// The digests of the small queue and then those of the main queue, each from the oldest to the newest value.
    var order: [CacheKey.Digest] { digests { _, _ in true } }

    /// The digests of the prefetched values that haven't been read since, from the oldest to the newest.
    var unusedPrefetches: [CacheKey.Digest] { digests { !$0 && $1.isPrefetch } }

    func digests(storedBefore uptime: Double) -> [CacheKey.Digest] { digests { $1.stored < uptime } }

    private func digests(where isWanted: (_ wasRead: Bool, CachedImageInfo) -> Bool) -> [CacheKey.Digest] {
        var digests: [CacheKey.Digest] = []
        for first in [small.oldest, main.oldest] {
            var position = first
            while position != Self.none {
                let index = Int(position)
                if isWanted(hot[index].reads > 0, cold[index].info) { digests.append(hot[index].digest) }
                position = cold[index].newer
            }
        }
        return digests
    }

    private subscript(isMain isMain: Bool) -> Queue {
        get { isMain ? main : small }
        set { if isMain { main = newValue } else { small = newValue } }
    }

    private mutating func link(_ position: Int32) {
        let index = Int(position)
        var queue = self[isMain: cold[index].isMain]
        cold[index].older = queue.newest
        cold[index].newer = Self.none
        if queue.newest == Self.none { queue.oldest = position } else { cold[Int(queue.newest)].newer = position }
        queue.newest = position
        queue.cost += cold[index].info.cost
        self[isMain: cold[index].isMain] = queue
    }

    private mutating func unlink(_ position: Int32) {
        let index = Int(position)
        var queue = self[isMain: cold[index].isMain]
        let (newer, older) = (cold[index].newer, cold[index].older)
        if newer == Self.none { queue.newest = older } else { cold[Int(newer)].older = older }
        if older == Self.none { queue.oldest = newer } else { cold[Int(older)].newer = newer }
        queue.cost -= cold[index].info.cost
        self[isMain: cold[index].isMain] = queue
    }
}

/// The metadata of an entry in the memory cache.
struct CachedImageInfo: Sendable {
    var cost: Int
    /// The uptime at which the value was stored.
    var stored = 0.0
    /// The uptime after which the value is no longer returned. Infinity means that it never expires.
    var expires: Double = .infinity
    /// The time to live in seconds that each use restarts, or `nil` if uses don't change ``expires``.
    var renewal: Double?
    var variant: ImageVariant?
    /// Whether a prefetcher stored the value before any request for it.
    var isPrefetch = false

    func used(at uptime: Double) -> CachedImageInfo {
        guard let renewal else { return self }
        var info = self
        info.expires = uptime + renewal
        return info
    }
}
