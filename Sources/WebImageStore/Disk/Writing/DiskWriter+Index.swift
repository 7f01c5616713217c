// SPDX-License-Identifier: MIT

import CSQLite
import Foundation
import Glibc
import Synchronization
import WebImageCore
import WebImageHTTP

/// Batches, and following other processes.
extension DiskWriter {
    /// Changes kept for an index that cannot be written; beyond, a comparison with the files mends it later.
    static let changeLimit = 8_192

    /// Writes the waiting changes and access times as one transaction.
    func commit() {
        let accesses = state.shared.withLock { state -> [String: Double] in
            defer { state.accesses = [:] }
            return state.accesses
        }
        guard let index else { return forgetChanges() }
        guard !changes.isEmpty || !accesses.isEmpty else { return steps.committed() }
        do throws(IndexFault) {
            var unknown: [RowChange] = []
            try index.transaction { () throws(IndexFault) in
                for change in changes where try !apply(change, to: index) { unknown.append(change) }
                for (name, time) in accesses { try index.touch(name: name, accessed: time) }
            }
            committed()
            for change in unknown { adoptForHead(change) }
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
            for case .head(let key, _, let ticket, _, _, _) in done {
                state.revalidated.insert(key.digest)
                state.staging.finish(key, ticket: ticket)
            }
        }
    }

    /// Without an index nothing is remembered but the files; they are found again by comparison.
    private func forgetChanges() {
        committed()
        guard uptime >= retryIndexAfter else { return }
        retryIndexAfter = uptime + 60
        retryIndex()
    }

    /// False when the index does not know the entry that the change is about.
    private func apply(_ change: RowChange, to index: CacheIndex) throws(IndexFault) -> Bool {
        switch change {
        case .insert(let row): try index.insert(row)
        case .delete(let name): try index.delete(name: name)
        case .head(_, let name, _, let head, let renewed, let expires):
            return try index.setHead(head.encoded(), name: name, renewed: renewed, expires: expires)
        case .touch(let name, let time): try index.touch(name: name, accessed: time)
        }
        return true
    }

    /// A head for an entry whose file is there but not in the index yet.
    private func adoptForHead(_ change: RowChange) {
        guard case .head(let key, let name, _, let head, let renewed, let expires) = change,
            var row = describe(name)
        else { return }
        row.head = head.encoded()
        row.renewed = renewed
        row.expires = expires
        add(.insert(row))
        state.shared.withLock { _ = $0.revalidated.insert(key.digest) }
    }

    func indexFailed(_ fault: IndexFault) {
        steps.commitFailed(now: uptime)
        switch fault.code {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_INTERRUPT: break
        case SQLITE_FULL: failed(ENOSPC)
        case SQLITE_IOERR, SQLITE_CANTOPEN: failed(EIO)
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: failed(EACCES)
        default: if fault.isDamage { replaceIndex() }
        }
        if changes.count > Self.changeLimit {
            changes.removeFirst(changes.count - Self.changeLimit)
            steps.isReconciling = true
            reconciliation = reconciliation ?? Reconciliation(publishing: false)
        }
    }

    // MARK: Other processes

    /// Looks whether others have changed the index, and learns what they added.
    func refresh() {
        guard let index, reconciliation == nil else { return }
        do throws(IndexFault) {
            let version = try index.dataVersion()
            guard version != seenVersion else { return }
            seenVersion = version
            if try index.totals().epoch != seenEpoch { return publishKnown() }
            var added: [CacheKey.Digest] = []
            var heads: [CacheKey.Digest] = []
            seenID = try index.load(after: seenID) { digest, hasHead in
                added.append(digest)
                if hasHead { heads.append(digest) }
            }
            state.shared.withLock { state in
                state.known.formUnion(added)
                state.revalidated.formUnion(heads)
            }
        } catch {
            indexFailed(error)
        }
    }

    /// Tells the readers all that the index knows.
    func publishKnown() {
        commit()
        guard let index else { return }
        do throws(IndexFault) {
            var known: Set<CacheKey.Digest> = []
            var revalidated: Set<CacheKey.Digest> = []
            let totals = try index.totals()
            known.reserveCapacity(totals.entries)
            seenEpoch = totals.epoch
            seenVersion = try index.dataVersion()
            seenID = try index.load(after: 0) { digest, hasHead in
                known.insert(digest)
                if hasHead { revalidated.insert(digest) }
            }
            state.shared.withLock { state in
                state.known = known.union(state.staging.digests)
                state.revalidated = revalidated
                state.isLoaded = true
            }
        } catch {
            indexFailed(error)
        }
    }
}
