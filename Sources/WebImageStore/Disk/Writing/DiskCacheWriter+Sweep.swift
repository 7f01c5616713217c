// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// Removal of all entries, and gradual deletion of files that were set aside.
extension DiskCacheWriter {
    /// Moves all entries aside, so that they can be deleted in the background.
    ///
    /// On ext4, creating files right after deleting many others is up to 20 times slower. The new entries must
    /// therefore not share a directory with the old ones. In an encrypted cache, the old files can't be decrypted
    /// afterward, even before they're deleted.
    func removeAll() {
        commit()
        let wipeFailure = wipe()
        let failure = setEntriesAside() ?? wipeFailure
        try? layout.makeDirectory(layout.blobs, files)
        do throws(IndexError) { try index?.removeAll() } catch { indexFailed(error) }
        state.shared.withLock { state in
            state.staging.finishRemoveAll()
            state.known = Set(state.staging.digests)
            state.updated = []
            state.verified = [:]
            state.accesses = [:]
            state.removalFailure = failure
            if failure != nil { state.hasUndeletedFiles = true }
        }
        if let epoch = try? index?.totals().epoch { seenEpoch = epoch }
        findTrash()
    }

    /// Makes the content of an encrypted cache unusable. Returns the error if it can still be decrypted.
    private func wipe() -> SystemCallError? {
        do throws(SystemCallError) { try state.cipher?.wipe() } catch { return error }
        return nil
    }

    /// Moves the directory of all entries aside. Returns the error if the entries remain in their location.
    private func setEntriesAside() -> SystemCallError? {
        do throws(SystemCallError) {
            // A full disk may have no space for another directory, so don't create one.
            try files.rename(layout.blobs, to: layout.newTrash)
            return nil
        } catch {
            return error.code == ENOENT ? nil : error
        }
    }

    /// Creates a directory for files that are set aside.
    func makeTrash() -> String? {
        for _ in 0..<8 {
            let path = layout.newTrash
            if (try? files.makeDirectory(path)) != nil { return path }
        }
        return nil
    }

    func findTrash() {
        if nextTrash() != nil { steps.trashFound(now: uptime) }
    }

    private func sweepDone() {
        steps.sweepDone(again: false, now: uptime)
        let waiters = sweepWaiters
        sweepWaiters = []
        swept = 0
        for waiter in waiters { waiter.completion() }
    }

    private func nextTrash() -> String? {
        (try? files.names(in: layout.root))?.first { $0.hasPrefix(CacheLayout.trashPrefix) }.map {
            "\(layout.root)/\($0)"
        }
    }

    /// Deletes one slice of the files that were set aside.
    func sweepSlice() {
        var budget = Self.slice
        if let trash = nextTrash() {
            guard delete(trash, &budget) else { return sweepDone() }
            swept += Self.slice - budget
            for waiter in sweepWaiters { waiter.progress?(swept) }
            steps.sweepDone(again: true, now: uptime)
        } else {
            sweepDone()
        }
    }

    /// Deletes a tree until the budget is used up. Returns `false` if a file can't be deleted.
    private func delete(_ folder: String, _ budget: inout Int) -> Bool {
        guard let names = try? files.names(in: folder) else { return false }
        for name in names {
            guard budget > 0 else { return true }
            let path = "\(folder)/\(name)"
            if (try? files.status(at: path))?.kind == .directory {
                guard delete(path, &budget) else { return false }
            } else {
                guard (try? files.remove(path)) != nil else { return false }
                budget -= 1
            }
        }
        guard budget > 0 else { return true }
        budget -= 1
        return (try? files.removeDirectory(folder)) != nil
    }

    /// Deletes temporary files that no process is writing.
    func sweepTemporary(all: Bool) {
        guard let names = try? files.names(in: layout.temp) else { return }
        for name in names where !entries.isOwn(name) {
            let path = "\(layout.temp)/\(name)"
            guard let modified = (try? files.status(at: path))?.modified else { continue }
            if all || abs(now - modified) > 3_600 { try? files.remove(path) }
        }
    }
}
