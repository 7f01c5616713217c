// SPDX-License-Identifier: MIT

/// The pending changes that aren't on disk yet.
///
/// Reads check the pending changes first, so each change takes effect as soon as it's requested. This is a plain value
/// that ``DiskCacheState`` guards with a lock.
struct PendingWrites {
    /// A pending change that takes precedence over the disk.
    enum PendingMetadata {
        case entry(CacheEntry)
        /// Values that are newer than the file on disk.
        case update(EntryMetadataUpdate)
        case removed
    }

    /// A job for the writer, in order. If the ticket isn't the newest one for its key, the job is superseded.
    enum Job {
        case write(CacheKey, ticket: UInt64)
        case remove(CacheKey, ticket: UInt64)
        case update(CacheKey, ticket: UInt64)
        case removeAll(ticket: UInt64)
    }

    private struct Pending {
        var overlay: PendingMetadata
        var ticket: UInt64
    }

    private var pending: [CacheKey: Pending] = [:]
    private var lastTicket: UInt64 = 0
    private var entryCount = 0
    private var byteCount = 0
    /// The number of pending removals of all entries.
    private var clearing = 0
    let entryLimit: Int
    let byteLimit: Int

    init(entryLimit: Int, byteLimit: Int) {
        self.entryLimit = entryLimit
        self.byteLimit = byteLimit
    }

    /// The result is also `.removed` while all entries are being removed.
    func overlay(for key: CacheKey) -> PendingMetadata? {
        // This is the fast path because there are usually no pending changes.
        if pending.isEmpty { return clearing > 0 ? .removed : nil }
        return pending[key]?.overlay ?? (clearing > 0 ? .removed : nil)
    }

    var digests: [CacheKey.StoredDigest] {
        pending.compactMap { if case .entry = $1.overlay { $0.storedDigest } else { nil } }
    }

    /// Adds an entry. Returns `nil` if too many changes are pending.
    mutating func stage(_ entry: CacheEntry) -> Job? {
        let old = bytes(of: pending[entry.key])
        // An entry that replaces a pending one doesn't increase the count.
        guard old != nil || entryCount < entryLimit,
            byteCount - (old ?? 0) + entry.data.count <= byteLimit
        else { return nil }
        return .write(entry.key, ticket: put(.entry(entry), for: entry.key))
    }

    /// Adds an update of an entry. Returns `nil` if the entry is being removed.
    mutating func stage(_ update: EntryMetadataUpdate, for key: CacheKey) -> Job? {
        switch overlay(for: key) {
        case .removed: return nil
        case .entry(var entry):
            // The entry isn't on disk yet, so apply the update before it's written.
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
        // The removal includes the pending changes. Their jobs find no change with their tickets and do nothing.
        pending.removeAll()
        entryCount = 0
        byteCount = 0
        clearing += 1
        lastTicket += 1
        return .removeAll(ticket: lastTicket)
    }

    /// Returns the change for a job, or `nil` if the job is superseded.
    func current(_ key: CacheKey, ticket: UInt64) -> PendingMetadata? {
        guard let found = pending[key], found.ticket == ticket else { return nil }
        return found.overlay
    }

    /// Removes a change after it was written to disk. Returns `false` if the job is superseded.
    @discardableResult
    mutating func finish(_ key: CacheKey, ticket: UInt64) -> Bool {
        guard let found = pending[key], found.ticket == ticket else { return false }
        subtractSize(found)
        pending[key] = nil
        return true
    }

    mutating func finishRemoveAll() { clearing -= 1 }

    private mutating func put(_ overlay: PendingMetadata, for key: CacheKey) -> UInt64 {
        if let old = pending[key] { subtractSize(old) }
        lastTicket += 1
        let new = Pending(overlay: overlay, ticket: lastTicket)
        if let bytes = bytes(of: new) {
            entryCount += 1
            byteCount += bytes
        }
        pending[key] = new
        return lastTicket
    }

    private mutating func subtractSize(_ old: Pending) {
        guard let bytes = bytes(of: old) else { return }
        entryCount -= 1
        byteCount -= bytes
    }

    private func bytes(of pending: Pending?) -> Int? {
        guard case .entry(let entry) = pending?.overlay else { return nil }
        return entry.data.count
    }
}
