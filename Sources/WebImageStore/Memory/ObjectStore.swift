// SPDX-License-Identifier: MIT

/// The rules of the memory cache: limits, expiry, and the weak table of pictures that left but live on elsewhere.
/// A plain value; ``MemoryCache`` guards it.
struct ObjectStore<Object: AnyObject> {
    private struct Weak {
        weak var object: Object?
        var expires: Double
    }

    private var table = SlotTable<Object>()
    private var departed: [CacheKey.Digest: Weak] = [:]
    private var departedLimit = 256
    var costLimit: Int
    var countLimit: Int
    private(set) var statistics = MemoryCache.Statistics()
    private let costOf: @Sendable (Object) -> Int

    init(costLimit: Int, countLimit: Int, cost: @escaping @Sendable (Object) -> Int) {
        self.costLimit = costLimit
        self.countLimit = countLimit
        costOf = cost
    }

    var cost: Int { table.cost }
    var count: Int { table.count }
    var departedCount: Int { departed.count }

    /// The object of `digest` if it is held and does not expire; anything else is for ``find(_:uptime:leaving:)``.
    mutating func findLasting(_ digest: CacheKey.Digest) -> Object? {
        let object = table.findLasting(digest)
        if object != nil { statistics.hits += 1 }
        return object
    }

    /// The object of `digest`. `leaving` takes what must be let go after the lock.
    mutating func find(_ digest: CacheKey.Digest, uptime: () -> Double, leaving: inout [Object]) -> Object? {
        switch table.find(digest, uptime: uptime) {
        case .value(let object):
            statistics.hits += 1
            return object
        case .expired(let object): leaving.append(object)
        case .nothing:
            if let object = findDeparted(digest, uptime: uptime, leaving: &leaving) {
                statistics.hits += 1
                return object
            }
        }
        statistics.misses += 1
        return nil
    }

    private mutating func findDeparted(
        _ digest: CacheKey.Digest, uptime: () -> Double, leaving: inout [Object]
    ) -> Object? {
        guard !departed.isEmpty, let weak = departed.removeValue(forKey: digest), let object = weak.object else {
            return nil
        }
        guard weak.expires == .infinity || uptime() < weak.expires else {
            leaving.append(object)
            return nil
        }
        admit(object, digest, expires: weak.expires, leaving: &leaving)
        return object
    }

    /// Stores `object`; false when it costs more than a tenth of the limit.
    mutating func store(
        _ object: Object, for digest: CacheKey.Digest, expires: Double, leaving: inout [Object]
    ) -> Bool {
        departed[digest] = nil
        if let old = table.remove(digest) { leaving.append(old) }
        return admit(object, digest, expires: expires, leaving: &leaving)
    }

    @discardableResult
    private mutating func admit(
        _ object: Object, _ digest: CacheKey.Digest, expires: Double, leaving: inout [Object]
    ) -> Bool {
        let cost = costOf(object)
        guard cost <= costLimit / 10, countLimit > 0 else { return false }
        // Room is made first, so that the limit holds at every moment.
        evict(toCost: costLimit - cost, count: countLimit - 1, leaving: &leaving)
        table.insert(object, for: digest, cost: cost, expires: expires)
        return true
    }

    mutating func remove(_ digest: CacheKey.Digest, leaving: inout [Object]) {
        departed[digest] = nil
        if let object = table.remove(digest) { leaving.append(object) }
    }

    /// Evicts until both bounds hold.
    mutating func evict(toCost cost: Int, count: Int, leaving: inout [Object]) {
        while table.cost > cost || table.count > count, let victim = table.evict() {
            statistics.evictions += 1
            remember(victim.digest, victim.value, expires: victim.expires)
            leaving.append(victim.value)
        }
    }

    private mutating func remember(_ digest: CacheKey.Digest, _ object: Object, expires: Double) {
        departed[digest] = Weak(object: object, expires: expires)
        guard departed.count > departedLimit else { return }
        departed = departed.filter { $0.value.object != nil }
        departedLimit = max(256, departed.count * 2)
    }

    mutating func removeAll() {
        table = SlotTable()
        departed = [:]
    }
}
