// SPDX-License-Identifier: MIT

/// What was asked of the cache and is not on disk yet. Reads look here first, so that everything looks done the
/// moment it was asked for. A pure value; ``StoreState`` guards it.
struct Staging {
    /// What is known better than by the disk.
    enum Overlay {
        case entry(DiskEntry)
        /// What is newer than the file on disk.
        case update(EntryUpdate)
        case removed
    }

    /// Work for the writer, in order. A ticket that is no longer the newest of its key means that the work has
    /// been overtaken.
    enum Job {
        case write(CacheKey, ticket: UInt64)
        case remove(CacheKey, ticket: UInt64)
        case update(CacheKey, ticket: UInt64)
        case removeAll(ticket: UInt64)
    }

    private struct Pending {
        var overlay: Overlay
        var ticket: UInt64
    }

    private var pending: [CacheKey: Pending] = [:]
    private var lastTicket: UInt64 = 0
    private var entryCount = 0
    private var byteCount = 0
    /// Tickets of removals of everything that are still to be done.
    private var clearing = 0
    let entryLimit: Int
    let byteLimit: Int

    init(entryLimit: Int, byteLimit: Int) {
        self.entryLimit = entryLimit
        self.byteLimit = byteLimit
    }

    /// What reads must take instead of, or on top of, what is on disk; `.removed` also while everything is going.
    func overlay(for key: CacheKey) -> Overlay? {
        // Nearly always nothing waits.
        if pending.isEmpty { return clearing > 0 ? .removed : nil }
        return pending[key]?.overlay ?? (clearing > 0 ? .removed : nil)
    }

    /// Digests of the entries that wait.
    var digests: [CacheKey.StoredDigest] {
        pending.compactMap { if case .entry = $1.overlay { $0.storedDigest } else { nil } }
    }

    /// True while everything is being removed and nothing that came later is waiting.
    var isClearing: Bool { clearing > 0 }

    /// Takes an entry; nil when too much is waiting.
    mutating func stage(_ entry: DiskEntry) -> Job? {
        let old = bytes(of: pending[entry.key])
        guard old != nil || entryCount < entryLimit,
            byteCount - (old ?? 0) + entry.payload.count <= byteLimit
        else { return nil }
        return .write(entry.key, ticket: put(.entry(entry), for: entry.key))
    }

    /// Takes what became known of an entry. Nil where the entry is being removed.
    mutating func stage(_ update: EntryUpdate, for key: CacheKey) -> Job? {
        switch overlay(for: key) {
        case .removed: return nil
        case .entry(var entry):
            // Not on disk yet: it goes there as it is now.
            update.apply(to: &entry)
            return .write(key, ticket: put(.entry(entry), for: key))
        case .update(var known):
            known.merge(update)
            return .update(key, ticket: put(.update(known), for: key))
        case nil: return .update(key, ticket: put(.update(update), for: key))
        }
    }

    mutating func remove(_ key: CacheKey) -> Job { .remove(key, ticket: put(.removed, for: key)) }

    mutating func removeAll() -> Job {
        pending.removeAll()
        entryCount = 0
        byteCount = 0
        clearing += 1
        lastTicket += 1
        return .removeAll(ticket: lastTicket)
    }

    /// The overlay of a job; nil when it has been overtaken.
    func current(_ key: CacheKey, ticket: UInt64) -> Overlay? {
        guard let found = pending[key], found.ticket == ticket else { return nil }
        return found.overlay
    }

    /// The disk now says what the overlay said. False when it has been overtaken.
    @discardableResult
    mutating func finish(_ key: CacheKey, ticket: UInt64) -> Bool {
        guard let found = pending[key], found.ticket == ticket else { return false }
        forgetSize(found)
        pending[key] = nil
        return true
    }

    mutating func finishRemoveAll() { clearing -= 1 }

    private mutating func put(_ overlay: Overlay, for key: CacheKey) -> UInt64 {
        if let old = pending[key] { forgetSize(old) }
        lastTicket += 1
        let new = Pending(overlay: overlay, ticket: lastTicket)
        if let bytes = bytes(of: new) {
            entryCount += 1
            byteCount += bytes
        }
        pending[key] = new
        return lastTicket
    }

    private mutating func forgetSize(_ old: Pending) {
        guard let bytes = bytes(of: old) else { return }
        entryCount -= 1
        byteCount -= bytes
    }

    private func bytes(of pending: Pending?) -> Int? {
        guard case .entry(let entry) = pending?.overlay else { return nil }
        return entry.payload.count
    }
}
