// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

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

extension IndexRow {
    init(_ entry: CacheEntry, name: String, size: Int) {
        let stored = entry.storedAt.timeIntervalSince1970
        self.init(
            name: name, digest: entry.key.storedDigest, key: entry.key.canonical, size: size, payload: entry.data.count,
            stored: stored, renewed: max(stored, entry.head?.responseTime.timeIntervalSince1970 ?? stored),
            accessed: stored, expires: entry.head?.expiry?.timeIntervalSince1970, lifetime: entry.lifetime,
            format: entry.format?.rawValue, tags: entry.tags)
    }
}

/// A change of the index that waits for the next batch.
enum IndexChange {
    case insert(IndexRow)
    /// The file of the entry was deleted or is missing. The row is deleted unless the file exists again.
    case delete(name: String)
    /// The file of the entry couldn't be deleted. The row is deleted anyway, because the entry must not return.
    case hide(name: String)
    case update(key: CacheKey, name: String, ticket: UInt64, EntryMetadataUpdate, renewed: Double)

    var addedBytes: Int { if case .insert(let row) = self { row.size } else { 0 } }
}

/// A row and the value by which it's sorted for an eviction.
struct EvictionOrder {
    var id: Int
    /// The time of the last use, in seconds since 1970.
    var accessed: Double
    /// The rank of the entry, or the time from which its age is counted.
    var value: Double
}

/// The values of a row that are needed to delete its entry.
struct EvictionCandidate: Sendable {
    /// The id of the row. If another row replaces this one, it has a different id.
    var id: Int
    var path: EntryPath
    var digest: CacheKey.StoredDigest
    var size: Int
    var accessed: Double
    var tag: Int
    var uses: Int
    var rank: Double
    var isExpired = false
}
