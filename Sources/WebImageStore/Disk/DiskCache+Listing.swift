// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

extension DiskCache {
    /// Returns all entries, beginning with the most recently used one.
    public func entries() async -> [DiskCache.EntryInfo] { await lines().map(\.summary) }

    /// Returns the entries whose source matches a pattern.
    ///
    /// - Parameters:
    ///   - glob: A pattern as in glob(7), in which `*` matches any characters, including slashes, `?` matches one
    ///     character, and `[a-z]` matches one of several characters. If it's `nil`, all entries match.
    ///   - order: The order of the entries. The default is ``DiskEntryOrder/lastUse``.
    package func entries(matching glob: String?, sortedBy order: DiskEntryOrder = .lastUse) async -> [DiskCache
        .EntryInfo]
    {
        let lines = await lines()
        let sorted = await readers.run { _ in
            let matching = lines.map(\.summary).filter { summary in glob.map { summary.source.matches($0) } ?? true }
            return matching.sorted(by: order)
        }
        return sorted ?? []
    }

    /// Removes the entries for which a closure returns `true`, except those that are stored again in the meantime.
    ///
    /// Canceling the current task ends the removal early.
    ///
    /// - Parameter predicate: A closure that returns whether to remove an entry. The cache calls it on one of its
    ///   threads.
    /// - Returns: The number of removed entries and their size.
    @discardableResult
    public func remove(where predicate: @escaping @Sendable (EntryInfo) -> Bool) async -> MaintenanceReport {
        await remove(progress: nil, where: predicate)
    }

    /// Removes the entries for which a closure returns `true`, except those that are stored again in the meantime.
    ///
    /// Canceling the current task ends the removal early.
    ///
    /// - Parameters:
    ///   - progress: A closure that receives the progress in entries.
    ///   - matches: A closure that returns whether to remove an entry. The cache calls it on one of its threads.
    /// - Returns: The number of removed entries and their size.
    @discardableResult
    package func remove(
        progress: DiskProgress?, where matches: @escaping @Sendable (DiskCache.EntryInfo) -> Bool
    ) async -> DiskCache.MaintenanceReport {
        let lines = await lines()
        let ids = await readers.run { _ in lines.filter { matches($0.summary) }.map(\.id) } ?? []
        return await remove(ids, progress)
    }

    /// Removes the entries whose keys consist of `key` followed by additional fields, that is, the images derived from
    /// its data.
    @discardableResult
    package func remove(derivedFrom key: CacheKey) async -> DiskCache.MaintenanceReport {
        await settle()
        let ids = await withCheckedContinuation { continuation in
            let accepted = state.enqueueIfOpen(
                .describe { index, _ in continuation.resume(returning: (try? index?.ids(below: key)) ?? []) })
            if !accepted { continuation.resume(returning: []) }
        }
        return ids.isEmpty ? DiskCache.MaintenanceReport() : await remove(ids, nil)
    }

    private func remove(_ ids: [Int], _ progress: DiskProgress?) async -> DiskCache.MaintenanceReport {
        var removal = DiskCache.MaintenanceReport()
        for start in stride(from: 0, to: ids.count, by: 256) where !Task.isCancelled {
            let slice = Array(ids[start..<min(start + 256, ids.count)])
            let part = await withCheckedContinuation { continuation in
                if !state.enqueueIfOpen(.discard(slice) { continuation.resume(returning: $0) }) {
                    continuation.resume(returning: DiskCache.MaintenanceReport())
                }
            }
            removal.entryCount += part.entryCount
            removal.size += part.size
            progress?(start + slice.count, ids.count)
        }
        return removal
    }

    /// Removes the entries that were stored before a date, regardless of later use or revalidation.
    @discardableResult
    public func remove(storedBefore date: Date) async -> DiskCache.MaintenanceReport {
        await remove { $0.storedAt < date }
    }

    /// Removes the entries of a host and its subdomains. For example, `example.org` includes `www.example.org`.
    @discardableResult
    public func remove(host: String) async -> DiskCache.MaintenanceReport {
        let wanted = HostName(host)?.text ?? host
        return await remove { $0.isFrom(host: wanted) }
    }

    /// Removes the entries that were stored with a tag.
    @discardableResult
    public func remove(tag: String) async -> DiskCache.MaintenanceReport { await remove { $0.tags.contains(tag) } }

    /// Returns the entry of a key from disk. The call counts neither as a read nor as a use.
    package func inspect(_ key: CacheKey) async -> CacheEntry? { await readers.run { $0.peek(key) } ?? nil }

    private func lines() async -> [(id: Int, summary: DiskCache.EntryInfo)] {
        await settle()
        return await withCheckedContinuation { continuation in
            let accepted = state.enqueueIfOpen(
                .describe { index, _ in continuation.resume(returning: (try? index?.summaries()) ?? []) })
            if !accepted { continuation.resume(returning: []) }
        }
    }
}

extension DiskCache.EntryInfo {
    /// Returns whether ``host`` is a host, given in the normal form, or one of its subdomains.
    package func isFrom(host wanted: String) -> Bool {
        guard let host else { return false }
        return host == wanted || host.hasSuffix(".\(wanted)")
    }
}

extension [DiskCache.EntryInfo] {
    fileprivate func sorted(by order: DiskEntryOrder) -> [DiskCache.EntryInfo] {
        switch order {
        case .lastUse: self
        case .size: sorted { ($0.diskSize, $0.dataSize) > ($1.diskSize, $1.dataSize) }
        case .age: sorted { $0.storedAt < $1.storedAt }
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
