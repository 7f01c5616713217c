// SPDX-License-Identifier: MIT

import CSQLite
import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// Opening, closing, and reopening.
extension DiskCacheWriter {
    /// Opens the lock and the index, repairs the state after an unclean shutdown, and loads the known entries.
    func start() {
        let isAlone = acquireLock()
        removeLinkedShards()
        openIndex(isAlone: isAlone)
        var mustCompare = index == nil
        if let index {
            do throws(IndexError) {
                if isAlone, try index.hasOpenSessions() {
                    mustCompare = true
                    if try !index.isSound() { replaceIndex(isAlone: true) }
                    try self.index?.removeSessions()
                }
                if try index.totals().entries == 0 { mustCompare = !isEmpty }
            } catch {
                indexFailed(error)
            }
        }
        beginSession()
        if let lockFile { try? files.lock(lockFile, LOCK_SH) }
        if mustCompare, index != nil {
            startReconciliation(publishing: true) { _ in }
        } else {
            publishKnown()
        }
        sweepTemporary(all: isAlone)
        removeLeftovers()
        checkSpace()
    }

    /// Deletes symbolic links in the place of shards, so that no file outside of the cache is changed.
    private func removeLinkedShards() {
        for name in (try? files.names(in: layout.blobs)) ?? [] {
            let path = "\(layout.blobs)/\(name)"
            if (try? files.status(at: path))?.kind == .link { try? files.remove(path) }
        }
    }

    /// A Boolean value that indicates whether there are no files that the index could lack.
    private var isEmpty: Bool { (try? files.names(in: layout.blobs).isEmpty) ?? true }

    /// Takes the lock of the directory exclusively if no other process holds it, or shared otherwise. Returns `true` if
    /// exclusive.
    private func acquireLock() -> Bool {
        guard let file = try? files.openFile(layout.lock, O_RDWR | O_CREAT, mode: 0o600) else { return false }
        lockFile = file
        if (try? files.lock(file, LOCK_EX | LOCK_NB)) != nil { return true }
        while isLockedExclusively(file) {
            let mustEnd = state.shared.withLock { $0.isClosed }
            if mustEnd { break }
            // Another process is starting and holds the lock for a few milliseconds.
            usleep(5_000)
        }
        return false
    }

    /// Takes a shared lock. Returns `true` if another process holds the lock exclusively, and `false` if this process
    /// received the lock or the file system has no locks.
    private func isLockedExclusively(_ file: Int32) -> Bool {
        do throws(SystemCallError) {
            try files.lock(file, LOCK_SH | LOCK_NB)
            return false
        } catch {
            return error.isTemporaryLockFailure
        }
    }

    /// Opens the index. If it must be replaced, or it's corrupt and no other process uses it, sets it aside and creates
    /// a new one.
    private func openIndex(isAlone: Bool, replacing: Bool = false) {
        guard !state.isFilesOnly else {
            index = try? CacheIndex(writing: ":memory:", cipher: state.cipher)
            return
        }
        state.indexFiles.withLock { _ in
            if replacing { setIndexAside() }
            openIndexFiles(isAlone: isAlone)
        }
        indexOpened()
    }

    private func openIndexFiles(isAlone: Bool) {
        if let file = try? files.openFile(layout.index, O_RDWR | O_CREAT, mode: 0o600) { files.close(file) }
        do throws(IndexError) {
            index = try CacheIndex(writing: layout.index, cipher: state.cipher)
        } catch {
            guard isAlone, error.isDamage else { return }
            setIndexAside()
            index = try? CacheIndex(writing: layout.index, cipher: state.cipher)
        }
    }

    private func indexOpened() {
        indexInode = (try? files.status(at: layout.index))?.inode
        openEvictor()
        state.shared.withLock { $0.indexGeneration += 1 }
    }

    func beginSession() {
        guard let index else { return }
        do throws(IndexError) {
            try index.beginSession(session)
        } catch {
            indexFailed(error)
        }
    }

    /// Replaces a corrupt index with a new one that is rebuilt from the files, if no other process uses it.
    func replaceIndex(isAlone: Bool = false) {
        index = nil
        retryIndexAfter = uptime + 60
        guard let lockFile, isAlone || (try? files.lock(lockFile, LOCK_EX | LOCK_NB)) != nil else {
            state.shared.withLock { $0.isLoaded = false }
            return
        }
        openIndex(isAlone: false, replacing: true)
        if !isAlone { try? files.lock(lockFile, LOCK_SH) }
        reopened()
    }

    /// Starts rebuilding the state from the files after the index was recreated.
    private func reopened() {
        state.closeRoot()
        state.shared.withLock { state in
            state.isLoaded = false
            state.updated = []
        }
        if !isClosing { beginSession() }
        startReconciliation(publishing: true) { _ in }
    }

    /// Opens the index again after it was unusable.
    func retryIndex() {
        openIndex(isAlone: false)
        if index != nil { reopened() }
    }

    private func setIndexAside() {
        guard let trash = makeTrash() else { return }
        for suffix in ["", "-wal", "-shm"] {
            try? files.rename(layout.index + suffix, to: "\(trash)/index.sqlite\(suffix)")
        }
        findTrash()
    }

    /// Reopens the files after the cache directory was deleted. The old index and lock exist only as open files that no
    /// other process can access.
    func reopenAfterDirectoryVanished() {
        entries.directoryWasReplaced = false
        let inode = (try? files.status(at: layout.index))?.inode
        guard index != nil, inode == nil || inode != indexInode else { return }
        index = nil
        changes = []
        closeLocks()
        openIndex(isAlone: acquireLock())
        if let lockFile { try? files.lock(lockFile, LOCK_SH) }
        reopened()
    }

    /// Closes the files of the locks.
    ///
    /// The descriptors must not be used afterward, because other threads may receive the same numbers for other files.
    private func closeLocks() {
        for file in [lockFile, evictorFile].compactMap({ $0 }) { files.close(file) }
        (lockFile, evictorFile) = (nil, nil)
    }

    func close(_ completion: DiskCacheState.Completion) {
        isClosing = true
        commit()
        if let index { try? index.endSession(session) }
        index = nil
        state.closeRoot()
        closeLocks()
        let rest = state.shared.withLock { state -> [DiskCacheState.Job] in
            var rest: [DiskCacheState.Job] = []
            while let job = state.jobs.pop() { rest.append(job) }
            return rest
        }
        for waiter in targetWaiters { waiter.completion() }
        for waiter in sweepWaiters { waiter.completion() }
        reconciliation?.finish()
        for job in rest { cancel(job) }
        completion()
    }

    private func cancel(_ job: DiskCacheState.Job) {
        switch job {
        case .flush(let completion), .settle(let completion), .trim(_, _, let completion),
            .sweep(_, let completion), .close(let completion):
            completion()
        case .discard(_, let completion): completion(DiskCache.MaintenanceReport())
        case .reconcile(let completion): completion(DiskCache.MaintenanceReport())
        case .describe(let body): body(nil, nil)
        case .staged, .removeFromIndex, .refresh, .checkLimits: break
        }
    }
}
