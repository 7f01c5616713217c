// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

extension DiskCache {
    /// All entries, most recently used first.
    public func entries() async -> [DiskEntrySummary] { await lines().map(\.summary) }

    /// The entries whose source matches `glob`: `*` stands for any characters, `?` for one, `[a-z]` for one of several
    /// (glob(7), but `*` matches slashes too).
    public func entries(matching glob: String?, sortedBy order: DiskEntryOrder = .lastUse) async -> [DiskEntrySummary] {
        let lines = await lines()
        let sorted = await readers.run { _ in
            let matching = lines.map(\.summary).filter { summary in glob.map { summary.source.matches($0) } ?? true }
            return matching.sorted(by: order)
        }
        return sorted ?? []
    }

    /// Removes the entries for which `matches` holds, but for those that are stored again meanwhile. `progress` counts
    /// entries. Cancelling the task ends the work early.
    ///
    /// - Parameter matches: called on a thread of the cache.
    /// - Returns: what was removed.
    @discardableResult
    public func remove(
        progress: DiskProgress? = nil, where matches: @escaping @Sendable (DiskEntrySummary) -> Bool
    ) async -> DiskRemoval {
        let lines = await lines()
        let ids = await readers.run { _ in lines.filter { matches($0.summary) }.map(\.id) } ?? []
        return await remove(ids, progress)
    }

    /// Removes the entries whose keys are `key` with more fields behind: what was made of its bytes.
    @discardableResult
    public func remove(derivedFrom key: CacheKey) async -> DiskRemoval {
        await settle()
        let ids = await withCheckedContinuation { continuation in
            let accepted = state.enqueueIfOpen(
                .describe { index, _ in continuation.resume(returning: (try? index?.ids(below: key)) ?? []) })
            if !accepted { continuation.resume(returning: []) }
        }
        return ids.isEmpty ? DiskRemoval() : await remove(ids, nil)
    }

    private func remove(_ ids: [Int], _ progress: DiskProgress?) async -> DiskRemoval {
        var removal = DiskRemoval()
        for start in stride(from: 0, to: ids.count, by: 256) where !Task.isCancelled {
            let slice = Array(ids[start..<min(start + 256, ids.count)])
            let part = await withCheckedContinuation { continuation in
                if !state.enqueueIfOpen(.discard(slice) { continuation.resume(returning: $0) }) {
                    continuation.resume(returning: DiskRemoval())
                }
            }
            removal.entries += part.entries
            removal.bytes += part.bytes
            progress?(start + slice.count, ids.count)
        }
        return removal
    }

    /// Removes the entries that were stored at least `seconds` ago, however they were used or revalidated since.
    @discardableResult
    public func remove(storedBefore seconds: Double) async -> DiskRemoval {
        let cutoff = state.clock.now().addingTimeInterval(-seconds)
        return await remove { $0.stored <= cutoff }
    }

    /// Removes the entries of `host` and of the hosts below it: `example.org` stands for `www.example.org` too.
    @discardableResult
    public func remove(host: String) async -> DiskRemoval {
        let wanted = host.lowercased()
        return await remove { $0.isFrom(host: wanted) }
    }

    /// Removes the entries that were stored with `tag`.
    @discardableResult
    public func remove(tag: String) async -> DiskRemoval { await remove { $0.tags.contains(tag) } }

    /// The entry of `key` as it is on disk. Counts neither as a read nor as use.
    package func inspect(_ key: CacheKey) async -> DiskEntry? { await readers.run { $0.peek(key) } ?? nil }

    /// All lines of the index.
    private func lines() async -> [(id: Int, summary: DiskEntrySummary)] {
        await settle()
        return await withCheckedContinuation { continuation in
            let accepted = state.enqueueIfOpen(
                .describe { index, _ in continuation.resume(returning: (try? index?.summaries()) ?? []) })
            if !accepted { continuation.resume(returning: []) }
        }
    }
}

extension DiskEntrySummary {
    /// Whether ``host`` is `host`, which is in lower case, or below it.
    public func isFrom(host wanted: String) -> Bool {
        guard let host else { return false }
        return host == wanted || host.hasSuffix(".\(wanted)")
    }
}

extension [DiskEntrySummary] {
    fileprivate func sorted(by order: DiskEntryOrder) -> [DiskEntrySummary] {
        switch order {
        case .lastUse: self
        case .size: sorted { ($0.bytes, $0.payloadBytes) > ($1.bytes, $1.payloadBytes) }
        case .age: sorted { $0.stored < $1.stored }
        case .host:
            map { (host: $0.host, source: $0.source, summary: $0) }.sorted { left, right in
                guard left.host != right.host else { return left.source < right.source }
                guard let mine = left.host, let other = right.host else { return left.host != nil }
                return mine < other
            }.map(\.summary)
        }
    }
}

extension String {
    fileprivate func matches(_ glob: String) -> Bool { fnmatch(glob, self, 0) == 0 }
}
