// SPDX-License-Identifier: MIT

import WebImageConcurrency

/// The state and rules of the memory cache: limits, expiration, families, and a weak table of evicted objects.
///
/// This value isn't synchronized. ``MemoryCache`` guards it with a lock.
struct MemoryCacheStorage<Object: AnyObject & Sendable>: ~Copyable {
    private var table = AdaptiveFIFOTable<Object>()
    /// Weak references to the evicted objects that other objects still retain.
    private var weakEntries = WeakTable<CacheKey.Digest, Object, CachedImageInfo>(smallestLimit: .max)
    private var weakEntryLimit = 256
    private(set) var families = DerivedImageIndex()
    var costLimit: Int
    var countLimit: Int
    /// The maximum cost of one entry, or `nil` for one tenth of `costLimit`.
    var entryLimit: Int?
    /// The time to live of objects without their own one, or `nil` if it's unlimited.
    var timeToLive: Duration?
    var expiration: CacheExpiration
    private(set) var hits = 0
    private(set) var misses = 0
    private(set) var evictions = 0

    init(
        costLimit: Int, countLimit: Int, entryLimit: Int? = nil, timeToLive: Duration? = nil,
        expiration: CacheExpiration = .sinceStored
    ) {
        self.costLimit = costLimit
        self.countLimit = countLimit
        self.entryLimit = entryLimit
        self.timeToLive = timeToLive
        self.expiration = expiration
    }

    var cost: Int { table.cost }
    var count: Int { table.count }
    var statistics: MemoryCache.Statistics {
        MemoryCache.Statistics(hits: hits, misses: misses, evictions: evictions, cost: cost, count: count)
    }
    var weakEntryCount: Int { weakEntries.count }

    // MARK: - Finding

    /// For entries that expire or aren't in the table, use ``find(_:uptime:releasing:)``.
    @inline(__always)
    mutating func findLasting(_ digest: CacheKey.Digest) -> Object? {
        guard let object = table.findLasting(digest) else { return nil }
        hits &+= 1
        return object
    }

    /// The caller must release the objects in `releasing` after unlocking.
    mutating func find(_ digest: CacheKey.Digest, uptime: () -> Double, releasing: inout [Object]) -> Object? {
        switch table.find(digest, uptime: uptime) {
        case .value(let object):
            hits += 1
            return object
        case .expired(let object, let note):
            releasing.append(object)
            removeFromFamily(digest, note)
        case .nothing:
            if let object = findWeakEntry(digest, uptime: uptime, leaving: &releasing) {
                hits += 1
                return object
            }
        }
        misses += 1
        return nil
    }

    private mutating func findWeakEntry(
        _ digest: CacheKey.Digest, uptime: () -> Double, leaving: inout [Object]
    ) -> Object? {
        guard !weakEntries.isEmpty, let weak = weakEntries.remove(digest) else { return nil }
        removeFromFamily(digest, weak.note)
        guard let object = weak.object else { return nil }
        guard weak.note.expires == .infinity || uptime() < weak.note.expires else {
            leaving.append(object)
            return nil
        }
        let note = weak.note.expires == .infinity ? weak.note : weak.note.used(at: uptime())
        let isAdmitted = admit(object, digest, note, table.standing(of: digest), releasing: &leaving)
        if !isAdmitted { keepWeakReference(digest, object, note) }
        return object
    }

    /// Returns all unexpired objects of a family, including evicted objects that are still alive.
    func family(
        _ family: CacheKey.Digest, uptime: () -> Double
    ) -> [(digest: CacheKey.Digest, object: Object, variant: ImageVariant)] {
        families.members(of: family).compactMap { digest in
            guard let (object, note) = live(digest, uptime: uptime), let variant = note.variant else { return nil }
            return (digest, object, variant)
        }
    }

    /// Returns the unexpired object for a digest without changing the store.
    func live(_ digest: CacheKey.Digest, uptime: () -> Double) -> (object: Object, note: CachedImageInfo)? {
        let held = table.peek(digest).map { (object: $0.value, note: $0.note) }
        let found = held ?? weakEntries[digest]
        guard let found, found.note.expires == .infinity || uptime() < found.note.expires else { return nil }
        return found
    }

    /// Marks an entry as used and counts the preceding miss as a hit, because this entry satisfied the request.
    mutating func recordHit(with digest: CacheKey.Digest, uptime: () -> Double, releasing: inout [Object]) {
        guard find(digest, uptime: uptime, releasing: &releasing) != nil else { return }
        if misses > 0 { misses -= 1 }
    }

    // MARK: - Storing

    /// Stores an object and returns `false` if its cost exceeds the limit for one entry.
    mutating func store(
        _ object: Object, for digest: CacheKey.Digest, info: CachedImageInfo, releasing: inout [Object]
    ) -> Bool {
        let standing = table.standing(of: digest)
        remove(digest, releasing: &releasing)
        return admit(object, digest, info, standing, releasing: &releasing)
    }

    private mutating func admit(
        _ object: Object, _ digest: CacheKey.Digest, _ note: CachedImageInfo,
        _ standing: AdaptiveFIFOTable<Object>.Standing, releasing: inout [Object]
    ) -> Bool {
        guard note.cost <= min(entryLimit ?? costLimit / 10, costLimit), countLimit > 0 else { return false }
        // Evict other entries first, so that the limit holds at every moment.
        evict(toCost: costLimit - note.cost, count: countLimit - 1, releasing: &releasing)
        table.insert(object, for: digest, info: note, standing: standing)
        if let variant = note.variant { families.add(digest, to: variant.data) }
        return true
    }

    // MARK: - Removing

    mutating func remove(_ digest: CacheKey.Digest, releasing: inout [Object]) {
        if let weak = weakEntries.remove(digest) { removeFromFamily(digest, weak.note) }
        guard let (object, note) = table.remove(digest) else { return }
        removeFromFamily(digest, note)
        releasing.append(object)
    }

    mutating func removeFamily(_ family: CacheKey.Digest, releasing: inout [Object]) {
        for digest in families.members(of: family) { remove(digest, releasing: &releasing) }
    }

    mutating func removeUnusedAhead(releasing: inout [Object]) {
        for digest in table.unusedPrefetches {
            evictions += 1
            remove(digest, releasing: &releasing)
        }
    }

    mutating func evict(toCost cost: Int, count: Int, releasing: inout [Object]) {
        while table.cost > cost || table.count > count, let victim = table.evict() {
            evictions += 1
            keepWeakReference(victim.digest, victim.value, victim.note)
            releasing.append(victim.value)
        }
        if weakEntries.count > weakEntryLimit { pruneWeakEntries() }
    }

    mutating func evict(storedBefore uptime: Double, releasing: inout [Object]) {
        for digest in table.digests(storedBefore: uptime) {
            guard let (object, note) = table.remove(digest) else { continue }
            evictions += 1
            // The family contains the digest already.
            weakEntries.insert(object, for: digest, note: note)
            releasing.append(object)
        }
        if weakEntries.count > weakEntryLimit { pruneWeakEntries() }
    }

    /// Keeps a weak reference to an evicted object so that lookups find it while another object retains it.
    private mutating func keepWeakReference(_ digest: CacheKey.Digest, _ object: Object, _ note: CachedImageInfo) {
        weakEntries.insert(object, for: digest, note: note)
        if let variant = note.variant { families.add(digest, to: variant.data) }
    }

    mutating func pruneWeakEntries() {
        var gone: [(CacheKey.Digest, CachedImageInfo)] = []
        weakEntries.prune { gone.append(($0, $1)) }
        for (digest, note) in gone { removeFromFamily(digest, note) }
        weakEntryLimit = max(256, weakEntries.count * 2)
    }

    private mutating func removeFromFamily(_ digest: CacheKey.Digest, _ note: CachedImageInfo) {
        if let variant = note.variant { families.remove(digest, from: variant.data) }
    }

    /// Empties the store and returns its previous contents, which the caller must release after unlocking.
    mutating func removeAll() -> AdaptiveFIFOTable<Object> {
        weakEntries = WeakTable(smallestLimit: .max)
        families = DerivedImageIndex()
        var old = AdaptiveFIFOTable<Object>()
        swap(&old, &table)
        return old
    }
}
