// SPDX-License-Identifier: MIT

import CSQLite
import Foundation
import WebImageCore
import WebImageHTTP

extension CacheIndex {
    /// Counts over all processes.
    struct Totals: Equatable {
        var entries: Int
        var bytes: Int
        /// Grows when everything is removed.
        var epoch: Int
    }

    func totals() throws(IndexFault) -> Totals {
        let select = try connection.statement("SELECT entries, bytes, epoch FROM totals")
        defer { select.reset() }
        guard try select.step() else { throw IndexFault(code: SQLITE_CORRUPT, message: "no totals") }
        return Totals(entries: select.int(0), bytes: select.int(1), epoch: select.int(2))
    }

    /// Changes whenever another connection has committed.
    func dataVersion() throws(IndexFault) -> Int { try connection.number("PRAGMA data_version") ?? 0 }

    /// Calls `body` with every line newer than `id`: its digest and whether its head is newer than the file's.
    /// Returns the newest id.
    func load(after id: Int, _ body: (CacheKey.Digest, _ hasHead: Bool) -> Void) throws(IndexFault) -> Int {
        let select = try connection.statement(
            "SELECT id, high, low, head IS NOT NULL FROM entries WHERE id > ? ORDER BY id")
        defer { select.reset() }
        select.bind(id)
        var last = id
        while try select.step() {
            last = select.int(0)
            body(digest(select, 1), select.int(3) != 0)
        }
        return last
    }

    /// The names in one shard.
    func names(inShard shard: Int) throws(IndexFault) -> Set<String> {
        let select = try connection.statement("SELECT name FROM entries WHERE tag BETWEEN ? AND ?")
        defer { select.reset() }
        let first = UInt(shard) << 56
        select.bind(Int(bitPattern: first))
        select.bind(Int(bitPattern: first | (1 << 56 - 1)))
        var names: Set<String> = []
        while try select.step() { names.insert(select.text(0)) }
        return names
    }

    /// The newer head of an entry, if the line belongs to the file stored at `stored`.
    func head(name: String, stored: Double) throws(IndexFault) -> StoredHead? {
        let select = try connection.statement("SELECT head, stored FROM entries WHERE tag = ? AND name = ?")
        defer { select.reset() }
        select.bind(Self.tag(name))
        select.bind(name)
        guard try select.step(), !select.isNull(0), select.double(1) == stored else { return nil }
        return StoredHead(encoded: select.blob(0))
    }

    /// Up to `limit` entries neither stored nor revalidated since `cutoff`.
    func expired(before cutoff: Double, limit: Int) throws(IndexFault) -> [EvictionCandidate] {
        try candidates("WHERE renewed < ? ORDER BY renewed LIMIT ?", [cutoff], limit)
    }

    /// The `limit` entries that were not used for the longest time.
    func leastRecentlyUsed(limit: Int) throws(IndexFault) -> [EvictionCandidate] {
        try candidates("ORDER BY accessed LIMIT ?", [], limit)
    }

    private func candidates(
        _ clause: String, _ values: [Double], _ limit: Int
    ) throws(IndexFault) -> [EvictionCandidate] {
        let select = try connection.statement("SELECT id, name, size, high, low FROM entries \(clause)")
        defer { select.reset() }
        for value in values { select.bind(value) }
        select.bind(limit)
        var found: [EvictionCandidate] = []
        while try select.step() {
            found.append(
                EvictionCandidate(
                    id: select.int(0), name: select.text(1), digest: digest(select, 3), size: select.int(2)))
        }
        return found
    }

    /// Times from the future, left by a clock that was wrong, would keep their entries for ever.
    func clampTimes(now: Double) throws(IndexFault) {
        for column in ["accessed", "renewed"] {
            let update = try connection.statement("UPDATE entries SET \(column) = ? WHERE \(column) > ?")
            update.bind(now)
            update.bind(now)
            try update.run()
        }
    }

    func summaries() throws(IndexFault) -> [DiskEntrySummary] {
        let select = try connection.statement(
            "SELECT key, size, payload, stored, accessed, expires, format FROM entries ORDER BY accessed DESC")
        defer { select.reset() }
        var found: [DiskEntrySummary] = []
        while try select.step() {
            found.append(
                DiskEntrySummary(
                    key: select.text(0), bytes: select.int(1), payloadBytes: select.int(2),
                    stored: Date(timeIntervalSince1970: select.double(3)),
                    lastAccess: Date(timeIntervalSince1970: select.double(4)),
                    expires: select.isNull(5) ? nil : Date(timeIntervalSince1970: select.double(5)),
                    format: select.isNull(6) ? nil : ImageFormat(rawValue: select.text(6))))
        }
        return found
    }

    /// When the oldest entry was stored.
    func oldest() throws(IndexFault) -> Date? {
        let select = try connection.statement("SELECT stored FROM entries ORDER BY renewed LIMIT 1")
        defer { select.reset() }
        return try select.step() ? Date(timeIntervalSince1970: select.double(0)) : nil
    }

    private func digest(_ statement: SQLiteStatement, _ column: Int32) -> CacheKey.Digest {
        CacheKey.Digest(
            high: UInt64(UInt(bitPattern: statement.int(column))),
            low: UInt64(UInt(bitPattern: statement.int(column + 1))))
    }

    // MARK: Sessions

    /// True when a process that had the cache open ended without closing it. Ask only while nobody else has it open.
    func hasOpenSessions() throws(IndexFault) -> Bool { try connection.number("SELECT 1 FROM sessions LIMIT 1") != nil }

    func removeSessions() throws(IndexFault) { try connection.execute("DELETE FROM sessions") }

    func beginSession(_ id: Int) throws(IndexFault) { try connection.execute("INSERT INTO sessions VALUES(\(id))") }

    func endSession(_ id: Int) throws(IndexFault) { try connection.execute("DELETE FROM sessions WHERE id = \(id)") }

    /// SQLite's own check of the file.
    func isSound() throws(IndexFault) -> Bool {
        let check = try connection.statement("PRAGMA quick_check(1)")
        defer { check.reset() }
        return try check.step() && check.text(0) == "ok"
    }
}
