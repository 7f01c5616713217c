// SPDX-License-Identifier: MIT

import CSQLite
import WebImageHTTP

/// The index: a SQLite database (WAL, synchronous NORMAL) that repeats what the entry files say, so that sizes,
/// ages and names are known without reading them. It may vanish at any time and is made again from the files.
/// Belongs to one thread.
final class CacheIndex {
    /// "WIMG".
    static let applicationID = 0x5749_4D47
    static let version = 2

    let connection: SQLiteConnection
    /// What the running transaction adds to the totals.
    var growth = (entries: 0, bytes: 0)

    /// Opens the index for the writer, and makes it where it is missing.
    init(writing path: String) throws(IndexFault) {
        connection = try SQLiteConnection(path, create: true, busyMilliseconds: 2_000)
        try connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA mmap_size=67108864;")
        // Debian's library overwrites what is deleted even where that costs writes of its own.
        try connection.execute("PRAGMA secure_delete=FAST")
        let application = try connection.number("PRAGMA application_id") ?? 0
        let version = try connection.number("PRAGMA user_version") ?? 0
        if application == 0, version == 0, try connection.number("SELECT count(*) FROM sqlite_schema") == 0 {
            try create()
        } else if application != Self.applicationID || version != Self.version {
            throw IndexFault(code: SQLITE_MISMATCH, message: "application \(application), version \(version)")
        }
    }

    /// Opens the index for look-ups of one line.
    init(reading path: String) throws(IndexFault) {
        // Long enough for the writer to bring a log in order that another process left.
        connection = try SQLiteConnection(path, create: false, busyMilliseconds: 500)
        try connection.execute("PRAGMA query_only=1")
    }

    private func create() throws(IndexFault) {
        try transaction { () throws(IndexFault) in
            // Another process may have made it while we waited for the lock.
            guard try connection.number("PRAGMA user_version") == 0 else { return }
            try connection.execute(
                """
                CREATE TABLE totals(entries INTEGER NOT NULL, bytes INTEGER NOT NULL, epoch INTEGER NOT NULL);
                INSERT INTO totals VALUES(0, 0, 0);
                CREATE TABLE sessions(id INTEGER PRIMARY KEY);
                """)
            try connection.execute(Self.tables)
            try connection.execute(
                "PRAGMA application_id=\(Self.applicationID); PRAGMA user_version=\(Self.version);")
        }
    }

    private static let tables = """
        CREATE TABLE entries(
            id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, tag INTEGER NOT NULL, high INTEGER NOT NULL,
            low INTEGER NOT NULL, key TEXT NOT NULL, size INTEGER NOT NULL, payload INTEGER NOT NULL,
            stored REAL NOT NULL, renewed REAL NOT NULL, accessed REAL NOT NULL, expires REAL, format TEXT, head BLOB);
        CREATE INDEX by_tag ON entries(tag);
        CREATE INDEX by_access ON entries(accessed);
        CREATE INDEX by_renewal ON entries(renewed);
        """

    /// The first 64 bits of a name: an index of them is a fifth as large as one of names, so that fewer of its pages
    /// have to be written for every batch of names, which lie all over it.
    static func tag(_ name: String) -> Int { Int(bitPattern: UInt(name.prefix(16), radix: 16) ?? 0) }

    /// Runs `body` as one transaction that takes the write lock at once. Lines are inserted and deleted only in here:
    /// the totals follow at its end.
    func transaction<Result>(_ body: () throws(IndexFault) -> Result) throws(IndexFault) -> Result {
        try connection.execute("BEGIN IMMEDIATE")
        growth = (0, 0)
        do throws(IndexFault) {
            let result = try body()
            if growth != (0, 0) { try addGrowth() }
            try connection.execute("COMMIT")
            return result
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    private func addGrowth() throws(IndexFault) {
        let update = try connection.statement("UPDATE totals SET entries = entries + ?, bytes = bytes + ?")
        update.bind(growth.entries)
        update.bind(growth.bytes)
        try update.run()
    }

    // MARK: Lines

    func insert(_ row: IndexRow) throws(IndexFault) {
        try delete(name: row.name)
        let insert = try connection.statement(
            """
            INSERT INTO entries(
                name, tag, high, low, key, size, payload, stored, renewed, accessed, expires, format, head)
            VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        insert.bind(row.name)
        insert.bind(Self.tag(row.name))
        insert.bind(Int(bitPattern: UInt(row.digest.high)))
        insert.bind(Int(bitPattern: UInt(row.digest.low)))
        insert.bind(row.key)
        insert.bind(row.size)
        insert.bind(row.payload)
        insert.bind(row.stored)
        insert.bind(row.renewed)
        insert.bind(row.accessed)
        insert.bind(row.expires)
        insert.bind(row.format)
        insert.bind(row.head)
        try insert.run()
        growth.entries += 1
        growth.bytes += row.size
    }

    func delete(name: String) throws(IndexFault) {
        let select = try connection.statement("SELECT id, size FROM entries WHERE tag = ? AND name = ?")
        select.bind(Self.tag(name))
        select.bind(name)
        var found: [(id: Int, size: Int)] = []
        while try select.step() { found.append((select.int(0), select.int(1))) }
        select.reset()
        for line in found {
            let delete = try connection.statement("DELETE FROM entries WHERE id = ?")
            delete.bind(line.id)
            try delete.run()
            growth.entries -= 1
            growth.bytes -= line.size
        }
    }

    /// Deletes lines with one statement.
    func delete(ids: [Int]) throws(IndexFault) {
        let list = ids.map(String.init).joined(separator: ",")
        // Others may have deleted some of them.
        let count = try connection.numbers("SELECT count(*), total(size) FROM entries WHERE id IN (\(list))")
        try connection.execute("DELETE FROM entries WHERE id IN (\(list))")
        growth.entries -= count.first ?? 0
        growth.bytes -= count.last ?? 0
    }

    /// Replaces the head; false where there is no such line.
    func setHead(_ head: [UInt8], name: String, renewed: Double, expires: Double?) throws(IndexFault) -> Bool {
        let update = try connection.statement(
            "UPDATE entries SET head = ?, renewed = ?, accessed = ?, expires = ? WHERE tag = ? AND name = ?")
        update.bind(head)
        update.bind(renewed)
        update.bind(renewed)
        update.bind(expires)
        update.bind(Self.tag(name))
        update.bind(name)
        try update.run()
        return connection.changes > 0
    }

    func touch(name: String, accessed: Double) throws(IndexFault) {
        let update = try connection.statement("UPDATE entries SET accessed = ? WHERE tag = ? AND name = ?")
        update.bind(accessed)
        update.bind(Self.tag(name))
        update.bind(name)
        try update.run()
    }

    /// Forgets everything at once; other processes see the new epoch.
    func removeAll() throws(IndexFault) {
        try transaction { () throws(IndexFault) in
            try connection.execute("DROP TABLE entries")
            try connection.execute(Self.tables)
            try connection.execute("UPDATE totals SET entries = 0, bytes = 0, epoch = epoch + 1")
        }
    }
}
