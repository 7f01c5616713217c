// SPDX-License-Identifier: MIT

import Foundation

extension DiskCache {
    /// The state of a disk cache.
    public struct Info: Sendable, Hashable {
        /// The number of events since this process opened the cache.
        package struct Counters: Sendable, Hashable {
            /// The number of reads that found an entry.
            package var hits = 0
            /// The number of reads that found no entry.
            package var misses = 0
            /// The number of entries written to disk.
            package var written = 0
            /// The number of corrupt entries that were found and deleted.
            package var corrupt = 0
            /// The number of entries deleted because of a limit.
            package var evicted = 0
            /// The number of entries that weren't stored because they were too large, too many writes were pending,
            /// writing was paused, or the system reported an error.
            package var dropped = 0

            /// Creates counters that are all zero.
            package init() {}
        }

        /// The number of entries on disk, including those of other processes.
        public var entryCount: Int
        /// The number of bytes that the entries occupy on disk.
        public var size: Int
        /// The maximum of ``size``.
        public var sizeLimit: Int
        /// The store date of the oldest entry, or `nil` if the cache is empty.
        public var oldestEntryDate: Date?
        /// The file URL of the cache directory.
        public var directory: URL
        /// The event counters of this process.
        package var counters: Counters
        /// The number of reads by all processes that found an entry since the index was created.
        public var hits = 0
        /// The number of reads by all processes that found no entry since the index was created.
        public var misses = 0
        /// The ratio of hits to all reads, from 0 to 1, or `nil` before the first read.
        public var hitRate: Double? {
            let reads = hits + misses
            return reads > 0 ? Double(hits) / Double(reads) : nil
        }
        /// The reason why writing is paused, or `nil` if it isn't paused.
        public var suspensionReason: String?
    }
}
