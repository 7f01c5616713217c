// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency

/// Publishes the contents of the index to the readers, including the entries that other processes added.
final class KnownEntryPublisher {
    private let state: DiskCacheState
    private var seenVersion = 0
    private var seenEpoch = 0
    private var seenID = 0

    init(_ state: DiskCacheState) { self.state = state }

    /// Publishes the entries that other processes added. Returns `false` if another process removed all entries.
    func refresh(from index: CacheIndex) throws(IndexError) -> Bool {
        // Read the time first, because other processes may commit changes during the queries.
        let began = state.uptime
        let version = try index.dataVersion()
        guard version != seenVersion else {
            state.shared.withLock { $0.refreshed = began }
            return true
        }
        seenVersion = version
        if try index.totals().epoch != seenEpoch {
            // The process that removed all entries replaced the salt, too.
            state.cipher?.refresh()
            return false
        }
        let news = try index.load(after: seenID)
        seenID = news.last
        state.shared.withLock { state in
            state.known.formUnion(news.digests)
            state.updated.formUnion(news.updated)
            state.refreshed = began
        }
        return true
    }

    func publishAll(of index: CacheIndex) throws(IndexError) {
        let began = state.uptime
        seenEpoch = try index.totals().epoch
        seenVersion = try index.dataVersion()
        let all = try index.load(after: 0)
        seenID = all.last
        var known = Set(all.digests)
        state.shared.withLock { state in
            known.formUnion(state.staging.digests)
            state.known = known
            state.updated = Set(all.updated)
            // If the index doesn't contain the entries of other processes, no entry is known to be absent.
            state.isLoaded = !self.state.isFilesOnly
            state.refreshed = began
        }
    }

    func recordRemoval(from index: CacheIndex?) {
        if let epoch = try? index?.totals().epoch { seenEpoch = epoch }
    }
}
