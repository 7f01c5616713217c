// SPDX-License-Identifier: MIT

/// A closure that receives the progress of a long operation.
///
/// The arguments are the number of finished units and the total, which may change during the operation. The cache calls
/// the closure on its own threads, so it must not block.
package typealias DiskProgress = @Sendable (_ done: Int, _ total: Int) -> Void

/// The entries that an operation removed.
public struct DiskRemoval: Sendable, Hashable {
    /// The number of removed entries.
    public var entryCount = 0
    /// The number of bytes that the removed entries occupied on disk.
    public var size = 0

    /// Creates a value for an operation that removed nothing.
    package init() {}

    /// Creates a value with the given counts.
    package init(entries: Int, bytes: Int) {
        self.entryCount = entries
        self.size = bytes
    }
}

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
