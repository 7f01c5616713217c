// SPDX-License-Identifier: MIT

import WebImageHTTP

/// A line of the index.
struct IndexRow {
    var name: String
    var digest: CacheKey.Digest
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
    /// Newer than the file's, after a 304.
    var head: [UInt8]?
}

/// A change of the index that waits for the next batch.
enum RowChange {
    case insert(IndexRow)
    case delete(name: String)
    case head(key: CacheKey, name: String, ticket: UInt64, StoredHead, renewed: Double, expires: Double?)
    case touch(name: String, Double)
}

/// What eviction needs to know of a line.
struct EvictionCandidate {
    var id: Int
    var name: String
    var digest: CacheKey.Digest
    var size: Int
}
