// SPDX-License-Identifier: MIT

import WebImageHTTP

/// A row of the index.
struct IndexRow {
    var name: String
    var digest: CacheKey.StoredDigest
    var key: String
    /// The size on disk in bytes.
    var size: Int
    var payload: Int
    /// The store time in seconds since 1970, bit for bit the same as in the file.
    var stored: Double
    /// The time when the entry was stored or revalidated. The age of an entry is relative to this time.
    var renewed: Double
    var accessed: Double
    var expires: Double?
    /// The time to live of the entry in seconds, or `nil` if it has none of its own.
    var lifetime: Double?
    var format: String?
    var tags: Set<String> = []
    /// The values that are newer than the file.
    var update = EntryMetadataUpdate()
}

/// A change of the index that waits for the next batch.
enum IndexChange {
    case insert(IndexRow)
    case delete(name: String)
    case update(key: CacheKey, name: String, ticket: UInt64, EntryMetadataUpdate, renewed: Double)
    case touch(name: String, Double)
}

/// A row and the time when its entry was last used.
struct LastAccess {
    var id: Int
    var accessed: Double
    /// The time by which rows are sorted, which is the time of the last use or revalidation.
    var time: Double
}

/// The values of a row that are needed to delete its entry.
struct EvictionCandidate: Sendable {
    /// The id of the row. If another row replaces this one, it has a different id.
    var id: Int
    /// The path of the file relative to the directory of all entries.
    var path: EntryPath
    var digest: CacheKey.StoredDigest
    var size: Int
    /// The time of the last use, as stored in the row.
    var accessed: Double
}
