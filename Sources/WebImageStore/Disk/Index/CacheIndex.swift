// SPDX-License-Identifier: MIT

import CSQLite
import Foundation
import WebImageHTTP

/// The index of a disk cache, which is a SQLite database (WAL, synchronous NORMAL).
///
/// The index repeats information from the entry files, so that sizes, ages, and names are available without reading the
/// files. If it's lost at any time, the cache rebuilds it from the files. An instance is confined to one thread.
final class CacheIndex {
    /// The characters `WIMG`.
    static let applicationID = 0x5749_4D47
    static let version = 6
    /// The oldest version that this version upgrades in place. Other versions are rebuilt from the files.
    private static let upgradableVersion = 5

    let connection: SQLiteConnection
    /// The encryption of the keys and of all values that describe an entry, or `nil` if they aren't encrypted.
    let cipher: CacheCipher?
    /// The changes of the totals in the current transaction.
    var growth = (entries: 0, bytes: 0)
    /// The id of the next row that the current transaction inserts, or `nil` before the first insertion.
    private var nextID: Int?
    /// The floor of the ranks, or `nil` before the current transaction reads it.
    private var floor: Double?
    private var ghosts = GhostUses()
    private var lastGhosts = 0
    /// Whether the current transaction has read the slices of other processes.
    private var hasGhosts = false

    /// Opens the index for the writer and creates it if it doesn't exist.
    init(writing path: String, cipher: CacheCipher? = nil) throws(IndexError) {
        self.cipher = cipher
        connection = try SQLiteConnection(path, create: true, busyMilliseconds: 2_000)
        try connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL")
        // By default, Debian's SQLite library overwrites deleted content even if that requires additional writes.
        try connection.execute("PRAGMA secure_delete=FAST")
        let application = try connection.number("PRAGMA application_id") ?? 0
        let version = try connection.number("PRAGMA user_version") ?? 0
        if application == 0, version == 0, try connection.number("SELECT count(*) FROM sqlite_schema") == 0 {
            try create()
        } else if application == Self.applicationID, version == Self.upgradableVersion {
            try upgrade()
        } else if application != Self.applicationID || version != Self.version {
            throw IndexError(code: SQLITE_MISMATCH, message: "application ID \(application), version \(version)")
        }
    }

    /// Opens the index for lookups of single rows.
    init(reading path: String, cipher: CacheCipher? = nil) throws(IndexError) {
        self.cipher = cipher
        // The timeout is long enough for the writer to recover a log that another process left.
        connection = try SQLiteConnection(path, create: false, busyMilliseconds: 500)
        try connection.execute("PRAGMA query_only=1")
    }

    private func create() throws(IndexError) {
        try transaction { () throws(IndexError) in
            // Another process may have created the tables while this process waited for the lock.
            guard try connection.number("PRAGMA user_version") == 0 else { return }
            try connection.execute(
                """
                CREATE TABLE totals(
                    entries INTEGER NOT NULL, bytes INTEGER NOT NULL, epoch INTEGER NOT NULL,
                    hits INTEGER NOT NULL, misses INTEGER NOT NULL, next INTEGER NOT NULL,
                    floor REAL NOT NULL DEFAULT 0);
                INSERT INTO totals VALUES(0, 0, 0, 0, 0, 1, 0);
                CREATE TABLE sessions(id INTEGER PRIMARY KEY);
                """)
            try connection.execute(Self.tables)
            try connection.execute(Self.ghostTable)
            try connection.execute(
                "PRAGMA application_id=\(Self.applicationID); PRAGMA user_version=\(Self.version);")
        }
    }

    /// The added columns have default values, so processes with the earlier version can continue to use the index.
    private func upgrade() throws(IndexError) {
        try transaction { () throws(IndexError) in
            guard try connection.number("PRAGMA user_version") == Self.upgradableVersion else { return }
            try connection.execute(
                """
                ALTER TABLE totals ADD COLUMN floor REAL NOT NULL DEFAULT 0;
                ALTER TABLE entries ADD COLUMN uses INTEGER NOT NULL DEFAULT 1;
                ALTER TABLE entries ADD COLUMN weight REAL;
                ALTER TABLE entries ADD COLUMN rank REAL NOT NULL DEFAULT 0;
                """)
            try connection.execute(Self.ghostTable)
            try connection.execute("PRAGMA user_version=\(Self.version)")
        }
    }

    /// The evicted entries in slices of up to one transaction. The ids increase even if all slices are deleted.
    private static let ghostTable = """
        CREATE TABLE ghosts(id INTEGER PRIMARY KEY AUTOINCREMENT, count INTEGER NOT NULL, entries BLOB NOT NULL);
        """

    private static let tables = """
        CREATE TABLE entries(
            id INTEGER PRIMARY KEY, name BLOB NOT NULL, tag INTEGER NOT NULL, high INTEGER NOT NULL,
            low INTEGER NOT NULL, accessed REAL NOT NULL, renewed REAL NOT NULL, size INTEGER NOT NULL,
            payload INTEGER NOT NULL, stored REAL NOT NULL, expires REAL, format TEXT, key TEXT NOT NULL, tags TEXT,
            updated INTEGER, head BLOB, attachment BLOB, lifetime REAL, uses INTEGER NOT NULL DEFAULT 1, weight REAL,
            rank REAL NOT NULL DEFAULT 0);
        CREATE INDEX by_tag ON entries(tag, high, low);
        CREATE INDEX by_update ON entries(high, low) WHERE updated = 1;
        """

    /// Names are distributed uniformly, so each additional index costs one page write for nearly every row of a batch.
    /// Therefore, there is only one index with short columns, which contains the values that are loaded at startup.
    /// Entries are sorted by use or age only when they must be deleted.
    static func tag(_ name: String) -> Int { Int(bitPattern: UInt(name.prefix(16), radix: 16) ?? 0) }

    /// Takes the write lock immediately. Rows are inserted and deleted only in transactions because the totals are
    /// updated at the end.
    func transaction<Result>(_ body: () throws(IndexError) -> Result) throws(IndexError) -> Result {
        // A transaction that reads before it takes the write lock fails without waiting if another process has
        // committed.
        try connection.execute("BEGIN IMMEDIATE")
        growth = (0, 0)
        (floor, hasGhosts) = (nil, false)
        do throws(IndexError) {
            nextID = nil
            let result = try body()
            if growth != (0, 0) || nextID != nil { try addGrowth() }
            try connection.execute("COMMIT")
            return result
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    private func addGrowth() throws(IndexError) {
        let update = try connection.statement(
            "UPDATE totals SET entries = entries + ?, bytes = bytes + ?, next = coalesce(?, next)")
        update.bind(growth.entries)
        update.bind(growth.bytes)
        update.bind(nextID)
        try update.run()
    }

    // MARK: Rows

    func insert(_ row: IndexRow) throws(IndexError) {
        let uses = max(try delete(name: row.name), try takeGhost(row.name)) + 1
        let weight = EvictionPolicy.weight(size: row.size)
        // Ids are never reused, because other processes recognize new rows by them.
        if nextID == nil { nextID = try connection.number("SELECT next FROM totals") }
        let id = nextID ?? 1
        let insert = try connection.statement(
            """
            INSERT INTO entries(
                id, name, tag, high, low, accessed, renewed, size, payload, stored, expires, format, key, tags,
                updated, head, attachment, lifetime, uses, weight, rank)
            VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        insert.bind(id)
        bindName(row.name, insert)
        insert.bind(Self.tag(row.name))
        let digest = try sealed(row.digest)
        insert.bind(Int(bitPattern: UInt(digest.high)))
        insert.bind(Int(bitPattern: UInt(digest.low)))
        insert.bind(row.accessed)
        insert.bind(row.renewed)
        insert.bind(row.size)
        insert.bind(row.payload)
        insert.bind(row.stored)
        insert.bind(row.expires)
        try bindDescription(of: row, insert)
        insert.bind(row.update == EntryMetadataUpdate() ? nil : 1)
        insert.bind(try sealed(row.update.head?.encoded(), .head, row.name))
        insert.bind(try sealed(row.update.attachment?.encoded, .attachment, row.name))
        insert.bind(row.lifetime)
        insert.bind(min(uses, EvictionPolicy.useLimit))
        insert.bind(weight)
        insert.bind(EvictionPolicy.rank(floor: try currentFloor(), uses: uses, weight: weight))
        try insert.run()
        nextID = id + 1
        growth.entries += 1
        growth.bytes += row.size
    }

    private func bindName(_ name: String, _ statement: SQLiteStatement) {
        statement.bind(HexadecimalName.bytes(name))
    }

    /// Returns the number of uses of the entry, or 0 if there's no row.
    @discardableResult
    func delete(name: String) throws(IndexError) -> Int {
        let select = try connection.statement("SELECT id, size, uses FROM entries WHERE tag = ? AND name = ?")
        select.bind(Self.tag(name))
        bindName(name, select)
        var found: [(id: Int, size: Int)] = []
        var uses = 0
        while try select.step() {
            found.append((select.int(0), select.int(1)))
            uses = max(uses, min(select.int(2), EvictionPolicy.useLimit))
        }
        select.reset()
        for line in found { try delete(id: line.id, size: line.size) }
        return uses
    }

    /// Deletes a row. Another process may have already deleted it.
    func delete(id: Int, size: Int) throws(IndexError) {
        let delete = try connection.statement("DELETE FROM entries WHERE id = ?")
        delete.bind(id)
        try delete.run()
        guard connection.changes > 0 else { return }
        growth.entries -= 1
        growth.bytes -= size
    }

    /// Deletes the rows of the given candidates, which must have been read in the current transaction.
    func delete(_ gone: some Collection<EvictionCandidate>) throws(IndexError) {
        for run in gone.map(\.id).sorted().consecutiveRuns() {
            let delete = try connection.statement("DELETE FROM entries WHERE id BETWEEN ? AND ?")
            delete.bind(run.lowerBound)
            delete.bind(run.upperBound)
            try delete.run()
            // The rows were read in this transaction, so the index is corrupt if one is missing.
            guard connection.changes == run.count else {
                throw IndexError(code: SQLITE_CORRUPT, message: "\(connection.changes) of \(run.count) rows deleted")
            }
        }
        growth.entries -= gone.count
        growth.bytes -= gone.reduce(0) { $0 + $1.size }
    }

    /// A new head also renews the entry. Returns `false` if the row doesn't exist.
    func update(_ update: EntryMetadataUpdate, name: String, renewed: Double) throws(IndexError) -> Bool {
        var isKnown = true
        if let head = update.head {
            let change = try connection.statement(
                """
                UPDATE entries SET head = ?, updated = 1, renewed = ?, accessed = ?, expires = ?
                WHERE tag = ? AND name = ?
                """)
            change.bind(try sealed(head.encoded(), .head, name))
            change.bind(renewed)
            change.bind(renewed)
            change.bind(head.expiry?.timeIntervalSince1970)
            isKnown = try run(change, name: name)
        }
        if let attachment = update.attachment {
            let change = try connection.statement(
                "UPDATE entries SET attachment = ?, updated = 1 WHERE tag = ? AND name = ?")
            change.bind(try sealed(attachment.encoded, .attachment, name))
            isKnown = try run(change, name: name)
        }
        return isKnown
    }

    /// Records reads of an entry, the last of them at `accessed` in seconds since 1970.
    func touch(name: String, accessed: Double, uses: Int) throws(IndexError) {
        let update = try connection.statement(
            """
            UPDATE entries SET accessed = ?, uses = min(uses + ?, \(EvictionPolicy.useLimit)),
                rank = ? + min(uses + ?, \(EvictionPolicy.useLimit)) * coalesce(weight, ?)
            WHERE tag = ? AND name = ?
            """)
        update.bind(accessed)
        update.bind(uses)
        update.bind(try currentFloor())
        update.bind(uses)
        update.bind(EvictionPolicy.typicalWeight)
        _ = try run(update, name: name)
    }

    /// Runs an update for the row of a name. Returns `false` if the row doesn't exist.
    private func run(_ change: SQLiteStatement, name: String) throws(IndexError) -> Bool {
        change.bind(Self.tag(name))
        bindName(name, change)
        try change.run()
        return connection.changes > 0
    }

    // MARK: Eviction policy

    /// A modified index can contain any number.
    private func currentFloor() throws(IndexError) -> Double {
        if let floor { return floor }
        let select = try connection.statement("SELECT floor FROM totals")
        defer { select.reset() }
        let stored = try select.step() ? select.double(0) : 0
        let found = stored.isFinite && stored >= 0 ? stored : 0
        floor = found
        return found
    }

    /// Reads the slices of evicted entries that were added since the last call.
    private func loadGhosts() throws(IndexError) {
        guard !hasGhosts else { return }
        hasGhosts = true
        let select = try connection.statement(
            "SELECT id, entries FROM ghosts WHERE id > ? AND length(entries) <= 65536 ORDER BY id")
        defer { select.reset() }
        select.bind(lastGhosts)
        while try select.step() {
            lastGhosts = select.int(0)
            ghosts.add(encoded: select.blob(1))
            ghosts.limit(to: EvictionPolicy.ghostLimit(entries: .max / 4))
        }
    }

    /// Returns the number of uses of an entry before its eviction, or 0 if it's unknown, and discards the eviction.
    private func takeGhost(_ name: String) throws(IndexError) -> Int {
        try loadGhosts()
        return ghosts.count > 0 ? ghosts.take(Self.tag(name)) : 0
    }

    /// Call this method in the transaction that deletes the entries because of a limit for their size or number.
    func recordEvictions(_ gone: some Collection<EvictionCandidate>) throws(IndexError) {
        guard !gone.isEmpty else { return }
        try loadGhosts()
        let highest = gone.map(\.rank).filter(\.isFinite).max() ?? 0
        if highest > (try currentFloor()) {
            let update = try connection.statement("UPDATE totals SET floor = ?")
            update.bind(highest)
            try update.run()
            floor = highest
        }
        let insert = try connection.statement("INSERT INTO ghosts(count, entries) VALUES(?, ?)")
        insert.bind(gone.count)
        insert.bind(GhostUses.encoded(gone.map { ($0.tag, $0.uses) }))
        try insert.run()
        lastGhosts = connection.lastRow
        for entry in gone { ghosts.add(tag: entry.tag, uses: entry.uses) }
        let limit = EvictionPolicy.ghostLimit(entries: try totals().entries)
        ghosts.limit(to: limit)
        try deleteGhosts(limit: limit)
    }

    private func deleteGhosts(limit: Int) throws(IndexError) {
        let select = try connection.statement("SELECT id, count FROM ghosts ORDER BY id DESC")
        var (sum, oldest) = (0, 0)
        while sum < limit, try select.step() {
            oldest = select.int(0)
            sum += max(1, min(select.int(1), limit))
        }
        select.reset()
        let delete = try connection.statement("DELETE FROM ghosts WHERE id < ?")
        delete.bind(oldest)
        try delete.run()
    }

    func count(hits: Int, misses: Int) throws(IndexError) {
        let update = try connection.statement("UPDATE totals SET hits = hits + ?, misses = misses + ?")
        update.bind(hits)
        update.bind(misses)
        try update.run()
    }

    /// Removes all rows in one transaction. Other processes notice the new epoch.
    func removeAll() throws(IndexError) {
        try transaction { () throws(IndexError) in
            try connection.execute("DROP TABLE entries")
            try connection.execute(Self.tables)
            ghosts = GhostUses()
            try connection.execute("UPDATE totals SET entries = 0, bytes = 0, floor = 0, epoch = epoch + 1")
            try connection.execute("DELETE FROM ghosts")
        }
    }
}
