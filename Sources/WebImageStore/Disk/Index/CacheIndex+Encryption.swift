// SPDX-License-Identifier: MIT

import CSQLite
import WebImageCore
import WebImageHTTP

/// The columns that are encrypted if the cache has an encryption key.
extension CacheIndex {
    func sealed(_ digest: CacheKey.StoredDigest) throws(IndexError) -> CacheKey.StoredDigest {
        guard let cipher else { return digest }
        guard let sealed = cipher.sealed(digest) else { throw Self.outOfMemory }
        return sealed
    }

    func sealed(
        _ bytes: [UInt8]?, _ column: CacheCipher.Column, _ name: String
    ) throws(IndexError) -> [UInt8]? {
        guard let cipher, let bytes else { return bytes }
        guard let sealed = cipher.seal(bytes, column, name: name) else { throw Self.outOfMemory }
        return sealed
    }

    private static var outOfMemory: IndexError { IndexError(code: SQLITE_NOMEM, message: "encryption failed") }

    /// Returns the result of a closure for the original form of a value, or `nil` if the value is null or was modified.
    func opened<Value>(
        _ statement: SQLiteStatement, _ index: Int32, _ column: CacheCipher.Column, _ name: String,
        _ body: (UnsafeRawBufferPointer) -> Value
    ) -> Value? {
        guard !statement.isNull(index) else { return nil }
        let bytes = statement.blob(index)
        guard let cipher else { return body(bytes) }
        if let opened = cipher.open(bytes, column, name: name) { return opened.withUnsafeBytes(body) }
        // Another process may have replaced the salt.
        cipher.refresh()
        return cipher.open(bytes, column, name: name)?.withUnsafeBytes(body)
    }

    /// Binds the format, the key, and the tags of a row. With encryption, one value contains all of them.
    func bindDescription(of row: IndexRow, _ insert: SQLiteStatement) throws(IndexError) {
        let tags = row.tags.isEmpty ? nil : CacheKey(row.tags.sorted()).canonical
        guard cipher != nil else {
            insert.bind(row.format)
            insert.bind(row.key)
            return insert.bind(tags)
        }
        var writer = BinaryWriter()
        for text in [row.key, row.format ?? "", tags ?? ""] { writer.put(text) }
        insert.bind(nil as String?)
        insert.bind(try sealed(writer.bytes, .description, row.name))
        insert.bind(nil as String?)
    }

    /// The statement has the columns `key`, `format`, `tags`, and `name`. Returns `nil` if the row was modified.
    func description(_ select: SQLiteStatement) -> (key: String, format: String?, tags: String?)? {
        guard let cipher else {
            return (
                select.text(0), select.isNull(1) ? nil : select.text(1), select.isNull(2) ? nil : select.text(2)
            )
        }
        let name = HexadecimalName.name(select.blob(3))
        guard let bytes = cipher.open(select.blob(0), .description, name: name) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            var reader = BinaryReader(bytes)
            guard let key = try? reader.text(), let format = try? reader.text(), let tags = try? reader.text() else {
                return nil
            }
            return (key, format.isEmpty ? nil : format, tags.isEmpty ? nil : tags)
        }
    }
}

extension CacheKey {
    /// Returns whether this key consists of another key followed by additional fields.
    func isDerived(from key: CacheKey) -> Bool {
        let (own, prefix) = (canonical.utf8, key.canonical.utf8)
        // An additional field begins with the digits of its length.
        return own.starts(with: prefix) && own.dropFirst(prefix.count).first.map { $0 < UInt8(ascii: ":") } ?? false
    }
}
