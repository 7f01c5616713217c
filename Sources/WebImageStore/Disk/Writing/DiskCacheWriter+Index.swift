// SPDX-License-Identifier: MIT

import CSQLite
import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// Batches, and synchronization with other processes.
extension DiskCacheWriter {
    /// The maximum number of pending changes while the index can't be written. Beyond it, a later reconciliation with
    /// the files repairs the index.
    private static let changeLimit = 8_192

    /// Writes the pending changes, access times, and read counts in one transaction.
    func commit() {
        let (accesses, hits, misses) = state.shared.withLock { state in
            defer { state.accesses = [:] }
            return (state.accesses, state.counters.hits, state.counters.misses)
        }
        guard let index else { return discardChanges() }
        let reads = (hits: hits - countedReads.hits, misses: misses - countedReads.misses)
        // Read counts alone don't justify a transaction before the cache is closed.
        guard !changes.isEmpty || !accesses.isEmpty || (isClosing && reads != (0, 0)) else { return steps.committed() }
        do throws(IndexError) {
            try index.transaction { () throws(IndexError) in
                for change in changes where try !apply(change, to: index) {
                    if let row = adopted(change) { try index.insert(row) }
                }
                for access in accesses.values {
                    try index.touch(name: access.name, accessed: access.time, uses: access.count)
                }
                if reads != (0, 0) { try index.count(hits: reads.hits, misses: reads.misses) }
            }
            countedReads = (hits, misses)
            committed()
            checkSize()
        } catch {
            indexFailed(error)
        }
    }

    private func committed() {
        steps.committed()
        let done = changes
        changes = []
        state.shared.withLock { state in
            for case .update(let key, _, let ticket, _, _) in done {
                state.updated.insert(key.storedDigest)
                state.staging.finish(key, ticket: ticket)
            }
        }
    }

    /// Discards the pending changes because there is no index. A later reconciliation finds the files again.
    private func discardChanges() {
        committed()
        guard uptime >= retryIndexAfter else { return }
        retryIndexAfter = uptime + 60
        retryIndex()
    }

    /// Applies a change to the index. Returns `false` if the index doesn't contain the entry.
    private func apply(_ change: IndexChange, to index: CacheIndex) throws(IndexError) -> Bool {
        switch change {
        case .insert(let row): try index.insert(row)
        case .delete(let name):
            // Another process may have stored the entry again. It writes the file before the row, so its file exists.
            if (try? files.status(at: layout.entry(name))) == nil { try index.delete(name: name) }
        case .hide(let name): try index.delete(name: name)
        case .update(_, let name, _, let update, let renewed):
            return try index.update(update, name: name, renewed: renewed)
        }
        return true
    }

    /// Returns a row, including the update, for an entry whose file exists but isn't in the index yet.
    private func adopted(_ change: IndexChange) -> IndexRow? {
        guard case .update(_, let name, _, let update, let renewed) = change, var row = describe(name) else {
            return nil
        }
        row.update = update
        if let head = update.head {
            row.renewed = renewed
            row.expires = head.expiry?.timeIntervalSince1970
        }
        return row
    }

    /// Deletes the files that have no index rows yet. They occupy the space that the index needs, and files without
    /// rows would never be evicted.
    private func discardUnindexedFiles() {
        var gone: [CacheKey.StoredDigest] = []
        changes = changes.map { change in
            guard case .insert(let row) = change else { return change }
            try? files.remove(layout.entry(row.name))
            gone.append(row.digest)
            return .delete(name: row.name)
        }
        readSpace()
        state.shared.withLock { state in
            let waiting = Set(state.staging.digests)
            state.counters.dropped += gone.count
            for digest in gone {
                state.verified[digest] = nil
                if !waiting.contains(digest) { state.known.remove(digest) }
            }
        }
    }

    func indexFailed(_ fault: IndexError) {
        steps.commitFailed(now: uptime)
        switch fault.code {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_INTERRUPT: break
        case SQLITE_FULL:
            discardUnindexedFiles()
            failed(ENOSPC)
        case SQLITE_IOERR, SQLITE_CANTOPEN: failed(EIO)
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: failed(EACCES)
        default: if fault.isDamage { replaceIndex() }
        }
        if changes.count > Self.changeLimit {
            changes.removeFirst(changes.count - Self.changeLimit)
            steps.isReconciling = true
            reconciliation = reconciliation ?? IndexReconciliation(publishing: false)
        }
    }

    // MARK: Other processes

    /// Checks whether other processes changed the index and loads the entries that they added.
    func refresh() {
        guard let index, reconciliation == nil else { return }
        let began = uptime
        do throws(IndexError) {
            let version = try index.dataVersion()
            guard version != seenVersion else { return state.shared.withLock { $0.refreshed = began } }
            seenVersion = version
            if try index.totals().epoch != seenEpoch {
                state.cipher?.refresh()
                return publishKnown()
            }
            let news = try index.load(after: seenID)
            seenID = news.last
            state.shared.withLock { state in
                state.known.formUnion(news.digests)
                state.updated.formUnion(news.updated)
                state.refreshed = began
            }
        } catch {
            indexFailed(error)
        }
    }

    /// Publishes the contents of the index to the readers.
    func publishKnown() {
        commit()
        guard let index else { return }
        let began = uptime
        do throws(IndexError) {
            let totals = try index.totals()
            seenEpoch = totals.epoch
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
        } catch {
            indexFailed(error)
        }
    }
}
