// SPDX-License-Identifier: MIT

/// A table of values in contiguous slots that are linked by index and found by digest.
///
/// The table evicts values in insertion order but gives values that were read a second chance. A read only sets a bit
/// and doesn't change links.
///
/// This value isn't synchronized. Every removed value is returned to the caller, which releases it after unlocking.
struct SecondChanceTable<Value: Sendable>: ~Copyable, @unchecked Sendable {
    // Safe: this noncopyable value is the only owner of the memory that `hot` points to.

    /// The part of a slot that a lookup accesses. It has 32 bytes, which is half a cache line.
    private struct Hot {
        var digest: CacheKey.Digest
        var value: Value?
        /// A Boolean value that indicates whether the value never expires.
        var lasts: Bool
        var wasRead: Bool
    }

    /// The part of a slot that only changes access.
    private struct Cold {
        var info: CachedImageInfo
        var newer: Int32
        var older: Int32
    }

    private static var none: Int32 { -1 }

    private var hot: UnsafeMutablePointer<Hot>
    private var capacity: Int
    private var cold: ContiguousArray<Cold> = []
    private var positions = DigestHashTable()
    private var free: Int32 = -1
    private var newest: Int32 = -1
    private var oldest: Int32 = -1
    private(set) var cost = 0

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

    /// The result of a lookup.
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

    /// Returns the value for a digest if it doesn't expire.
    ///
    /// Nearly all hits take this path, so it avoids an enum and a clock.
    @inline(__always)
    func findLasting(_ digest: CacheKey.Digest) -> Value? {
        guard let position = position(of: digest), hot[position].lasts else { return nil }
        // Write the flag only once so that the cache line stays shared between processors.
        if !hot[position].wasRead { hot[position].wasRead = true }
        return hot[position].value
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
        hot[position].wasRead = true
        return hot[position].value.map { .value($0) } ?? .nothing
    }

    /// Returns the value and the note for a digest, even if expired, without marking the value as read.
    func peek(_ digest: CacheKey.Digest) -> (value: Value, note: CachedImageInfo)? {
        guard let position = position(of: digest), let value = hot[position].value else { return nil }
        return (value, cold[position].info)
    }

    /// Inserts a value as the newest one. The caller has already removed the previous value for the digest.
    mutating func insert(_ value: Value, for digest: CacheKey.Digest, info: CachedImageInfo) {
        let slot = Hot(digest: digest, value: value, lasts: info.expires == .infinity, wasRead: false)
        let rest = Cold(info: info, newer: Self.none, older: newest)
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
        cost += info.cost
    }

    private mutating func grow() {
        let larger = Self.allocate(capacity * 2)
        larger.moveInitialize(from: hot, count: cold.count)
        hot.deallocate()
        hot = larger
        capacity *= 2
    }

    /// Removes a value.
    mutating func remove(_ digest: CacheKey.Digest) -> (value: Value, note: CachedImageInfo)? {
        guard let position = positions.remove(digest, isAt: { [hot] in hot[$0].digest == digest }),
            let value = hot[position].value
        else { return nil }
        unlink(Int32(position))
        let note = cold[position].info
        cost -= note.cost
        hot[position].value = nil
        cold[position].info.rendition = nil
        cold[position].older = free
        free = Int32(position)
        return (value, note)
    }

    /// Removes the oldest value that hasn't been read since the last eviction pass reached it.
    mutating func evict() -> (digest: CacheKey.Digest, value: Value, note: CachedImageInfo)? {
        while oldest != Self.none {
            let position = Int(oldest)
            if hot[position].wasRead {
                hot[position].wasRead = false
                cold[position].info.isAhead = false
                unlink(Int32(position))
                link(Int32(position))
                continue
            }
            let digest = hot[position].digest
            if let (value, note) = remove(digest) { return (digest, value, note) }
        }
        return nil
    }

    /// The digests from the oldest to the newest value.
    var order: [CacheKey.Digest] { digests { _, _ in true } }

    /// The digests of the prefetched values that haven't been read since, from the oldest to the newest.
    var unusedAhead: [CacheKey.Digest] { digests { !$0 && $1.isAhead } }

    private func digests(where isWanted: (_ wasRead: Bool, CachedImageInfo) -> Bool) -> [CacheKey.Digest] {
        var digests: [CacheKey.Digest] = []
        var position = oldest
        while position != Self.none {
            let index = Int(position)
            if isWanted(hot[index].wasRead, cold[index].info) { digests.append(hot[index].digest) }
            position = cold[index].newer
        }
        return digests
    }

    private mutating func link(_ position: Int32) {
        cold[Int(position)].older = newest
        cold[Int(position)].newer = Self.none
        if newest == Self.none { oldest = position } else { cold[Int(newest)].newer = position }
        newest = position
    }

    private mutating func unlink(_ position: Int32) {
        let (newer, older) = (cold[Int(position)].newer, cold[Int(position)].older)
        if newer == Self.none { newest = older } else { cold[Int(newer)].older = older }
        if older == Self.none { oldest = newer } else { cold[Int(older)].newer = newer }
    }
}

/// The metadata of an entry in the memory cache.
struct CachedImageInfo: Sendable {
    var cost: Int
    /// The uptime after which the value is no longer returned. Infinity means that it never expires.
    var expires: Double = .infinity
    /// The time to live in seconds that each use restarts, or `nil` if uses don't change ``expires``.
    var renewal: Double?
    /// The rendition of the image, if known.
    var rendition: ImageVariant?
    /// A Boolean value that indicates whether a prefetcher stored the value before any request for it.
    var isAhead = false

    /// Returns the metadata after a use at an uptime.
    func used(at uptime: Double) -> CachedImageInfo {
        guard let renewal else { return self }
        var info = self
        info.expires = uptime + renewal
        return info
    }
}
