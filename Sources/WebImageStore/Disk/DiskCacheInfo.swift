// SPDX-License-Identifier: MIT

import Foundation

/// The state of a disk cache.
public struct DiskCacheInfo: Sendable, Hashable {
    /// What happened since the cache was opened by this process.
    public struct Counters: Sendable, Hashable {
        /// Reads that gave an entry.
        public var hits = 0
        /// Reads that gave none.
        public var misses = 0
        /// Entries written to disk.
        public var written = 0
        /// Damaged entries met and deleted.
        public var corrupt = 0
        /// Entries deleted because of a limit.
        public var evicted = 0
        /// Entries not stored: too large, too many waiting, writing paused, or refused by the system.
        public var dropped = 0

        /// All zero.
        public init() {}
    }

    /// Entries on disk, of all processes.
    public var entries: Int
    /// Bytes they occupy.
    public var bytes: Int
    /// The limit of `bytes`.
    public var limit: Int
    /// When the oldest entry was stored; nil while there is none.
    public var oldest: Date?
    /// The cache's folder.
    public var path: String
    /// Events of this process.
    public var counters: Counters
    /// Reads of all processes that gave an entry, since the index was made.
    public var totalHits = 0
    /// Reads of all processes that gave none, since the index was made.
    public var totalMisses = 0
    /// The share of all reads that gave an entry, 0…1; nil before the first.
    public var hitRate: Double? {
        let reads = totalHits + totalMisses
        return reads > 0 ? Double(totalHits) / Double(reads) : nil
    }
    /// Why writing pauses; nil while it does not.
    public var suspended: String?
}

/// What ``DiskCache/verify()`` found.
public struct VerifyReport: Sendable, Hashable {
    /// Files read.
    public var checked = 0
    /// Damaged files deleted.
    public var damaged = 0
    /// Whole files that the index did not know and knows now.
    public var adopted = 0
    /// Lines of the index without a file, removed.
    public var missing = 0

    /// All zero.
    public init() {}
}
