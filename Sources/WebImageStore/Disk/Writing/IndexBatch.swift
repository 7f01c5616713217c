// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageHTTP

/// The changes of the index that wait for the next transaction.
final class IndexBatch {
    /// The maximum number of pending changes while the index can't be written. Beyond it, a later reconciliation with
    /// the files repairs the index.
    private static let limit = 8_192

    private let state: DiskCacheState
    private let space: SpaceReserve
    private var changes: [IndexChange] = []
    /// The reads that the index already includes.
    private var countedReads = (hits: 0, misses: 0)

    init(_ state: DiskCacheState, _ space: SpaceReserve) {
        self.state = state
        self.space = space
    }

    func add(_ change: IndexChange) { changes.append(change) }
    func removeAll() { changes = [] }

    /// Returns `false` if there was no transaction. Without an index, the changes are discarded, and a later
    /// reconciliation finds the files again. Read counts alone justify a transaction only if it's the last one.
    func commit(to index: CacheIndex?, isLast: Bool) throws(IndexError) -> Bool {
        let (accesses, hits, misses) = state.shared.withLock { state in
            // If the transaction fails, these accesses are lost, which only affects evictions.
            defer { state.accesses = [:] }
            return (state.accesses, state.counters.hits, state.counters.misses)
        }
        guard let index else {
            finish()
            return false
        }
        let reads = (hits: hits - countedReads.hits, misses: misses - countedReads.misses)
        guard !changes.isEmpty || !accesses.isEmpty || (isLast && reads != (0, 0)) else { return false }
        try index.transaction { () throws(IndexError) in
            for change in changes { try apply(change, to: index) }
            for access in accesses.values {
                try index.touch(name: access.name, accessed: access.time, uses: access.count)
            }
            if reads != (0, 0) { try index.count(hits: reads.hits, misses: reads.misses) }
        }
        countedReads = (hits, misses)
        finish()
        return true
    }

    private func finish() {
        let done = changes
        changes = []
        state.shared.withLock { state in
            for case .update(let key, _, let ticket, _, _) in done {
                // From now on, reads apply the values of the row instead of the pending update.
                state.updated.insert(key.storedDigest)
                state.staging.finish(key, ticket: ticket)
            }
        }
    }

    private func apply(_ change: IndexChange, to index: CacheIndex) throws(IndexError) {
        switch change {
        case .insert(let row): try index.insert(row)
        case .delete(let name):
            // Another process may have stored the entry again. It writes the file before the row, so its file exists.
            if (try? state.files.status(at: state.layout.entry(name))) == nil { try index.delete(name: name) }
        case .hide(let name): try index.delete(name: name)
        case .update(_, let name, _, let update, let renewed):
            // The file may exist although the entry isn't in the index yet.
            guard try !index.update(update, name: name, renewed: renewed), var row = state.row(ofFile: name) else {
                return
            }
            row.update = update
            if let head = update.head {
                row.renewed = renewed
                row.expires = head.expiry?.timeIntervalSince1970
            }
            try index.insert(row)
        }
    }

    /// Deletes the files that have no index rows yet. They occupy the space that the index needs, and files without
    /// rows would never be evicted.
    func discardUnindexedFiles() {
        var gone: [CacheKey.StoredDigest] = []
        changes = changes.map { change in
            guard case .insert(let row) = change else { return change }
            try? state.files.remove(state.layout.entry(row.name))
            gone.append(row.digest)
            return .delete(name: row.name)
        }
        space.read()
        state.shared.withLock { state in
            state.counters.dropped += gone.count
            state.forget(gone)
        }
    }

    /// Removes the oldest changes beyond the limit. Returns `true` if there were any.
    func removeExcess() -> Bool {
        guard changes.count > Self.limit else { return false }
        changes.removeFirst(changes.count - Self.limit)
        return true
    }
}
