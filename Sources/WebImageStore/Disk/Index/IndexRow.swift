// SPDX-License-Identifier: MIT

import WebImageHTTP

/// A line of the index.
struct IndexRow {
    var name: String
    var digest: CacheKey.StoredDigest
    var key: String
    /// Bytes on disk.
    var size: Int
    var payload: Int
    /// Seconds since 1970, as in the file, bit for bit.
    var stored: Double
    /// When it was stored or revalidated; ages count from here.
    var renewed: Double
    var accessed: Double
    var expires: Double?
    var format: String?
    var tags: Set<String> = []
    /// What is newer than the file.
    var update = EntryUpdate()
}

/// A change of the index that waits for the next batch.
enum RowChange {
    case insert(IndexRow)
    case delete(name: String)
    case update(key: CacheKey, name: String, ticket: UInt64, EntryUpdate, renewed: Double)
    case touch(name: String, Double)
}

/// A line and when its entry was last used.
struct LastUse {
    var id: Int
    var accessed: Double
    /// What lines are sorted by: when they were used, or confirmed.
    var time: Double
}

/// What deleting an entry needs to know of its line.
struct EvictionCandidate: Sendable {
    /// A line that replaces another has another one.
    var id: Int
    /// Its file, relative to the folder of all entries.
    var place: EntryPlace
    var digest: CacheKey.StoredDigest
    var size: Int
    /// When it was used last, as its line says.
    var accessed: Double
}
