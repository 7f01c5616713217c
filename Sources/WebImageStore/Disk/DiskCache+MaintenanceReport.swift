// SPDX-License-Identifier: MIT

import WebImageCore

/// A closure that receives the progress of a long operation.
///
/// The arguments are the number of finished units and the total, which may change during the operation. The cache calls
/// the closure on its own threads, so it must not block.
package typealias DiskProgress = @Sendable (_ done: Int, _ total: Int) -> Void

/// The order in which ``DiskCache/entries(matching:sortedBy:)`` returns entries.
package enum DiskEntryOrder: Sendable, Hashable, CaseIterable {
    /// The most recently used entry first.
    case lastUse
    /// The largest entry first.
    case size
    /// The entry with the earliest store date first.
    case age
    /// Ordered by host and, within a host, by source. Entries without a host are last.
    case host
}

extension DiskCache {
    /// The result of an operation that removes, verifies, exports, or imports entries.
    public struct MaintenanceReport: Sendable, Hashable {
        /// The number of entries that were removed, verified, exported, or imported.
        public package(set) var entryCount = 0
        /// The size of these entries in bytes. Removals count the bytes that the entries occupied on disk,
        /// verifications count the sizes of the files, and exports and imports count the sizes of the encoded images.
        public package(set) var size = 0
        /// The number of corrupt entries that were removed.
        public package(set) var corruptCount = 0
        /// The number of intact entries that were missing from the index and were added to it.
        public package(set) var recoveredCount = 0
        /// The errors of the files that an import rejected or couldn't read, by file name or path.
        public package(set) var failures: [String: ImageError] = [:]
        /// The number of index rows without a file that were removed.
        package var missingCount = 0
        /// The number of skipped entries. An export skips entries that aren't images. An import skips entries that
        /// aren't newer than the cached ones.
        package var skippedCount = 0

        /// Creates a report of an operation that did nothing.
        package init() {}
    }
}
