// SPDX-License-Identifier: MIT

/// Told how far long work is: the units done and those there are, which may change on the way. Called on threads of the
/// cache, which must not be held up.
public typealias DiskProgress = @Sendable (_ done: Int, _ total: Int) -> Void

/// What was removed.
public struct DiskRemoval: Sendable, Hashable {
    /// Entries removed.
    public var entries = 0
    /// Bytes they occupied on disk.
    public var bytes = 0

    /// Nothing.
    public init() {}

    /// Creates a sum.
    public init(entries: Int, bytes: Int) {
        self.entries = entries
        self.bytes = bytes
    }
}

/// In which order ``DiskCache/entries(matching:sortedBy:)`` lists.
public enum DiskEntryOrder: Sendable, Hashable, CaseIterable {
    /// Most recently used first.
    case lastUse
    /// Largest first.
    case size
    /// Stored longest ago first.
    case age
    /// By host, those without one last; within a host by source.
    case host
}
