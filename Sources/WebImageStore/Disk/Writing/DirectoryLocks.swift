// SPDX-License-Identifier: MIT

import Glibc
import Synchronization
import WebImageConcurrency

/// The locks of the cache directory.
///
/// Each process that uses the directory holds the directory lock shared. A process that holds it exclusively is alone. The
/// eviction lock prevents two processes from evicting at the same time.
final class DirectoryLocks {
    private let state: DiskCacheState
    private var directory: Int32?
    private var eviction: Int32?

    init(_ state: DiskCacheState) { self.state = state }

    /// Closes the files of the locks. Other threads may then receive their descriptors for other files.
    func close() {
        for file in [directory, eviction].compactMap({ $0 }) { state.files.close(file) }
        (directory, eviction) = (nil, nil)
    }

    private func open(_ path: String) -> Int32? { try? state.files.openFile(path, O_RDWR | O_CREAT, mode: 0o600) }

    /// Takes the directory lock exclusively if no other process holds it, or shared otherwise. Returns `true` if
    /// exclusive.
    func acquire() -> Bool {
        guard let file = open(state.layout.lock) else { return false }
        directory = file
        if takeExclusively() { return true }
        while isLockedExclusively(file) {
            let mustEnd = state.shared.withLock { $0.isClosed }
            if mustEnd { break }
            // Another process is starting and holds the lock for a few milliseconds.
            usleep(5_000)
        }
        return false
    }

    /// Takes a shared lock. Returns `true` if another process holds the lock exclusively.
    private func isLockedExclusively(_ file: Int32) -> Bool {
        do throws(SystemCallError) {
            try state.files.lock(file, LOCK_SH | LOCK_NB)
            return false
        } catch {
            return error.isTemporaryLockFailure
        }
    }

    /// Returns `false` if another process holds the directory lock, or if it couldn't be opened.
    func takeExclusively() -> Bool {
        directory.map { (try? state.files.lock($0, LOCK_EX | LOCK_NB)) != nil } ?? false
    }

    func share() {
        if let directory { try? state.files.lock(directory, LOCK_SH) }
    }

    func openEviction() {
        if eviction == nil { eviction = open(state.layout.evictor) }
    }

    /// Returns `false` if another process is evicting entries.
    func acquireEviction() -> Bool {
        openEviction()
        guard let eviction else { return true }
        do throws(SystemCallError) {
            try state.files.lock(eviction, LOCK_EX | LOCK_NB)
            return true
        } catch {
            // On a file system without locks, limits must hold, too.
            return !error.isTemporaryLockFailure
        }
    }

    func releaseEviction() {
        if let eviction { try? state.files.lock(eviction, LOCK_UN) }
    }
}
