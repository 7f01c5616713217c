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
        public let entryCount: Int
        /// The number of bytes that the entries occupy on disk.
        public let size: Int
        /// The maximum of ``size``.
        public let sizeLimit: Int
        /// The store date of the oldest entry, or `nil` if the cache is empty.
        public let oldestEntryDate: Date?
        /// The file URL of the cache directory.
        public let directory: URL
        /// The event counters of this process.
        package let counters: Counters
        /// The number of reads by all processes that found an entry since the index was created.
        public let hits: Int
        /// The number of reads by all processes that found no entry since the index was created.
        public let misses: Int
        /// The ratio of hits to all reads, from 0 to 1, or `nil` before the first read.
        public var hitRate: Double? {
            let reads = hits + misses
            return reads > 0 ? Double(hits) / Double(reads) : nil
        }
        /// The reason why writing is paused, or `nil` if it isn't paused.
        public let suspensionReason: String?

        init(
            entryCount: Int, size: Int, sizeLimit: Int, oldestEntryDate: Date?, directory: URL, counters: Counters,
            hits: Int = 0, misses: Int = 0, suspensionReason: String?
        ) {
            self.entryCount = entryCount
            self.size = size
            self.sizeLimit = sizeLimit
            self.oldestEntryDate = oldestEntryDate
            self.directory = directory
            self.counters = counters
            self.hits = hits
            self.misses = misses
            self.suspensionReason = suspensionReason
        }
    }
}
