// SPDX-License-Identifier: MIT

import CSQLite
import Glibc

/// An error that SQLite returned.
struct IndexError: Error, Hashable {
    var code: Int32
    var message: String

    /// Whether the file is corrupt or isn't an index of this version. Such a file is set aside and rebuilt.
    var isDamage: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_MISMATCH].contains(code) }
}

/// A connection to a SQLite database that is confined to one thread.
final class SQLiteConnection {
    private let handle: OpaquePointer
    private var statements: [String: SQLiteStatement] = [:]

    /// Opens a database. The file must exist unless `create` is `true`.
    init(_ path: String, create: Bool, busyMilliseconds: Int32) throws(IndexError) {
        var handle: OpaquePointer?
        let flags =
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | (create ? SQLITE_OPEN_CREATE : 0)
        let code = sqlite3_open_v2(Self.resolved(path), &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw IndexError(code: code & 0xFF, message: String(cString: sqlite3_errstr(code)))
        }
        self.handle = handle
        sqlite3_busy_timeout(handle, busyMilliseconds)
        // Access to a memory-mapped file that another process truncates ends the process with SIGBUS. Statements in the
        // schema of a modified file must not call functions with side effects.
        try execute("PRAGMA mmap_size=0; PRAGMA trusted_schema=0")
    }

    /// Returns a path whose directory contains no symbolic links, because SQLite then rejects all links.
    private static func resolved(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex,
            let folder = realpath(String(path[..<slash]), nil)
        else { return path }
        defer { free(folder) }
        return String(cString: folder) + path[slash...]
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    func execute(_ sql: String) throws(IndexError) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error }
    }

    /// Returns the prepared form of a statement, reset and ready for new values. Each statement is prepared only once.
    func statement(_ sql: String) throws(IndexError) -> SQLiteStatement {
        if let statement = statements[sql] {
            statement.reset()
            return statement
        }
        var pointer: OpaquePointer?
        guard sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil) == SQLITE_OK,
            let pointer
        else { throw error }
        let statement = SQLiteStatement(pointer, handle)
        statements[sql] = statement
        return statement
    }

    /// Returns the first column of the first row as a number, or `nil` if there are no rows.
    func number(_ sql: String) throws(IndexError) -> Int? {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.int(0) : nil
    }

    var changes: Int { Int(sqlite3_changes(handle)) }

    var lastRow: Int { Int(sqlite3_last_insert_rowid(handle)) }

    private var error: IndexError { IndexError(handle) }
}

extension IndexError {
    fileprivate init(_ handle: OpaquePointer) {
        self.init(code: sqlite3_errcode(handle) & 0xFF, message: String(cString: sqlite3_errmsg(handle)))
    }
}

/// A prepared statement of one connection. Values are bound in order, and columns are read by number.
final class SQLiteStatement {
    private let pointer: OpaquePointer
    private let handle: OpaquePointer
    private var bound: Int32 = 0

    fileprivate init(_ pointer: OpaquePointer, _ handle: OpaquePointer) {
        self.pointer = pointer
        self.handle = handle
    }

    deinit { sqlite3_finalize(pointer) }

    func reset() {
        sqlite3_reset(pointer)
        sqlite3_clear_bindings(pointer)
        bound = 0
    }

    private func nextIndex() -> Int32 {
        bound += 1
        return bound
    }

    func bind(_ value: Int) { sqlite3_bind_int64(pointer, nextIndex(), Int64(value)) }

    func bind(_ value: Int?) {
        if let value { bind(value) } else { bindNull() }
    }

    func bind(_ value: Double?) {
        if let value { sqlite3_bind_double(pointer, nextIndex(), value) } else { bindNull() }
    }

    func bind(_ value: String?) {
        guard var value else { return bindNull() }
        _ = value.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                wi_sqlite_bind_text(pointer, nextIndex(), $0.baseAddress, Int32(clamping: $0.count))
            }
        }
    }

    func bind(_ value: [UInt8]?) {
        guard let value else { return bindNull() }
        _ = value.withUnsafeBytes {
            wi_sqlite_bind_blob(pointer, nextIndex(), $0.baseAddress, Int32(clamping: $0.count))
        }
    }

    private func bindNull() { sqlite3_bind_null(pointer, nextIndex()) }

    /// Advances to the next row. Returns `false` after the last row.
    func step() throws(IndexError) -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let fault = IndexError(handle)
            sqlite3_reset(pointer)
            throw fault
        }
    }

    func run() throws(IndexError) {
        _ = try step()
        reset()
    }

    func int(_ column: Int32) -> Int { Int(sqlite3_column_int64(pointer, column)) }
    func double(_ column: Int32) -> Double { sqlite3_column_double(pointer, column) }
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }
    func text(_ column: Int32) -> String { sqlite3_column_text(pointer, column).map { String(cString: $0) } ?? "" }

    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(pointer, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column)))
    }
}
