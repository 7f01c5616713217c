// SPDX-License-Identifier: MIT

/// Values in contiguous slots that are linked by index, found by digest. Evicts in the order of arrival, except
/// that what was read since gets a second chance: a read sets a bit and changes no link.
///
/// A plain value without a lock. Everything that leaves is handed to the caller, who lets it go outside the lock.
struct SlotTable<Value: Sendable>: ~Copyable, @unchecked Sendable {
    // Sendable: the memory behind `hot` belongs to this value alone, which cannot be copied.

    /// What a look-up touches: 32 bytes, half a line of the processor's cache.
    private struct Hot {
        var digest: CacheKey.Digest
        var value: Value?
        /// The value does not expire.
        var lasts: Bool
        var wasRead: Bool
    }

    /// What only changes touch.
    private struct Cold {
        var note: EntryNote
        var newer: Int32
        var older: Int32
    }

    private static var none: Int32 { -1 }

    private var hot: UnsafeMutablePointer<Hot>
    private var capacity: Int
    private var cold: ContiguousArray<Cold> = []
    private var positions = DigestIndex()
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

    /// Slots must not lie across two lines of the processor's cache, so the memory begins where a line does.
    private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Hot> {
        UnsafeMutableRawPointer.allocate(byteCount: capacity * MemoryLayout<Hot>.stride, alignment: 64)
            .bindMemory(to: Hot.self, capacity: capacity)
    }

    var count: Int { positions.count }

    /// What a look-up found.
    enum Found {
        case value(Value)
        /// It was there, but its time was over.
        case expired(Value, EntryNote)
        case nothing
    }

    /// Every position of the index is that of a slot that exists.
    @inline(__always)
    private func position(of digest: CacheKey.Digest) -> Int? {
        positions.find(digest) { [hot] in hot[$0].digest == digest }
    }

    /// The value of `digest` if it does not expire: the way nearly every hit takes, without an enum or a clock.
    @inline(__always)
    func findLasting(_ digest: CacheKey.Digest) -> Value? {
        guard let position = position(of: digest), hot[position].lasts else { return nil }
        // Written once only: the line stays shared between the processors.
        if !hot[position].wasRead { hot[position].wasRead = true }
        return hot[position].value
    }

    /// Looks `digest` up. `uptime` is asked only for values that expire.
    mutating func find(_ digest: CacheKey.Digest, uptime: () -> Double) -> Found {
        guard let position = position(of: digest) else { return .nothing }
        guard hot[position].lasts || uptime() < cold[position].note.expires else {
            return remove(digest).map { .expired($0.value, $0.note) } ?? .nothing
        }
        hot[position].wasRead = true
        return hot[position].value.map { .value($0) } ?? .nothing
    }

    /// The value of `digest` with its note, expired or not; not counted as read.
    func peek(_ digest: CacheKey.Digest) -> (value: Value, note: EntryNote)? {
        guard let position = position(of: digest), let value = hot[position].value else { return nil }
        return (value, cold[position].note)
    }

    /// Adds a value as the newest; the caller has removed an older one of the digest.
    mutating func insert(_ value: Value, for digest: CacheKey.Digest, note: EntryNote) {
        let slot = Hot(digest: digest, value: value, lasts: note.expires == .infinity, wasRead: false)
        let rest = Cold(note: note, newer: Self.none, older: newest)
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
        cost += note.cost
    }

    private mutating func grow() {
        let larger = Self.allocate(capacity * 2)
        larger.moveInitialize(from: hot, count: cold.count)
        hot.deallocate()
        hot = larger
        capacity *= 2
    }

    /// Takes a value out.
    mutating func remove(_ digest: CacheKey.Digest) -> (value: Value, note: EntryNote)? {
        guard let position = positions.remove(digest, isAt: { [hot] in hot[$0].digest == digest }),
            let value = hot[position].value
        else { return nil }
        unlink(Int32(position))
        let note = cold[position].note
        cost -= note.cost
        hot[position].value = nil
        cold[position].note.rendition = nil
        cold[position].older = free
        free = Int32(position)
        return (value, note)
    }

    /// Takes out the oldest value that was not read since it was last looked at here.
    mutating func evict() -> (digest: CacheKey.Digest, value: Value, note: EntryNote)? {
        while oldest != Self.none {
            let position = Int(oldest)
            if hot[position].wasRead {
                hot[position].wasRead = false
                cold[position].note.isAhead = false
                unlink(Int32(position))
                link(Int32(position))
                continue
            }
            let digest = hot[position].digest
            if let (value, note) = remove(digest) { return (digest, value, note) }
        }
        return nil
    }

    /// Digests from the oldest to the newest.
    var order: [CacheKey.Digest] { digests { _, _ in true } }

    /// Digests of what was stored ahead of use and not read since, from the oldest to the newest.
    var unusedAhead: [CacheKey.Digest] { digests { !$0 && $1.isAhead } }

    private func digests(where isWanted: (_ wasRead: Bool, EntryNote) -> Bool) -> [CacheKey.Digest] {
        var digests: [CacheKey.Digest] = []
        var position = oldest
        while position != Self.none {
            let index = Int(position)
            if isWanted(hot[index].wasRead, cold[index].note) { digests.append(hot[index].digest) }
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

/// What the memory cache knows of an entry besides its value.
struct EntryNote: Sendable {
    var cost: Int
    /// Uptime after which the value is not given out any more; infinity for never.
    var expires: Double = .infinity
    /// What the picture was decoded as, where that is known.
    var rendition: Rendition?
    /// Stored before anyone asked for it, by prefetching.
    var isAhead = false
}
