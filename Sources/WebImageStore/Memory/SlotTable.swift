// SPDX-License-Identifier: MIT

/// Values in contiguous slots that are linked by index, found by digest. Evicts in the order of arrival, except
/// that what was read since gets a second chance: a read sets a bit and changes no link.
///
/// A plain value without a lock. Everything that leaves is handed to the caller, who lets it go outside the lock.
struct SlotTable<Value> {
    private struct Slot {
        var digest: CacheKey.Digest
        var value: Value?
        var cost: Int
        /// Uptime after which the value is not given out any more.
        var expires: Double
        var newer: Int32
        var older: Int32
        var wasRead: Bool
    }

    private static var none: Int32 { -1 }

    private var slots: ContiguousArray<Slot> = []
    private var positions = DigestIndex()
    private var free: Int32 = -1
    private var newest: Int32 = -1
    private var oldest: Int32 = -1
    private(set) var cost = 0

    var count: Int { positions.count }

    /// What a look-up found.
    enum Found {
        case value(Value)
        /// It was there, but its time was over.
        case expired(Value)
        case nothing
    }

    private func position(of digest: CacheKey.Digest) -> Int32? {
        positions.find(digest) { slots[Int($0)].digest }
    }

    private mutating func removePosition(of digest: CacheKey.Digest) -> Int32? {
        positions.remove(digest) { [slots] in slots[Int($0)].digest }
    }

    /// The value of `digest` if it does not expire: the way nearly every hit takes, without an enum or a clock.
    mutating func findLasting(_ digest: CacheKey.Digest) -> Value? {
        guard let position = position(of: digest), slots[Int(position)].expires == .infinity else { return nil }
        if !slots[Int(position)].wasRead { slots[Int(position)].wasRead = true }
        return slots[Int(position)].value
    }

    /// Looks `digest` up. `uptime` is asked only for values that expire.
    mutating func find(_ digest: CacheKey.Digest, uptime: () -> Double) -> Found {
        guard let position = position(of: digest) else { return .nothing }
        let index = Int(position)
        guard slots[index].expires == .infinity || uptime() < slots[index].expires else {
            return remove(digest).map { .expired($0) } ?? .nothing
        }
        slots[index].wasRead = true
        return slots[index].value.map { .value($0) } ?? .nothing
    }

    /// Adds a value as the newest; the caller has removed an older one of the digest.
    mutating func insert(_ value: Value, for digest: CacheKey.Digest, cost: Int, expires: Double) {
        let slot = Slot(
            digest: digest, value: value, cost: cost, expires: expires, newer: Self.none, older: newest,
            wasRead: false)
        let position: Int32
        if free == Self.none {
            position = Int32(slots.count)
            slots.append(slot)
        } else {
            position = free
            free = slots[Int(position)].older
            slots[Int(position)] = slot
        }
        link(position)
        positions.insert(digest, at: position) { [slots] in slots[Int($0)].digest }
        self.cost += cost
    }

    /// Takes a value out.
    mutating func remove(_ digest: CacheKey.Digest) -> Value? {
        guard let position = removePosition(of: digest) else { return nil }
        unlink(position)
        let value = slots[Int(position)].value
        cost -= slots[Int(position)].cost
        slots[Int(position)].value = nil
        slots[Int(position)].older = free
        free = position
        return value
    }

    /// Takes out the oldest value that was not read since it was last looked at here.
    mutating func evict() -> (digest: CacheKey.Digest, value: Value, expires: Double)? {
        while oldest != Self.none {
            let position = oldest
            if slots[Int(position)].wasRead {
                slots[Int(position)].wasRead = false
                unlink(position)
                link(position)
                continue
            }
            let (digest, expires) = (slots[Int(position)].digest, slots[Int(position)].expires)
            if let value = remove(digest) { return (digest, value, expires) }
        }
        return nil
    }

    /// Digests from the oldest to the newest.
    var order: [CacheKey.Digest] {
        var digests: [CacheKey.Digest] = []
        var position = oldest
        while position != Self.none {
            digests.append(slots[Int(position)].digest)
            position = slots[Int(position)].newer
        }
        return digests
    }

    private mutating func link(_ position: Int32) {
        slots[Int(position)].older = newest
        slots[Int(position)].newer = Self.none
        if newest == Self.none { oldest = position } else { slots[Int(newest)].newer = position }
        newest = position
    }

    private mutating func unlink(_ position: Int32) {
        let (newer, older) = (slots[Int(position)].newer, slots[Int(position)].older)
        if newer == Self.none { newest = older } else { slots[Int(newer)].older = older }
        if older == Self.none { oldest = newer } else { slots[Int(older)].newer = newer }
    }
}
