// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// Removing everything, and deleting what was set aside, slowly.
extension DiskWriter {
    /// Renames all entries out of the way; they are deleted behind. (Creating files right after many were deleted
    /// is up to twenty times slower on ext4, so the new folder must not share a directory with the old files.)
    func removeAll() {
        commit()
        if let trash = makeTrash() { try? files.rename(layout.blobs, to: "\(trash)/blobs") }
        try? layout.makeDirectory(layout.blobs, files)
        do throws(IndexFault) { try index?.removeAll() } catch { indexFailed(error) }
        state.shared.withLock { state in
            state.staging.finishRemoveAll()
            state.known = Set(state.staging.digests)
            state.updated = []
            state.verified = [:]
            state.accesses = [:]
        }
        if let epoch = try? index?.totals().epoch { seenEpoch = epoch }
        findTrash()
    }

    /// A new folder for what is set aside.
    func makeTrash() -> String? {
        let base = "\(layout.root)/\(CacheLayout.trashPrefix)\(getpid())-"
        for _ in 0..<8 {
            let path = base + String(UInt32.random(in: 0...UInt32.max), radix: 36)
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

    /// Deletes a slice of what was set aside.
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

    /// Deletes a tree as far as the budget goes; false when something cannot be deleted.
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

    /// Deletes temporary files that nobody is writing any more.
    func sweepTemporary(all: Bool) {
        guard let names = try? files.names(in: layout.temp) else { return }
        for name in names where !entries.isOwn(name) {
            let path = "\(layout.temp)/\(name)"
            guard let modified = (try? files.status(at: path))?.modified else { continue }
            if all || abs(now - modified) > 3_600 { try? files.remove(path) }
        }
    }
}
