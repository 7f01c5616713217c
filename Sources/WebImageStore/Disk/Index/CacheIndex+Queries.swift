// SPDX-License-Identifier: MIT

import CSQLite
import Foundation
import WebImageCore
import WebImageHTTP

extension CacheIndex {
    /// The totals of all processes.
    struct Totals: Equatable {
        var entries: Int
        var bytes: Int
        /// A number that increases whenever all entries are removed.
        var epoch: Int
        /// The reads of all processes since the index was created.
        var hits: Int
        var misses: Int
    }

    func totals() throws(IndexError) -> Totals {
        let select = try connection.statement("SELECT entries, bytes, epoch, hits, misses FROM totals")
        defer { select.reset() }
        guard try select.step() else { throw IndexError(code: SQLITE_CORRUPT, message: "the row of totals is missing") }
        return Totals(
            entries: select.int(0), bytes: select.int(1), epoch: select.int(2), hits: select.int(3),
            misses: select.int(4))
    }

    /// Returns a number that changes whenever another connection commits.
    func dataVersion() throws(IndexError) -> Int { try connection.number("PRAGMA data_version") ?? 0 }

    /// The updated rows are those with newer values than their files. `last` is the newest id.
    func load(after id: Int) throws(IndexError) -> (
        digests: [CacheKey.StoredDigest], updated: [CacheKey.StoredDigest], last: Int
    ) {
        // To load all rows, scan the small covering index. To load new rows, look them up by id.
        let list = try connection.statement(
            id == 0 ? "SELECT high, low FROM entries" : "SELECT high, low FROM entries WHERE id > ?")
        if id != 0 { list.bind(id) }
        let last = try connection.number("SELECT max(id) FROM entries") ?? 0
        let updated = try connection.statement("SELECT high, low FROM entries INDEXED BY by_update WHERE updated = 1")
        return (try digests(list), try digests(updated), max(id, last))
    }

    private func digests(_ select: SQLiteStatement) throws(IndexError) -> [CacheKey.StoredDigest] {
        defer { select.reset() }
        var found: [CacheKey.StoredDigest] = []
        while try select.step() { found.append(storedDigest(select, 0)) }
        return cipher?.opened(found) ?? found
    }

    func names(inShard shard: Int) throws(IndexError) -> Set<String> {
        let select = try connection.statement("SELECT name FROM entries WHERE tag BETWEEN ? AND ?")
        defer { select.reset() }
        let first = UInt(shard) << 56
        select.bind(Int(bitPattern: first))
        select.bind(Int(bitPattern: first | (1 << 56 - 1)))
        var names: Set<String> = []
        while try select.step() { names.insert(HexadecimalName.name(select.blob(0))) }
        return names
    }

    /// Returns `nil` if the row describes another file than that with the given store time.
    func update(name: String, stored: Double) throws(IndexError) -> EntryMetadataUpdate? {
        let select = try connection.statement(
            "SELECT stored, head, attachment FROM entries WHERE tag = ? AND name = ?")
        defer { select.reset() }
        select.bind(Self.tag(name))
        select.bind(HexadecimalName.bytes(name))
        guard try select.step(), select.double(0) == stored else { return nil }
        return EntryMetadataUpdate(
            head: opened(select, 1, .head, name) { StoredResponseHead(encoded: $0) } ?? nil,
            attachment: opened(select, 2, .attachment, name) { EntryMetadataUpdate.Attachment(encoded: $0) } ?? nil)
    }

    /// Returns the entries whose age is counted from a time before `cutoff`, and those whose own time to live has passed
    /// at `now`, beginning with the oldest.
    func expired(
        before cutoff: Double, now: Double?, _ expiration: CacheExpiration
    ) throws(IndexError) -> [EvictionOrder] {
        let time = expiration == .sinceStored ? "renewed" : "max(renewed, accessed)"
        let select = try connection.statement(
            "SELECT id, accessed, \(time) AS time FROM entries WHERE time < ? OR time + lifetime < ? ORDER BY id")
        select.bind(cutoff)
        select.bind(now)
        return try sorted(select) { ($0.value, $0.id) < ($1.value, $1.id) }
    }

    /// Returns the time of the last use of an entry in seconds since 1970, or `nil` if the index doesn't contain it.
    func lastAccess(name: String) throws(IndexError) -> Double? {
        let select = try connection.statement("SELECT accessed FROM entries WHERE tag = ? AND name = ?")
        defer { select.reset() }
        select.bind(Self.tag(name))
        select.bind(HexadecimalName.bytes(name))
        return try select.step() ? select.double(0) : nil
    }

    /// Returns all entries in the order of their ranks. Of entries with equal ranks, the least recently used one is first.
    func evictionOrder() throws(IndexError) -> [EvictionOrder] {
        let select = try connection.statement("SELECT id, accessed, rank FROM entries ORDER BY id")
        return try sorted(select) { ($0.value, $0.accessed, $0.id) < ($1.value, $1.accessed, $1.id) }
    }

    private func sorted(
        _ select: SQLiteStatement, by areInOrder: (EvictionOrder, EvictionOrder) -> Bool
    ) throws(IndexError) -> [EvictionOrder] {
        defer { select.reset() }
        var found: [EvictionOrder] = []
        var isSorted = true
        while try select.step() {
            let next = EvictionOrder(id: select.int(0), accessed: select.double(1), value: select.double(2))
            // Rows are read by id, which equals the order if no entry was used after it was stored.
            if isSorted, let last = found.last { isSorted = areInOrder(last, next) }
            found.append(next)
        }
        if !isSorted { found.sort(by: areInOrder) }
        return found
    }

    /// The rows have the order of the ids. Rows with consecutive ids are read with one query.
    func candidates(_ ids: some Collection<Int>) throws(IndexError) -> [EvictionCandidate] {
        var found: [EvictionCandidate] = []
        found.reserveCapacity(ids.count)
        let select = "SELECT name, size, high, low, accessed, id, tag, uses, rank FROM entries WHERE id BETWEEN ? AND ?"
        for run in ids.consecutiveRuns() {
            let lines = try connection.statement(select)
            defer { lines.reset() }
            lines.bind(run.lowerBound)
            lines.bind(run.upperBound)
            while try lines.step() {
                found.append(
                    EvictionCandidate(
                        id: lines.int(5), path: EntryPath(lines.blob(0)), digest: storedDigest(lines, 2),
                        size: lines.int(1), accessed: lines.double(4), tag: lines.int(6), uses: lines.int(7),
                        rank: lines.double(8)))
            }
        }
        guard let cipher else { return found }
        for (index, digest) in zip(found.indices, cipher.opened(found.map(\.digest))) { found[index].digest = digest }
        return found
    }

    /// Replaces times in the future, which a wrong clock caused. Otherwise, their entries would never be evicted.
    func clampTimes(now: Double) throws(IndexError) {
        for column in ["accessed", "renewed"] {
            let update = try connection.statement("UPDATE entries SET \(column) = ? WHERE \(column) > ?")
            update.bind(now)
            update.bind(now)
            try update.run()
        }
    }

    /// Returns all entries with their ids, beginning with the most recently used one.
    func summaries() throws(IndexError) -> [(id: Int, summary: DiskCache.EntryInfo)] {
        let select = try connection.statement(
            """
            SELECT key, format, tags, name, size, payload, stored, accessed, expires, id FROM entries
            ORDER BY accessed DESC, id DESC
            """)
        defer { select.reset() }
        cipher?.refresh()
        var found: [(Int, DiskCache.EntryInfo)] = []
        while try select.step() {
            // In an encrypted index, a modified row doesn't have a key.
            guard let (key, format, tags) = description(select) else { continue }
            let summary = DiskCache.EntryInfo(
                key: CacheKey(canonical: key), diskSize: select.int(4), dataSize: select.int(5),
                storedAt: Date(timeIntervalSince1970: select.double(6)),
                lastAccessedAt: Date(timeIntervalSince1970: select.double(7)),
                expiresAt: select.isNull(8) ? nil : Date(timeIntervalSince1970: select.double(8)),
                format: format.map { ImageFormat(rawValue: $0) },
                tags: tags.map { Set(CacheKey.components(ofKey: $0)) } ?? [])
            found.append((select.int(9), summary))
        }
        return found
    }

    /// The keys consist of the prefix and additional fields. This method scans the complete table.
    func ids(below prefix: CacheKey) throws(IndexError) -> [Int] {
        guard cipher == nil else {
            return try summaries().filter { $0.summary.key.isDerived(from: prefix) }.map(\.id)
        }
        // An additional field begins with the digits of its length, and the colon is the character after the digits.
        let select = try connection.statement("SELECT id FROM entries WHERE key > ? AND key < ?")
        defer { select.reset() }
        select.bind(prefix.canonical)
        select.bind(prefix.canonical + ":")
        var found: [Int] = []
        while try select.step() { found.append(select.int(0)) }
        return found
    }

    func oldest() throws(IndexError) -> Date? {
        let select = try connection.statement("SELECT min(stored) FROM entries")
        defer { select.reset() }
        return try select.step() && !select.isNull(0) ? Date(timeIntervalSince1970: select.double(0)) : nil
    }

    private func storedDigest(_ statement: SQLiteStatement, _ column: Int32) -> CacheKey.StoredDigest {
        CacheKey.StoredDigest(
            high: UInt64(UInt(bitPattern: statement.int(column))),
            low: UInt64(UInt(bitPattern: statement.int(column + 1))))
    }

    // MARK: Sessions

    /// Whether a process ended without closing the cache. Call this method only while no other process has the cache
    /// open.
    func hasOpenSessions() throws(IndexError) -> Bool { try connection.number("SELECT 1 FROM sessions LIMIT 1") != nil }

    func removeSessions() throws(IndexError) { try connection.execute("DELETE FROM sessions") }

    func beginSession(_ id: Int) throws(IndexError) { try connection.execute("INSERT INTO sessions VALUES(\(id))") }

    func endSession(_ id: Int) throws(IndexError) { try connection.execute("DELETE FROM sessions WHERE id = \(id)") }

    /// The faster check `quick_check` doesn't compare the index `by_tag` with the rows, and only this index contains
    /// the digests that are loaded at startup. A wrong digest would hide an entry.
    func isSound() throws(IndexError) -> Bool {
        let check = try connection.statement("PRAGMA integrity_check(1)")
        defer { check.reset() }
        return try check.step() && check.text(0) == "ok"
    }
}
