// SPDX-License-Identifier: MIT

import Glibc
import Synchronization
import WebImageConcurrency

/// The index that the writer has open, and its files.
final class IndexFile {
    private let state: DiskCacheState
    private let locks: DirectoryLocks
    private let trash: TrashSweeper
    private var inode: UInt64?
    private var retryTime = 0.0
    private(set) var index: CacheIndex?

    init(_ state: DiskCacheState, _ locks: DirectoryLocks, _ trash: TrashSweeper) {
        self.state = state
        self.locks = locks
        self.trash = trash
    }

    /// Opens the index. A corrupt one is replaced if no other process uses it.
    func open(isAlone: Bool, replacing: Bool = false) {
        guard !state.isFilesOnly else {
            index = try? CacheIndex(writing: ":memory:", cipher: state.cipher)
            return
        }
        state.indexFiles.withLock { _ in
            if replacing { setAside() }
            openFiles(isAlone: isAlone)
        }
        inode = currentInode
        locks.openEviction()
        state.shared.withLock { $0.indexGeneration += 1 }
    }

    private func openFiles(isAlone: Bool) {
        let path = state.layout.index
        // SQLite could create the file with permissions that let other users read it.
        if let file = try? state.files.openFile(path, O_RDWR | O_CREAT, mode: 0o600) { state.files.close(file) }
        do throws(IndexError) {
            index = try CacheIndex(writing: path, cipher: state.cipher)
        } catch {
            guard isAlone, error.isDamage else { return }
            setAside()
            index = try? CacheIndex(writing: path, cipher: state.cipher)
        }
    }

    private func setAside() {
        guard let folder = trash.makeDirectory() else { return }
        // SQLite must never find the log of the old index next to the new one.
        for suffix in ["", "-wal", "-shm"] {
            try? state.files.rename(state.layout.index + suffix, to: "\(folder)/index.sqlite\(suffix)")
        }
        trash.find()
    }

    private var currentInode: UInt64? { (try? state.files.status(at: state.layout.index))?.inode }

    func close() { index = nil }

    /// Closes a corrupt index and replaces it. Returns `false` if another process uses it.
    func replace(isAlone: Bool) -> Bool {
        index = nil
        retryTime = state.uptime + 60
        guard isAlone || locks.takeExclusively() else { return false }
        open(isAlone: false, replacing: true)
        if !isAlone { locks.share() }
        return true
    }

    /// Opens the index again after it was unusable, at most once per minute.
    func retry() -> Bool {
        guard state.uptime >= retryTime else { return false }
        retryTime = state.uptime + 60
        open(isAlone: false)
        return index != nil
    }

    /// Opens the index again if the cache directory was deleted. No other process can then access the open files.
    func reopenIfDeleted() -> Bool {
        let current = currentInode
        guard index != nil, current == nil || current != inode else { return false }
        index = nil
        locks.close()
        open(isAlone: locks.acquire())
        locks.share()
        return true
    }
}
